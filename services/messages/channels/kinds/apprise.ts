/**
 * A server of the Apprise API, which passes messages on to its own services
 * (https://github.com/caronc/apprise-api).
 *
 * @module
 */

import { bodyOf, type Tone } from "../../../events/message.ts";
import { joinUrl } from "../../../outbound/url.ts";
import { kind, token, withoutMentions } from "./kind.ts";

const TYPE: Record<Tone, string> = {
  problem: "failure",
  warning: "warning",
  good: "success",
  news: "info",
};

/** Limit of the server, in characters. */
const BODY_MAX = 30_000;

export const apprise = kind("apprise", {
  title: "Apprise",
  description: "A server of the Apprise API, which passes messages on to its own services",
  schemes: ["apprise", "apprises"],
  urlForm: "apprise://host/key",
  fields: {
    url: { type: "address", label: "Server", placeholder: "http://apprise.lan:8000" },
    key: {
      type: "text",
      label: "Key",
      hint: "Of a configuration that the server stores; without one, give the services",
      isSecret: true,
      isOptional: true,
      pattern: token,
    },
    urls: {
      type: "list",
      label: "Services",
      hint: "Apprise URLs, one in each line",
      isSecret: true,
      isOptional: true,
    },
  },

  problem: ({ key, urls }) =>
    (key === undefined) === (urls === undefined) ? "must have either key or urls" : undefined,

  request: ({ url, key, urls }, { message }) => ({
    url: joinUrl(url, key === undefined ? "/notify" : `/notify/${encodeURIComponent(key)}`),
    body: {
      // Some of its services read mentions in any text.
      title: withoutMentions(message.title),
      body: bodyOf(message, BODY_MAX / 2, withoutMentions),
      type: TYPE[message.tone],
      format: "text",
      ...(urls !== undefined && { urls }),
    },
  }),

  fromUrl({ base, path }) {
    const key = path.at(-1);
    if (key === undefined) return undefined;
    return { url: base(...path.slice(0, -1)), key };
  },
});
