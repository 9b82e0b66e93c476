/**
 * PagerDuty: Events API v2 (https://developer.pagerduty.com/docs/events-api-v2-overview).
 *
 * @module
 */

import { truncate } from "../../../events/text.ts";
import { bodyOf, problemKey } from "../../../events/message.ts";
import { joinUrl } from "../../../outbound/url.ts";
import { apiUrl } from "./fields.ts";
import { kind } from "./kind.ts";

const API = "https://events.pagerduty.com";

/** Limits of the platform, in characters. */
const SUMMARY_MAX = 1_024;
const DEDUP_KEY_MAX = 255;

const DETAILS_MAX = 8_000;

export const pagerduty = kind("pagerduty", {
  title: "PagerDuty",
  description: "A service, of which an incident is opened and resolved",
  isOnCall: true,
  schemes: ["pagerduty"],
  urlForm: "pagerduty://integration-key",
  fields: {
    routingKey: {
      type: "text",
      label: "Integration key",
      hint: "Of an Events API v2 integration",
      isSecret: true,
      pattern: [/^[A-Za-z0-9]{32}$/, "must be an integration key, 32 letters and digits"],
    },
    apiUrl: { ...apiUrl, hint: "Empty: the service region of the United States" },
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
    if (key === undefined) return host === "" ? undefined : { routingKey: host };
    return { routingKey: key, ...(host !== "" && base() !== API && { apiUrl: base() }) };
  },
});
