/**
 * Home Assistant: a webhook that triggers an automation
 * (https://www.home-assistant.io/docs/automation/trigger/#webhook-trigger).
 *
 * @module
 */

import { bodyOf } from "../../../events/message.ts";
import { joinUrl } from "../../../outbound/url.ts";
import type { ChannelKind } from "./kind.ts";

interface HomeAssistantConfig {
  url: string;
  webhookId: string;
}

const MESSAGE_MAX = 8_000;

export const homeassistant: ChannelKind<HomeAssistantConfig> = {
  id: "homeassistant",
  name: "Home Assistant",
  schemes: ["hassio", "hassios", "homeassistant"],
  fields: {
    url: { type: "address" },
    // Anyone who knows the id can trigger the automation.
    webhookId: {
      type: "text",
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
};
