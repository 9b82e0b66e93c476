/**
 * The platforms of notification channels, as servers on loopback: their requests, their rules and
 * what they show.
 *
 * @module
 */

import { fakeReceiver, type Received } from "./fake_receiver.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

export interface Platform {
  config: (url: string) => object;
  path: string;
  method?: string;
  /** Reason for a refusal by the platform, or `undefined` if it accepts the request. */
  problem: (body: Json, request: Received) => string | undefined | false;
  answer?: object;
  /** The path of a message that ends a problem, where it differs. */
  endPath?: string;
  /** Title and text as people see them, without the platform's own escapes. */
  shown: (body: Json, request: Received) => string;
  /** Markup in the request that the platform would not show as it is. */
  markup?: (body: Json) => boolean;
}

/** Each platform's own rules, from its documentation. */
export const PLATFORMS: Record<string, Platform> = {
  ntfy: {
    config: (url) => ({ url, topic: "alerts", token: "tk_abc" }),
    path: "/",
    problem: (body, { headers }) =>
      headers.authorization !== "Bearer tk_abc" && "401" ||
      body.topic !== "alerts" && "topic" ||
      !(Number.isInteger(body.priority) && body.priority >= 1 && body.priority <= 5) &&
        "priority" ||
      !/^[\w-]{1,64}$/.test(body.sequence_id) && "sequence_id" ||
      bytesOf(body.message) > 4_096 && "message",
    shown: ({ title, message }) => `${title}\n${message}`,
    markup: ({ markdown }) => markdown === true,
  },
  gotify: {
    config: (url) => ({ url, token: "AbC.d-e" }),
    path: "/message",
    problem: (body, { headers }) =>
      headers["x-gotify-key"] !== "AbC.d-e" && "401" || body.message === "" && "message" ||
      !Number.isInteger(body.priority) && "priority",
    shown: ({ title, message }) => `${title}\n${message}`,
    markup: ({ extras }) => extras["client::display"].contentType !== "text/plain",
  },
  discord: {
    config: (url) => ({ url: `${url}/api/webhooks/1/token` }),
    path: "/api/webhooks/1/token",
    problem: ({ embeds: [embed], allowed_mentions }) =>
      allowed_mentions.parse.length > 0 && "mentions" || embed.title.length > 256 && "title" ||
      embed.description.length > 4_096 && "description" ||
      /@(everyone|here)|(?<!\\)<@/.test(embed.title + embed.description) && "mention",
    answer: { id: "1" },
    shown: ({ embeds: [{ title, description }] }) => withoutBackslashes(`${title}\n${description}`),
    markup: ({ embeds: [{ title, description }] }) => hasMarkdown(`${title}\n${description}`),
  },
  slack: {
    config: (url) => ({ url: `${url}/services/T/B/X`, channel: "#alerts" }),
    path: "/services/T/B/X",
    problem: ({ text, attachments: [attachment] }) =>
      /[<>]/.test(text + attachment.text) && "markup" || text.length > 40_000 && "text",
    shown: ({ text, attachments: [attachment] }) =>
      withoutReferences(`${text}\n${attachment.text}`),
    markup: ({ text, mrkdwn, attachments: [attachment] }) =>
      mrkdwn !== false || attachment.mrkdwn_in.length > 0 || /[<>]/.test(text + attachment.text),
  },
  mattermost: {
    config: (url) => ({ url: `${url}/hooks/abc` }),
    path: "/hooks/abc",
    problem: ({ text, attachments: [attachment] }) =>
      text.length + attachment.text.length > 16_383 && "too long" ||
      /@(everyone|channel|all|here)/.test(text + attachment.text) && "mention",
    shown: ({ text, attachments: [attachment] }) =>
      withoutBackslashes(`${text}\n${attachment.text}`),
    markup: ({ text, attachments: [attachment] }) => hasMarkdown(`${text}\n${attachment.text}`),
  },
  rocketchat: {
    config: (url) => ({ url: `${url}/hooks/id/token` }),
    path: "/hooks/id/token",
    problem: ({ text, attachments: [attachment] }) =>
      text.length + attachment.text.length > 5_000 && "too long" ||
      /@(everyone|channel|all|here)|\]\(/.test(text + attachment.text) && "markup",
    shown: ({ text, attachments: [attachment] }) =>
      withoutBackslashes(`${text}\n${attachment.text}`),
    markup: ({ text, attachments: [attachment] }) =>
      /[*_~`]|\]\(|<[^\s\u200b]|@\w|^[#>]/m.test(`${text}\n${attachment.text}`.replace(/\\./g, "")),
  },
  teams: {
    config: (url) => ({ url: `${url}/workflows/1` }),
    path: "/workflows/1",
    problem: ({ type, attachments: [{ contentType, content }] }, { body }) =>
      type !== "message" && "type" ||
      contentType !== "application/vnd.microsoft.card.adaptive" && "card" ||
      content.version !== "1.4" && "version" || bytesOf(body) > 28 * 1024 && "too large",
    shown: ({ attachments: [{ content: { body } }] }) =>
      body.map(({ inlines }: Json) => inlines.map(({ text }: Json) => text).join("")).join("\n"),
    markup: ({ attachments: [{ content: { body, msteams } }] }) =>
      msteams !== undefined ||
      body.some(({ type, inlines }: Json) =>
        type !== "RichTextBlock" || inlines.some(({ type }: Json) => type !== "TextRun")
      ),
  },
  telegram: {
    config: (url) => ({
      botToken: "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw",
      chatId: "-1001",
      threadId: 7,
      apiUrl: url,
    }),
    path: "/bot110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw/sendMessage",
    problem: ({ chat_id, message_thread_id, text, entities: [bold] }) =>
      chat_id !== "-1001" && "chat not found" || message_thread_id !== 7 && "thread" ||
      text.length > 4_096 && "too long" || bold.offset + bold.length > text.length && "entity",
    answer: { ok: true, result: { message_id: 365 } },
    shown: ({ text }) => text,
    markup: ({ text, parse_mode }) => parse_mode !== undefined || /@\w/.test(text),
  },
  matrix: {
    config: (url) => ({ url, accessToken: "syt_abc", roomId: "!room:example.org" }),
    path: "/_matrix/client/v3/rooms/!room%3Aexample.org/send/m.room.message/",
    method: "PUT",
    problem: ({ msgtype, formatted_body }, { headers, body }) =>
      headers.authorization !== "Bearer syt_abc" && "401" || msgtype !== "m.notice" && "type" ||
      /<(?!\/?strong>|br>)/.test(formatted_body) && "markup" || bytesOf(body) > 65_536 && "size",
    answer: { event_id: "$first" },
    shown: ({ formatted_body }) =>
      withoutReferences(formatted_body.replaceAll("<br>", "\n").replace(/<\/?strong>/g, "")),
    markup: ({ body, formatted_body, "m.mentions": mentions }) =>
      Object.keys(mentions).length > 0 || /@\w/.test(body + formatted_body) ||
      /<(?!\/?strong>|br>)/.test(formatted_body),
  },
  googlechat: {
    config: (url) => ({ url: `${url}/v1/spaces/S/messages?key=k&token=t` }),
    path: "/v1/spaces/S/messages",
    problem: ({ text }) => text.length > 4_096 && "too long" || /<\w/.test(text) && "markup",
    shown: ({ text }) => text,
    markup: ({ text }) => /[<*_~`](?=\S)(?!\u200b)/.test(text),
  },
  pushover: {
    config: (url) => ({
      token: "azGDORePK8gMaC0QOYAMyEEuzJnyUi",
      userKey: "uQiRzpo4DXghDmr9QzzfQu27cmVRsG",
      apiUrl: url,
    }),
    path: "/1/messages.json",
    problem: (_, { body, headers }) => {
      const form = new URLSearchParams(body);
      return headers["content-type"] !== "application/x-www-form-urlencoded" && "type" ||
        form.get("token")?.length !== 30 && "token" || form.get("title")!.length > 250 && "title" ||
        form.get("message")!.length > 1_024 && "message" ||
        form.get("priority") === "2" && !(Number(form.get("retry")) >= 30) && "retry";
    },
    answer: { status: 1 },
    shown: (_, { body }) => {
      const form = new URLSearchParams(body);
      return `${form.get("title")}\n${form.get("message")}`;
    },
  },
  pagerduty: {
    config: (url) => ({ routingKey: "0123456789abcdef0123456789abcdef", apiUrl: url }),
    path: "/v2/enqueue",
    problem: ({ event_action, dedup_key, payload }) =>
      !["trigger", "resolve"].includes(event_action) && "action" ||
      dedup_key.length > 255 && "dedup_key" || payload.summary.length > 1_024 && "summary" ||
      !["critical", "error", "warning", "info"].includes(payload.severity) && "severity",
    shown: ({ payload: { summary, custom_details } }) => `${summary}\n${custom_details.text}`,
  },
  opsgenie: {
    config: (url) => ({ apiKey: "eb243592-faa2-4ba2-a551q-1afdf565c889", apiUrl: url }),
    path: "/v2/alerts",
    endPath: "/v2/alerts/host-1%20container%20web/close",
    problem: ({ message = "", priority = "P1", alias = "" }, { headers }) =>
      !headers.authorization?.startsWith("GenieKey ") && "401" || message.length > 130 &&
        "message" ||
      !/^P[1-5]$/.test(priority) && "priority" || alias.length > 512 && "alias",
    shown: ({ message, description, note }) => note ?? `${message}\n${description}`,
    markup: ({ description = "", note = "" }) => /<[a-z!/]/i.test(description + note),
  },
  signal: {
    config: (url) => ({ url, number: "+15550100", recipients: ["+15550101"] }),
    path: "/v2/send",
    problem: ({ number, recipients }) =>
      number !== "+15550100" && "number" || recipients.length !== 1 && "recipients",
    shown: ({ message }) => message,
    markup: ({ text_mode, mentions }) => text_mode !== "normal" || mentions !== undefined,
  },
  apprise: {
    config: (url) => ({ url, key: "ops" }),
    path: "/notify/ops",
    problem: ({ type, body }) =>
      !["info", "success", "warning", "failure"].includes(type) && "type" || body === "" && "body",
    shown: ({ title, body }) => `${title}\n${body}`,
    markup: ({ title, body, format }) => format !== "text" || /@\w/.test(title + body),
  },
  homeassistant: {
    config: (url) => ({ url, webhookId: "longshore-1" }),
    path: "/api/webhook/longshore-1",
    problem: ({ title, severity }) => !(title && severity) && "fields",
    shown: ({ title, message, data }) => [title, message, ...textsOf(data)].join("\n"),
  },
  webhook: {
    config: (url) => ({
      url: `${url}/hook`,
      method: "PUT",
      headers: { "x-api-key": "s3cret" },
      template: '{"what": "{{ title }}", "name": "{{ event.data.container }}"}',
    }),
    path: "/hook",
    method: "PUT",
    problem: ({ what, name }, { headers }) =>
      headers["x-api-key"] !== "s3cret" && "401" || !(what && name !== undefined) && "fields",
    shown: ({ what, name }) => `${what}\n${name}`,
  },
};

/** A server that speaks the protocol of a platform and refuses what the platform refuses. */
export function servePlatform({ problem, answer = {} }: Platform) {
  const problems: string[] = [];
  const receiver = fakeReceiver((request) => {
    const isJson = request.headers["content-type"]?.startsWith("application/json");
    const refused = problem(isJson ? JSON.parse(request.body) : undefined, request);
    if (refused) problems.push(refused);
    return Response.json(answer, { status: refused ? 400 : 200 });
  });
  return { receiver, problems, url: receiver.url.replace(/\/$/, "") };
}

const bytesOf = (text: string) => new TextEncoder().encode(text).length;

const withoutBackslashes = (text: string) => text.replace(/\\([^0-9A-Za-z\s])/g, "$1");

/** Whether Markdown is left beside its escapes. */
const hasMarkdown = (text: string) =>
  /[*_~`|<>#[\]()&$=]|@\w/.test(text.replace(/\\[^0-9A-Za-z\s]/g, ""));

const REFERENCES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

const withoutReferences = (text: string) =>
  text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => REFERENCES[name]!);

/** Every text in a value. */
const textsOf = (value: unknown): string[] =>
  typeof value === "string"
    ? [value]
    : typeof value === "object" && value !== null
    ? Object.values(value).flatMap(textsOf)
    : [];
