/** Slack, and the chats that accept its incoming webhooks: Mattermost and Rocket.Chat. @module */

import { truncate } from "../../../events/text.ts";
import { bodyOf, type Tone } from "../../../events/message.ts";
import type { OutboxOutcome } from "../../../events/outbox_channel.ts";
import {
  type ChannelKind,
  type ChannelUrl,
  escapeMarkdown,
  escapeSlack,
  type KindAnswer,
  outcomeOf,
  withoutMentions,
} from "./kind.ts";

interface SlackConfig {
  url: string;
  channel?: string;
}

const COLOR: Record<Tone, string> = {
  problem: "#d92d20",
  warning: "#dc6803",
  good: "#079455",
  news: "#1570ef",
};

/** Limit of a title, in characters. */
const TITLE_MAX = 500;

/** Error codes of Slack, explained. */
const SLACK_REASONS: Readonly<Record<string, string>> = {
  action_prohibited: "the workspace does not allow this webhook to post",
  channel_is_archived: "the channel is archived",
  channel_not_found: "the channel was deleted",
  invalid_payload: "the platform could not read the message",
  invalid_token: "the address of the webhook is not valid",
  no_active_hooks: "the webhook is disabled",
  no_service: "the webhook was removed or disabled",
  no_service_id: "the address of the webhook is not valid",
  no_team: "the workspace was deleted",
  posting_to_general_channel_denied: "the workspace does not allow posts to its main channel",
  rate_limited: "too many messages",
  rollup_error: "the platform reported an internal error",
  team_disabled: "the workspace is disabled",
  user_not_found: "the user was deleted",
};

/**
 * The fields of a Slack message with a plain text: no markup, no mention such as `<!channel>` and
 * no preview of a link.
 */
export const slackText = (text: string) => ({
  text: escapeSlack(text),
  mrkdwn: false,
  unfurl_links: false,
  unfurl_media: false,
});

export function slackOutcome(answer: KindAnswer, now: Date): OutboxOutcome {
  const code = answer.text.trim();
  const reason = Object.hasOwn(SLACK_REASONS, code) ? SLACK_REASONS[code] : undefined;
  return outcomeOf(answer, now, { reason });
}

/** @param escape Prevents that a name is read as markup. It makes texts at most twice as long. */
const kindOf = (
  { textMax, escape, titleOf = (title) => ({ text: escape(title) }), ...kind }:
    & Pick<ChannelKind<SlackConfig>, "id" | "name" | "schemes" | "outcome" | "fromUrl">
    & {
      textMax: number;
      escape: (text: string) => string;
      /** The fields of the message above the attachment. */
      titleOf?: (title: string) => { text: string };
    },
): ChannelKind<SlackConfig> => ({
  ...kind,
  fields: {
    url: { type: "address", isSecret: true },
    channel: {
      type: "text",
      isOptional: true,
      pattern: [/^[#@]?[\w. -]{1,80}$/, "must be the name of a channel, e.g. #alerts"],
    },
  },

  request: ({ url, channel }, { message }) => {
    const title = titleOf(truncate(message.title, TITLE_MAX));
    const text = bodyOf(message, textMax, escape);
    return {
      url,
      body: {
        ...(channel !== undefined && { channel }),
        ...title,
        attachments: [
          { color: COLOR[message.tone], fallback: title.text, text, mrkdwn_in: [] },
        ],
      },
    };
  },
});

export const slack = kindOf({
  id: "slack",
  name: "Slack",
  schemes: ["slack"],
  textMax: 3_000,
  escape: escapeSlack,
  titleOf: slackText,
  outcome: slackOutcome,
  // slack://hook:T-B-X@webhook (Shoutrrr) and slack://T/B/X/#channel (Apprise).
  fromUrl({ username, password, host, path }) {
    const parts = username === "hook" ? password.split("-") : [host, ...path];
    const [team, hook, secret, channel] = parts;
    if (!team || !hook || !secret) return "must be slack://T000/B000/XXXX";
    const url = [
      "https://hooks.slack.com/services",
      ...[team, hook, secret].map(encodeURIComponent),
    ];
    return { url: url.join("/"), ...(channel?.startsWith("#") && { channel }) };
  },
});

export const mattermost = kindOf({
  id: "mattermost",
  name: "Mattermost",
  schemes: ["mattermost", "mmost", "mmosts"],
  textMax: 7_500, // of 16 383, when every character is escaped
  escape: escapeMarkdown,
  fromUrl: (url) => fromHookUrl(url, "mattermost://host/token"),
});

export const rocketchat = kindOf({
  id: "rocketchat",
  name: "Rocket.Chat",
  schemes: ["rocketchat", "rocket", "rockets"],
  textMax: 2_000, // of 5 000
  // It has no escape for links, headings and quotes: a zero-width space separates their parts.
  escape: (text) =>
    withoutMentions(text).replace(/[\\*_~`]/g, "\\$&").replaceAll("](", "]\u200b(")
      .replaceAll("<", "<\u200b").replace(/^(?=[#>])/gm, "\u200b"),
  fromUrl: (url) => fromHookUrl(url, "rocketchat://host/tokenA/tokenB", 2),
});

/**
 * Reads `scheme://[user@]host[/path]/token[/channel]`; `/hooks/` is before the token. The last part
 * is a channel if it begins with `#` or `@`, and, for the kind's own scheme (Shoutrrr, which knows
 * no other path), if it follows the token.
 */
function fromHookUrl(
  { base, path, scheme }: ChannelUrl,
  example: string,
  tokens = 1,
): SlackConfig | string {
  const last = path.at(-1) ?? "";
  const isChannel = /^[#@]/.test(last) || example.startsWith(`${scheme}:`);
  const channel = isChannel && path.length > tokens ? last : undefined;
  const parts = channel === undefined ? path : path.slice(0, -1);
  if (parts.length < tokens) return `must be ${example}`;
  const before = parts.slice(0, -tokens);
  return {
    url: base(...before, "hooks", ...parts.slice(-tokens)),
    ...(channel !== undefined && { channel }),
  };
}
