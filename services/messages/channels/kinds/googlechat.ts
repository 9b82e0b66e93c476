/**
 * Google Chat: incoming webhooks of a space
 * (https://developers.google.com/workspace/chat/quickstart/webhooks).
 *
 * @module
 */

import { bodyOf } from "../../../events/message.ts";
import { webhookUrl } from "./fields.ts";
import { kind } from "./kind.ts";

/** Limit of a message, in characters. */
const TEXT_MAX = 4_096;

export const googlechat = kind("googlechat", {
  title: "Google Chat",
  description: "A webhook of a space",
  schemes: ["googlechat", "gchat", "hangouts"],
  urlForm: "gchat://space/key/token",
  fields: {
    url: webhookUrl,
  },
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
    if (!key || !token) return undefined;
    url.searchParams.set("key", key);
    url.searchParams.set("token", token);
    return { url: url.href };
  },
});

/** It has no escapes: a zero-width space keeps links, mentions and formats from beginning. */
const escapeText = (text: string) => text.replace(/[<*_~`](?=\S)/g, "$&\u200b");
