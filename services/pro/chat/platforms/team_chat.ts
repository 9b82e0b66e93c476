/**
 * Slack: incoming webhooks
 * (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks).
 *
 * @module
 */

import { retryAfterMs } from "../../../outbound/retry_after.ts";
import { type ChatPlatform, describeStatus, joinUrl, retry } from "./platform.ts";

/**
 * Slack recommends at most 4 000 characters and truncates at 40 000. It counts escaped text, which
 * is at most five times as long.
 */
const TEXT_MAX = 4_000;

/** The status for an archived channel: a retry is useless. */
const GONE = 410;

/** Slack's error codes, explained. */
const REASONS: Readonly<Record<string, string>> = {
  action_prohibited: "the workspace does not allow this webhook to post",
  channel_is_archived: "the channel is archived",
  channel_not_found: "the channel was deleted",
  invalid_payload: "the platform could not read the message",
  invalid_token: "the webhook_url is not valid",
  no_active_hooks: "the webhook is disabled",
  no_service: "the webhook was removed or disabled",
  no_service_id: "the webhook_url is not valid",
  no_team: "the workspace was deleted",
  posting_to_general_channel_denied: "the workspace does not allow posts to its main channel",
  rate_limited: "too many messages",
  rollup_error: "the platform reported an internal error",
  team_disabled: "the workspace is disabled",
  user_not_found: "the user was deleted",
};

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
      // Names appear verbatim without markup; escaping disables references such as <!channel>.
      body: { text: escapeText(text), mrkdwn: false, unfurl_links: false, unfurl_media: false },
    };
  },

  outcome({ status, retryAfter, text }, now) {
    if (status >= 200 && status < 300) return { result: "sent", status, error: null };
    const code = text.trim();
    const reason = Object.hasOwn(REASONS, code) ? REASONS[code]! : undefined;
    if (status === GONE) {
      return { result: "gone", status, error: `HTTP ${status}: ${reason ?? "gone"}` };
    }
    if (status === 429) return retry(status, "too many messages", retryAfterMs(retryAfter, now));
    if (status === 404 && !reason) return retry(status, "the webhook_url does not exist");
    return retry(
      status,
      reason ?? describeStatus(status),
      status === 503 ? retryAfterMs(retryAfter, now) : undefined,
    );
  },
};

/** Escapes Slack's three control characters. */
function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
