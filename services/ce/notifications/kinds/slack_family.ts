/**
 * Slack, and the chats that accept its incoming webhooks: Mattermost and Rocket.Chat.
 *
 * @module
 */

import { truncate } from "../../../events/description.ts";
import { bodyOf, type Tone } from "../message.ts";
import { type ChannelKind, type ChannelUrl, escapeMarkdown, withoutMentions } from "./kind.ts";

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

/** @param escape Prevents that a name is read as markup. It makes texts at most twice as long. */
const kindOf = (
  { id, name, schemes, textMax, escape, fromUrl }:
    & Pick<ChannelKind<SlackConfig>, "id" | "name" | "schemes" | "fromUrl">
    & { textMax: number; escape: (text: string) => string },
): ChannelKind<SlackConfig> => ({
  id,
  name,
  schemes,
  fields: {
    url: { type: "address", isSecret: true },
    channel: {
      type: "text",
      isOptional: true,
      pattern: [/^[#@]?[\w. -]{1,80}$/, "must be the name of a channel, e.g. #alerts"],
    },
  },

  request: ({ url, channel }, { message }) => {
    const title = escape(truncate(message.title, TITLE_MAX));
    const text = escape(bodyOf(message, textMax));
    return {
      url,
      body: {
        ...(channel !== undefined && { channel }),
        text: title,
        attachments: [{ color: COLOR[message.tone], fallback: title, text, mrkdwn_in: [] }],
      },
    };
  },

  fromUrl,
});

export const slack = kindOf({
  id: "slack",
  name: "Slack",
  schemes: ["slack"],
  textMax: 3_000,
  // Its three control characters; without them there are no mentions and links.
  escape: (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"),
  // slack://hook:T-B-X@webhook (Shoutrrr) and slack://T/B/X (Apprise).
  fromUrl({ username, password, host, path }) {
    const parts = username === "hook" ? password.split("-") : [host, ...path];
    if (parts.length < 3) return "must be slack://T000/B000/XXXX";
    const [team, hook, secret] = parts.map(encodeURIComponent);
    return { url: `https://hooks.slack.com/services/${team}/${hook}/${secret}` };
  },
});

export const mattermost = kindOf({
  id: "mattermost",
  name: "Mattermost",
  schemes: ["mattermost", "mmost", "mmosts"],
  textMax: 7_500, // of 16 383, when every character is escaped
  escape: escapeMarkdown,
  fromUrl: (url) => withHook(url, "mattermost://host/token"),
});

export const rocketchat = kindOf({
  id: "rocketchat",
  name: "Rocket.Chat",
  schemes: ["rocketchat", "rocket", "rockets"],
  textMax: 2_000, // of 5 000
  // It has no escape for links: the zero-width space separates their parts.
  escape: (text) =>
    withoutMentions(text).replace(/[\\*_~`]/g, "\\$&").replaceAll("](", "]\u200b(")
      .replaceAll("<", "<\u200b"),
  fromUrl: (url) => withHook(url, "rocketchat://host/tokenA/tokenB", 2),
});

/** `scheme://[user@]host[/path]/token[/#channel]`, with the path `/hooks/` before the token. */
function withHook(
  { base, path }: ChannelUrl,
  example: string,
  tokens = 1,
): SlackConfig | string {
  const channel = path.length > tokens && path.at(-1)!.startsWith("#") ? path.at(-1) : undefined;
  const parts = channel === undefined ? path : path.slice(0, -1);
  if (parts.length < tokens) return `must be ${example}`;
  const before = parts.slice(0, -tokens);
  return {
    url: base(...before, "hooks", ...parts.slice(-tokens)),
    ...(channel !== undefined && { channel }),
  };
}
