/**
 * Google Chat: incoming webhooks of a space
 * (https://developers.google.com/workspace/chat/quickstart/webhooks).
 *
 * @module
 */

import { bodyOf } from "../../../events/message.ts";
import type { ChannelKind } from "./kind.ts";

interface GoogleChatConfig {
  url: string;
}

/** Limit of a message, in characters. */
const TEXT_MAX = 4_096;

export const googlechat: ChannelKind<GoogleChatConfig> = {
  id: "googlechat",
  name: "Google Chat",
  schemes: ["googlechat", "gchat", "hangouts"],
  fields: { url: { type: "address", isSecret: true } },
  // Of a space, for all its webhooks (https://developers.google.com/workspace/chat/limits).
  pace: { intervalMs: 1_000, target: ({ url }) => url.split("?", 1)[0]! },

  request: ({ url }, { message }) => ({
    url,
    body: {
      text: `${escapeText(message.title)}\n${bodyOf(message, TEXT_MAX / 4, escapeText)}`,
    },
  }),

  // googlechat://host/v1/spaces/ID/messages?key=..&token=.. and gchat://space/key/token.
  fromUrl({ scheme, base, host, path, param }) {
    const url = scheme === "gchat"
      ? new URL(`https://chat.googleapis.com/v1/spaces/${encodeURIComponent(host)}/messages`)
      : new URL(base(...path));
    const key = scheme === "gchat" ? path[0] : param("key");
    const token = scheme === "gchat" ? path[1] : param("token");
    if (!key || !token) return "must be gchat://space/key/token";
    url.searchParams.set("key", key);
    url.searchParams.set("token", token);
    return { url: url.href };
  },
};

/** It has no escapes: a zero-width space keeps links, mentions and formats from beginning. */
const escapeText = (text: string) => text.replace(/[<*_~`](?=\S)/g, "$&\u200b");
