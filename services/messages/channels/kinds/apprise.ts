/**
 * A server of the Apprise API, which passes messages on to its own services
 * (https://github.com/caronc/apprise-api).
 *
 * @module
 */

import { bodyOf, type Tone } from "../../../events/message.ts";
import { joinUrl } from "../../../outbound/url.ts";
import { type ChannelKind, token, withoutMentions } from "./kind.ts";

interface AppriseConfig {
  url: string;
  key?: string;
  urls?: string[];
}

const TYPE: Record<Tone, string> = {
  problem: "failure",
  warning: "warning",
  good: "success",
  news: "info",
};

/** Limit of the server, in characters. */
const BODY_MAX = 30_000;

export const apprise: ChannelKind<AppriseConfig> = {
  id: "apprise",
  name: "Apprise",
  schemes: ["apprise", "apprises"],
  fields: {
    url: { type: "address" },
    key: { type: "text", isSecret: true, isOptional: true, pattern: token },
    urls: { type: "list", isSecret: true, isOptional: true },
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
    if (key === undefined) return "must be apprise://host/key";
    return { url: base(...path.slice(0, -1)), key };
  },
};
