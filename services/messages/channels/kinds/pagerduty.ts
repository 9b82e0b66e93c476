/**
 * PagerDuty: Events API v2 (https://developer.pagerduty.com/docs/events-api-v2-overview).
 *
 * @module
 */

import { truncate } from "../../../events/text.ts";
import { bodyOf, problemKey } from "../../../events/message.ts";
import { joinUrl } from "../../../outbound/url.ts";
import type { ChannelKind } from "./kind.ts";

interface PagerDutyConfig {
  routingKey: string;
  apiUrl?: string;
}

const API = "https://events.pagerduty.com";

/** Limits of the platform, in characters. */
const SUMMARY_MAX = 1_024;
const DEDUP_KEY_MAX = 255;

const DETAILS_MAX = 8_000;

export const pagerduty: ChannelKind<PagerDutyConfig> = {
  id: "pagerduty",
  name: "PagerDuty",
  schemes: ["pagerduty"],
  fields: {
    routingKey: {
      type: "text",
      isSecret: true,
      pattern: [/^[A-Za-z0-9]{32}$/, "must be an integration key, 32 letters and digits"],
    },
    // E.g. for its European service region.
    apiUrl: { type: "address", isOptional: true },
  },

  request({ routingKey, apiUrl }, { message }) {
    const { link, phase, server, severity, timestamp, title } = message;
    return {
      url: joinUrl(apiUrl ?? API, "/v2/enqueue"),
      body: {
        routing_key: routingKey,
        event_action: phase === "end" ? "resolve" : "trigger",
        dedup_key: problemKey(message, DEDUP_KEY_MAX),
        payload: {
          summary: truncate(title, SUMMARY_MAX),
          source: server,
          severity,
          timestamp,
          custom_details: { text: bodyOf(message, DETAILS_MAX) },
        },
        client: "Longshore",
        ...(link !== null && { links: [{ href: link, text: "Open Longshore" }] }),
      },
    };
  },

  // pagerduty://[host]/key (Shoutrrr) and pagerduty://key@api-key (Apprise).
  fromUrl({ base, username, host, path: [key] }) {
    if (username !== "") return { routingKey: username };
    if (key === undefined) return host === "" ? "must be pagerduty:///key" : { routingKey: host };
    return { routingKey: key, ...(host !== "" && base() !== API && { apiUrl: base() }) };
  },
};
