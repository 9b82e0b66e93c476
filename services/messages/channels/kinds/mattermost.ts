/** Mattermost (https://developers.mattermost.com/integrate/webhooks/incoming/). @module */

import { escapeMarkdown, kind } from "./kind.ts";
import { fromHookUrl, hookFields, hookRequest } from "./slack_family.ts";

/** Of 16 383, when every character is escaped. */
const TEXT_MAX = 7_500;

export const mattermost = kind("mattermost", {
  title: "Mattermost",
  description: "An incoming webhook of a server",
  schemes: ["mattermost", "mmost", "mmosts"],
  urlForm: "mattermost://host/token",
  fields: hookFields,
  request: (config, delivery) =>
    hookRequest(config, delivery, { textMax: TEXT_MAX, escape: escapeMarkdown }),
  fromUrl: (url) => fromHookUrl(url, { own: "mattermost", tokens: 1 }),
});
