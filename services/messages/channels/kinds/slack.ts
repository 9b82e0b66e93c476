/** Slack: incoming webhooks (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks). @module */

import { joinUrl } from "../../../outbound/url.ts";
import { apiUrl } from "./fields.ts";
import { escapeSlack, kind, outcomeOf } from "./kind.ts";
import { hookFields, hookRequest } from "./slack_family.ts";

/** Error codes of Slack, explained. */
const REASONS: Readonly<Record<string, string>> = {
  action_prohibited: "the workspace does not allow this webhook to post",
  channel_is_archived: "the channel is archived",
  channel_not_found: "the channel was deleted",
  invalid_payload: "the platform could not read the message",
  invalid_token: "the address of the webhook is not valid",
  no_active_hooks: "the webhook is disabled",
  no_service: "the webhook was removed or disabled",
  no_service_id: "the address of the webhook is not valid",
  no_team: "the workspace was deleted",
  posting_to_general_channel_denied: "the workspace does not allow posts to its main channel",
  rate_limited: "too many messages",
  rollup_error: "the platform reported an internal error",
  team_disabled: "the workspace is disabled",
  user_not_found: "the user was deleted",
};

export const slack = kind("slack", {
  title: "Slack",
  description: "An incoming webhook of Slack or of a chat that accepts its messages",
  schemes: ["slack"],
  urlForm: "slack://T000/B000/XXXX",
  fields: { ...hookFields, apiUrl },

  request: ({ apiUrl, ...config }, delivery) => {
    const request = hookRequest(config, delivery, {
      textMax: 3_000,
      escape: escapeSlack,
      // No markup, no mention such as `<!channel>` and no preview of a link.
      titleOf: (title) => ({
        text: escapeSlack(title),
        mrkdwn: false,
        unfurl_links: false,
        unfurl_media: false,
      }),
    });
    if (apiUrl === undefined) return request;
    const { pathname, search } = new URL(config.url);
    return { ...request, url: joinUrl(apiUrl, pathname, search) };
  },

  outcome(answer, now) {
    const code = answer.text.trim();
    const reason = Object.hasOwn(REASONS, code) ? REASONS[code] : undefined;
    return outcomeOf(answer, now, { reason });
  },

  // slack://hook:T-B-X@webhook (Shoutrrr) and slack://T/B/X/#channel (Apprise).
  fromUrl({ username, password, host, path }) {
    const parts = username === "hook" ? password.split("-") : [host, ...path];
    const [team, hook, secret, channel] = parts;
    if (!team || !hook || !secret) return undefined;
    const url = [
      "https://hooks.slack.com/services",
      ...[team, hook, secret].map(encodeURIComponent),
    ];
    return { url: url.join("/"), ...(channel?.startsWith("#") && { channel }) };
  },
});
