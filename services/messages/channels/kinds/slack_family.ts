/** Incoming webhooks of Slack, and of the chats that accept the same messages. @module */

import { truncate } from "../../../events/text.ts";
import { bodyOf, type Tone } from "../../../events/message.ts";
import { webhookUrl } from "./fields.ts";
import type { ChannelUrl, ConfigOf, Delivery, KindRequest } from "./kind.ts";

export const hookFields = {
  url: webhookUrl,
  channel: {
    type: "text",
    label: "Channel",
    hint: "Empty: the channel of the webhook",
    placeholder: "#alerts",
    isOptional: true,
    pattern: [/^[#@]?[\w. -]{1,80}$/, "must be the name of a channel, e.g. #alerts"],
  },
} as const;

export type HookConfig = ConfigOf<typeof hookFields>;

const COLOR: Record<Tone, string> = {
  problem: "#d92d20",
  warning: "#dc6803",
  good: "#079455",
  news: "#1570ef",
};

/** Limit of a title, in characters. */
const TITLE_MAX = 500;

/**
 * Returns the request of a message.
 *
 * @param how.textMax Limit of the text below the title, before it is escaped.
 * @param how.escape Prevents that a name is read as markup. It makes texts at most twice as long.
 * @param how.titleOf The fields of the message above the attachment.
 */
export function hookRequest(
  { url, channel }: HookConfig,
  { message }: Delivery,
  { textMax, escape, titleOf = (title) => ({ text: escape(title) }) }: {
    textMax: number;
    escape: (text: string) => string;
    titleOf?: (title: string) => { text: string };
  },
): KindRequest {
  const title = titleOf(truncate(message.title, TITLE_MAX));
  const text = bodyOf(message, textMax, escape);
  return {
    url,
    body: {
      ...(channel !== undefined && { channel }),
      ...title,
      attachments: [{ color: COLOR[message.tone], fallback: title.text, text, mrkdwn_in: [] }],
    },
  };
}

/**
 * Reads `scheme://[user@]host[/path]/token[/channel]`; `/hooks/` is before the token. The last part
 * is a channel if it begins with `#` or `@`, and, for the kind's own scheme (Shoutrrr, which knows
 * no other path), if it follows the token.
 */
export function fromHookUrl(
  { base, path, scheme }: ChannelUrl,
  { own, tokens }: { own: string; tokens: number },
): HookConfig | undefined {
  const last = path.at(-1) ?? "";
  const isChannel = /^[#@]/.test(last) || scheme === own;
  const channel = isChannel && path.length > tokens ? last : undefined;
  const parts = channel === undefined ? path : path.slice(0, -1);
  if (parts.length < tokens) return undefined;
  const before = parts.slice(0, -tokens);
  return {
    url: base(...before, "hooks", ...parts.slice(-tokens)),
    ...(channel !== undefined && { channel }),
  };
}
