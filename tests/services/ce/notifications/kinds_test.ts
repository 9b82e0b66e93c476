import { deepEqual, equal, match, ok } from "node:assert/strict";
import { emit } from "../../../../services/events/emit.ts";

import { fakeReceiver, type Received } from "../../../helpers/fake_receiver.ts";
import { deliverDue } from "../../../helpers/outbox_delivery.ts";
import { smtpServer } from "../../../helpers/smtp_server.ts";
import { testApp, type TestAppOptions } from "../../../helpers/test_app.ts";

const CHANNELS = "/api/notifications/channels";

const channelApp = (options: TestAppOptions = {}) =>
  testApp({
    ...options,
    config: {
      serverName: "host-1",
      serviceBaseUrl: "https://longshore.example.com/ops",
      outboundAllow: ["127.0.0.1"],
      ...options.config,
    },
  });
type App = ReturnType<typeof channelApp>;

const deliver = ({ deps }: App) => deliverDue(deps, { signal: new AbortController().signal });

async function create(app: App, kind: string, config: object, change = {}): Promise<string> {
  const { status, body } = await app.call("POST", CHANNELS, {
    name: kind,
    kind,
    config,
    ...change,
  });
  equal(status, 201, JSON.stringify(body));
  return body.id;
}

const down = { container: "web", id: "c1", reason: "exited", exitCode: 3 } as const;

// deno-lint-ignore no-explicit-any
type Json = any;

interface Platform {
  config: (url: string) => object;
  path: string;
  method?: string;
  /** What the platform refuses, or `undefined` if it accepts the request. */
  problem: (body: Json, request: Received) => string | undefined | false;
  answer?: object;
  /** The path of a message that ends a problem, where it differs. */
  endPath?: string;
}

/** Each platform's own rules, from its documentation. */
const PLATFORMS: Record<string, Platform> = {
  ntfy: {
    config: (url) => ({ url, topic: "alerts", token: "tk_abc" }),
    path: "/",
    problem: (body, { headers }) =>
      headers.authorization !== "Bearer tk_abc" && "401" ||
      body.topic !== "alerts" && "topic" ||
      !(Number.isInteger(body.priority) && body.priority >= 1 && body.priority <= 5) &&
        "priority" ||
      !/^[\w-]{1,64}$/.test(body.sequence_id) && "sequence_id" ||
      body.message.length > 4_096 && "message",
  },
  gotify: {
    config: (url) => ({ url, token: "AbC.d-e" }),
    path: "/message",
    problem: (body, { headers }) =>
      headers["x-gotify-key"] !== "AbC.d-e" && "401" || body.message === "" && "message" ||
      !Number.isInteger(body.priority) && "priority",
  },
  discord: {
    config: (url) => ({ url: `${url}/api/webhooks/1/token` }),
    path: "/api/webhooks/1/token",
    problem: ({ embeds: [embed], allowed_mentions }) =>
      allowed_mentions.parse.length > 0 && "mentions" || embed.title.length > 256 && "title" ||
      embed.description.length > 4_096 && "description" ||
      /@(everyone|here)|(?<!\\)<@/.test(embed.title + embed.description) && "mention",
    answer: { id: "1" },
  },
  slack: {
    config: (url) => ({ url: `${url}/services/T/B/X`, channel: "#alerts" }),
    path: "/services/T/B/X",
    problem: ({ text, attachments: [attachment] }) =>
      /[<>]/.test(text + attachment.text) && "markup" || text.length > 40_000 && "text",
  },
  mattermost: {
    config: (url) => ({ url: `${url}/hooks/abc` }),
    path: "/hooks/abc",
    problem: ({ text, attachments: [attachment] }) =>
      text.length + attachment.text.length > 16_383 && "too long" ||
      /@(everyone|channel|all|here)/.test(text + attachment.text) && "mention",
  },
  rocketchat: {
    config: (url) => ({ url: `${url}/hooks/id/token` }),
    path: "/hooks/id/token",
    problem: ({ text, attachments: [attachment] }) =>
      text.length + attachment.text.length > 5_000 && "too long" ||
      /@(everyone|channel|all|here)|\]\(/.test(text + attachment.text) && "markup",
  },
  teams: {
    config: (url) => ({ url: `${url}/workflows/1` }),
    path: "/workflows/1",
    problem: ({ type, attachments: [{ contentType, content }] }, { body }) =>
      type !== "message" && "type" ||
      contentType !== "application/vnd.microsoft.card.adaptive" && "card" ||
      content.version !== "1.4" && "version" || body.length > 28 * 1024 && "too large",
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
  },
  matrix: {
    config: (url) => ({ url, accessToken: "syt_abc", roomId: "!room:example.org" }),
    path: "/_matrix/client/v3/rooms/!room%3Aexample.org/send/m.room.message/",
    method: "PUT",
    problem: ({ msgtype, formatted_body }, { headers, body }) =>
      headers.authorization !== "Bearer syt_abc" && "401" || msgtype !== "m.notice" && "type" ||
      /<(?!\/?strong>|br>)/.test(formatted_body) && "markup" || body.length > 65_536 && "size",
    answer: { event_id: "$first" },
  },
  googlechat: {
    config: (url) => ({ url: `${url}/v1/spaces/S/messages?key=k&token=t` }),
    path: "/v1/spaces/S/messages",
    problem: ({ text }) => text.length > 4_096 && "too long" || /<\w/.test(text) && "markup",
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
  },
  pagerduty: {
    config: (url) => ({ routingKey: "0123456789abcdef0123456789abcdef", apiUrl: url }),
    path: "/v2/enqueue",
    problem: ({ event_action, dedup_key, payload }) =>
      !["trigger", "resolve"].includes(event_action) && "action" ||
      dedup_key.length > 255 && "dedup_key" || payload.summary.length > 1_024 && "summary" ||
      !["critical", "error", "warning", "info"].includes(payload.severity) && "severity",
  },
  opsgenie: {
    config: (url) => ({ apiKey: "eb243592-faa2-4ba2-a551q-1afdf565c889", apiUrl: url }),
    path: "/v2/alerts",
    endPath: "/v2/alerts/host-1%20container%20web/close",
    problem: ({ message = "", priority = "P1", alias = "" }, { headers }) =>
      !headers.authorization?.startsWith("GenieKey ") && "401" || message.length > 130 &&
        "message" ||
      !/^P[1-5]$/.test(priority) && "priority" || alias.length > 512 && "alias",
  },
  signal: {
    config: (url) => ({ url, number: "+15550100", recipients: ["+15550101"] }),
    path: "/v2/send",
    problem: ({ number, recipients }) =>
      number !== "+15550100" && "number" || recipients.length !== 1 && "recipients",
  },
  apprise: {
    config: (url) => ({ url, key: "ops" }),
    path: "/notify/ops",
    problem: ({ type, body }) =>
      !["info", "success", "warning", "failure"].includes(type) && "type" || body === "" && "body",
  },
  homeassistant: {
    config: (url) => ({ url, webhookId: "longshore-1" }),
    path: "/api/webhook/longshore-1",
    problem: ({ title, severity }) => !(title && severity) && "fields",
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
  },
};

function platform({ problem, answer = {} }: Platform) {
  const problems: string[] = [];
  const receiver = fakeReceiver((request) => {
    const isJson = request.headers["content-type"]?.startsWith("application/json");
    const refused = problem(isJson ? JSON.parse(request.body) : undefined, request);
    if (refused) problems.push(refused);
    return Response.json(answer, { status: refused ? 400 : 200 });
  });
  return { receiver, problems, url: receiver.url.replace(/\/$/, "") };
}

const HOSTILE = '<b>@everyone</b> [click](https://evil.example) *bold* <!channel> <@1> "\\';

for (const [kind, each] of Object.entries(PLATFORMS)) {
  Deno.test(`${kind} accepts the beginning and the end of a problem`, async () => {
    using app = channelApp();
    const { receiver, problems, url } = platform(each);
    await using _ = receiver;
    const id = await create(app, kind, each.config(url));
    emit(app.deps, "container.down", down);
    await deliver(app);
    emit(app.deps, "container.up", { container: "web", id: "c1" });
    await deliver(app);
    deepEqual(problems, []);
    const { body } = await app.call("GET", `${CHANNELS}/${id}/deliveries`);
    deepEqual(body.deliveries.map(({ status, title }: Json) => [status, title]), [
      ["sent", "host-1: Container up: web"],
      ["sent", "host-1: Container down: web"],
    ]);
    const [first, second] = receiver.received;
    ok(first!.path.startsWith(each.path), first!.path);
    ok(second!.path.startsWith(each.endPath ?? each.path), second!.path);
    equal(first!.method, each.method ?? "POST");
  });

  Deno.test(`${kind} gets hostile and long texts as plain text within its limits`, async () => {
    using app = channelApp();
    const { receiver, problems, url } = platform(each);
    await using _ = receiver;
    await create(app, kind, each.config(url));
    emit(app.deps, "schedule.failed", {
      schedule: `nightly ${HOSTILE}`,
      scheduleId: "s1",
      container: HOSTILE.repeat(50),
      action: "restart",
      error: `${HOSTILE}\u202e\u0000\n`.repeat(2_000),
    });
    await deliver(app);
    deepEqual(problems, []);
    equal(receiver.received.length, 1);
  });
}

Deno.test("the platforms that know threads join the messages about one problem", async () => {
  using app = channelApp();
  const fields: Record<string, (body: Json) => unknown> = {
    telegram: (body) => body.reply_parameters?.message_id,
    matrix: (body) => body["m.relates_to"]?.event_id,
  };
  for (const [kind, read] of Object.entries(fields)) {
    const { receiver, url } = platform(PLATFORMS[kind]!);
    await using _ = receiver;
    const id = await create(app, kind, PLATFORMS[kind]!.config(url));
    emit(app.deps, "container.down", down);
    await deliver(app);
    emit(app.deps, "container.up", { container: "web", id: "c1" });
    await deliver(app);
    emit(app.deps, "container.down", down);
    await deliver(app);
    const references = receiver.received.map(({ body }) => read(JSON.parse(body)));
    deepEqual(references, [undefined, kind === "telegram" ? 365 : "$first", undefined]);
    await app.call("DELETE", `${CHANNELS}/${id}`);
  }
});

Deno.test("pagerduty resolves what it triggered", async () => {
  using app = channelApp();
  const { receiver, url } = platform(PLATFORMS.pagerduty!);
  await using _ = receiver;
  await create(app, "pagerduty", PLATFORMS.pagerduty!.config(url));
  emit(app.deps, "container.oom", { container: "web", id: "c1" });
  emit(app.deps, "alert.fired", {
    rule: "CPU",
    ruleId: "r1",
    alertId: "a1",
    metric: "cpu_percent",
    operator: "gt",
    threshold: 90,
    value: 95,
    message: "cpu_percent is 95, above 90",
  });
  await deliver(app);
  emit(app.deps, "container.up", { container: "web", id: "c1" });
  await deliver(app);
  const sent = receiver.received.map(({ body }) => JSON.parse(body));
  deepEqual(
    sent.map(({ event_action, dedup_key, payload }) => [event_action, dedup_key, payload.severity]),
    [
      ["trigger", "host-1 container web", "critical"],
      ["trigger", "host-1 a1", "warning"],
      ["resolve", "host-1 container web", "info"],
    ],
  );
});

Deno.test("email sends both parts, as one thread, to each receiver", async () => {
  await using smtp = await smtpServer();
  using app = channelApp({ config: { smtpUrl: smtp.url, smtpFrom: "Longshore <a@example.com>" } });
  await create(app, "email", { to: ["ada@example.com", "bob@example.com"] });
  emit(app.deps, "container.down", { ...down, container: "web" });
  emit(app.deps, "container.up", { container: "web", id: "c1" });
  await deliver(app);
  // The end came before the beginning was sent, which is not sent any more.
  equal(smtp.mails.length, 1);
  emit(app.deps, "schedule.failed", {
    schedule: "<b>nightly</b>",
    scheduleId: "s1",
    container: "web",
    action: "restart",
    error: "<script>alert(1)</script>",
  });
  await deliver(app);
  const [up, failed] = smtp.mails;
  deepEqual(up!.to, ["ada@example.com", "bob@example.com"]);
  equal(up!.headers.subject, "host-1: Container up: web");
  equal(up!.headers["in-reply-to"], "<thread.container-web@example.com>");
  match(up!.parts["text/plain"]!, /https:\/\/longshore\.example\.com\/ops\/containers\/web/);
  ok(!failed!.parts["text/html"]!.includes("<script>"));
});

Deno.test("email through its own mail server connects to the checked address only", async () => {
  await using smtp = await smtpServer({ users: { ada: "s3cret" } });
  const { port } = new URL(smtp.url);
  using app = channelApp({ config: { outboundAllow: [] } });
  const config = {
    to: ["ada@example.com"],
    smtpUrl: `smtp://ada:s3cret@127.0.0.1:${port}`,
  };
  const id = await create(app, "email", config);
  await app.call("POST", `${CHANNELS}/${id}/test`);
  await deliver(app);
  const { body } = await app.call("GET", `${CHANNELS}/${id}`);
  match(body.lastError, /OUTBOUND_ALLOW/);
  deepEqual(body.config, { to: ["ada@example.com"], smtpUrl: "********" });
  equal(smtp.mails.length, 0);

  using open = channelApp();
  const other = await create(open, "email", config);
  await open.call("POST", `${CHANNELS}/${other}/test`);
  await deliver(open);
  equal(smtp.mails.length, 1);
});

Deno.test("email without a mail server is refused", async () => {
  using app = channelApp();
  const { status, body } = await app.call("POST", CHANNELS, {
    name: "Mail",
    kind: "email",
    config: { to: ["ada@example.com"] },
  });
  equal(status, 409);
  match(body.error, /SMTP_URL/);
});

for (
  const { status, headers = {}, body = {}, result } of [
    { status: 400, result: "failed" },
    { status: 401, result: "failed" },
    { status: 404, result: "failed" },
    { status: 413, result: "failed" },
    { status: 422, result: "failed" },
    { status: 403, result: "queued" },
    { status: 429, headers: { "retry-after": "120" }, result: "queued" },
    { status: 500, result: "queued" },
    { status: 302, headers: { location: "http://127.0.0.1/" }, result: "queued" },
  ] as { status: number; headers?: Record<string, string>; body?: object; result: string }[]
) {
  Deno.test(`a response with ${status} leaves the message ${result}`, async () => {
    using app = channelApp();
    await using receiver = fakeReceiver(() => Response.json(body, { status, headers }));
    const id = await create(app, "gotify", { url: receiver.url, token: "t" });
    emit(app.deps, "container.down", down);
    await deliver(app);
    const deliveries = (await app.call("GET", `${CHANNELS}/${id}/deliveries`)).body.deliveries;
    equal(deliveries[0].status, result);
    match(deliveries[0].error, new RegExp(`^HTTP ${status}: `));
    equal(receiver.received.length, 1);
  });
}

Deno.test("410 disables the channel", async () => {
  using app = channelApp();
  await using receiver = fakeReceiver(() => new Response(null, { status: 410 }));
  const id = await create(app, "gotify", { url: receiver.url, token: "t" });
  emit(app.deps, "container.down", down);
  await deliver(app);
  const { body } = await app.call("GET", `${CHANNELS}/${id}`);
  equal(body.enabled, false);
});
