/** Gotify (https://gotify.net/docs/pushmsg). @module */

import { bodyOf, type Severity } from "../../../events/message.ts";
import { joinUrl } from "../../../outbound/url.ts";
import { kind, token } from "./kind.ts";

const PRIORITY: Record<Severity, number> = { critical: 10, warning: 6, info: 2 };

const MESSAGE_MAX = 10_000;

export const gotify = kind("gotify", {
  title: "Gotify",
  description: "An application of a Gotify server",
  schemes: ["gotify", "gotifys"],
  urlForm: "gotify://host/token",
  fields: {
    url: { type: "address", label: "Server", placeholder: "https://gotify.example.com" },
    token: { type: "text", label: "Application token", isSecret: true, pattern: token },
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
    if (token === undefined) return undefined;
    return { url: base(...path.slice(0, -1)), token };
  },
});
