/**
 * Google Chat: incoming webhooks of a space
 * (https://developers.google.com/workspace/chat/quickstart/webhooks).
 *
 * @module
 */

import { truncate } from "../../../events/description.ts";
import { bodyOf } from "../message.ts";
import type { ChannelKind } from "./kind.ts";

interface GoogleChatConfig {
  url: string;
}

/** Limit of a message, in characters. */
const TEXT_MAX = 4_096;

export const googlechat: ChannelKind<GoogleChatConfig> = {
  id: "googlechat",
  name: "Google Chat",
  schemes: ["googlechat", "gchat"],
  fields: { url: { type: "address", isSecret: true } },

  request: ({ url }, { message }) => ({
    url,
    body: {
      text: truncate(escapeText(`${message.title}\n${bodyOf(message, TEXT_MAX / 2)}`), TEXT_MAX),
    },
  }),

  // googlechat://host/v1/spaces/ID/messages?key=..&token=.. and gchat://space/key/token.
  fromUrl({ scheme, base, host, path, query }) {
    const url = scheme === "gchat"
      ? new URL(`https://chat.googleapis.com/v1/spaces/${encodeURIComponent(host)}/messages`)
      : new URL(base(...path));
    const key = scheme === "gchat" ? path[0] : query.get("key");
    const token = scheme === "gchat" ? path[1] : query.get("token");
    if (!key || !token) return "must be gchat://space/key/token";
    url.searchParams.set("key", key);
    url.searchParams.set("token", token);
    return { url: url.href };
  },
};

/** It has no escapes: a zero-width space keeps links, mentions and formats from beginning. */
const escapeText = (text: string) => text.replace(/[<*_~`](?=\S)/g, "$&\u200b");
