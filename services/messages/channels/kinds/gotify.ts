/** Gotify (https://gotify.net/docs/pushmsg). @module */

import { bodyOf, type Severity } from "../../../events/message.ts";
import { joinUrl } from "../../../outbound/url.ts";
import { type ChannelKind, token } from "./kind.ts";

interface GotifyConfig {
  url: string;
  token: string;
}

const PRIORITY: Record<Severity, number> = { critical: 10, warning: 6, info: 2 };

const MESSAGE_MAX = 10_000;

export const gotify: ChannelKind<GotifyConfig> = {
  id: "gotify",
  name: "Gotify",
  schemes: ["gotify", "gotifys"],
  fields: {
    url: { type: "address" },
    token: { type: "text", isSecret: true, pattern: token },
  },

  request: ({ url, token }, { message }) => ({
    url: joinUrl(url, "/message"),
    // Not in the URL, which proxies log.
    headers: { "x-gotify-key": token },
    body: {
      title: message.title,
      message: bodyOf(message, MESSAGE_MAX),
      priority: PRIORITY[message.severity],
      extras: {
        "client::display": { contentType: "text/plain" },
        ...(message.link !== null &&
          { "client::notification": { click: { url: message.link } } }),
      },
    },
  }),

  fromUrl({ base, path }) {
    const token = path.at(-1);
    if (token === undefined) return "must be gotify://host/token";
    return { url: base(...path.slice(0, -1)), token };
  },
};
