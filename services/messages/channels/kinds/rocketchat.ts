/** Rocket.Chat (https://docs.rocket.chat/docs/integrations). @module */

import { kind, withoutMentions } from "./kind.ts";
import { fromHookUrl, hookFields, hookRequest } from "./slack_family.ts";

/** Of 5 000, when every character is escaped. */
const TEXT_MAX = 2_000;

export const rocketchat = kind("rocketchat", {
  title: "Rocket.Chat",
  description: "An incoming webhook of a workspace",
  schemes: ["rocketchat", "rocket", "rockets"],
  urlForm: "rocketchat://host/tokenA/tokenB",
  fields: hookFields,
  request: (config, delivery) =>
    hookRequest(config, delivery, { textMax: TEXT_MAX, escape: escapeText }),
  fromUrl: (url) => fromHookUrl(url, { own: "rocketchat", tokens: 2 }),
});

/** It has no escape for links, headings and quotes: a zero-width space separates their parts. */
const escapeText = (text: string): string =>
  withoutMentions(text).replace(/[\\*_~`]/g, "\\$&").replaceAll("](", "]\u200b(")
    .replaceAll("<", "<\u200b").replace(/^(?=[#>])/gm, "\u200b");
