/** Slack, through the code of the notification channels. @module */

import { slackOutcome, slackText } from "../../../messages/channels/kinds/slack_family.ts";
import { joinUrl } from "../../../outbound/url.ts";
import type { ChatPlatform } from "./platform.ts";

/**
 * Slack recommends at most 4 000 characters and truncates at 40 000. It counts escaped text, which
 * is at most five times as long.
 */
const TEXT_MAX = 4_000;

export const teamChat: ChatPlatform = {
  id: "team-chat",
  alias: "slack",
  required: ["webhook_url"],
  textMax: TEXT_MAX,

  problem: () => undefined,

  request({ webhook_url, api_url }, text) {
    const { href, pathname, search } = new URL(webhook_url!);
    return {
      url: api_url === undefined ? href : joinUrl(api_url, pathname, search),
      body: slackText(text),
    };
  },

  outcome: slackOutcome,
};
