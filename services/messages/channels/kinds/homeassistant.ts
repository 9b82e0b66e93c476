/**
 * Home Assistant: a webhook that triggers an automation
 * (https://www.home-assistant.io/docs/automation/trigger/#webhook-trigger).
 *
 * @module
 */

import { bodyOf } from "../../../events/message.ts";
import { joinUrl } from "../../../outbound/url.ts";
import { kind } from "./kind.ts";

const MESSAGE_MAX = 8_000;

export const homeassistant = kind("homeassistant", {
  title: "Home Assistant",
  description: "A webhook that triggers an automation",
  schemes: ["hassio", "hassios", "homeassistant"],
  urlForm: "homeassistant://host/webhook-id",
  fields: {
    url: { type: "address", label: "Server", placeholder: "http://homeassistant.local:8123" },
    // Anyone who knows the id can trigger the automation.
    webhookId: {
      type: "text",
      label: "Webhook ID",
      hint: "Of the trigger of an automation",
      isSecret: true,
      pattern: [/^[\w-]{1,255}$/, "must have 1 to 255 letters, digits, underscores and hyphens"],
    },
  },

  request: ({ url, webhookId }, { id, message }) => ({
    url: joinUrl(url, `/api/webhook/${webhookId}`),
    body: {
      id,
      event: message.event,
      title: message.title,
      message: bodyOf(message, MESSAGE_MAX),
      severity: message.severity,
      resolved: message.phase === "end",
      server: message.server,
      timestamp: message.timestamp,
      link: message.link,
      data: message.data,
    },
  }),

  // Shoutrrr and Apprise use an access token instead of a webhook.
  fromUrl({ base, path, username }) {
    const webhookId = path.at(-1);
    if (webhookId === undefined || username !== "" || webhookId.includes(".")) {
      return "must be homeassistant://host/webhook-id, without an access token";
    }
    return { url: base(...path.slice(0, -1)), webhookId };
  },
});
