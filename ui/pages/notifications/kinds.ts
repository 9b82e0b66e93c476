/**
 * The kinds of notification channels and the fields of their configs, as in
 * `services/messages/channels/kinds/`; a test compares them.
 *
 * @module
 */

import type { NotificationChannel } from "../../api/types.ts";

export type KindId = NotificationChannel["kind"];

/** A field of a config; `address` and `mailServer` are URLs that the service connects to. */
export interface KindField {
  label: string;
  type: "text" | "address" | "mailServer" | "number" | "list" | "headers" | "template";
  isSecret?: true;
  isOptional?: true;
  hint?: string;
  placeholder?: string;
  /** The possible values of a text. */
  options?: readonly string[];
}

export interface Kind {
  /** The product's name. */
  name: string;
  fields: Readonly<Record<string, KindField>>;
}

const ADDRESS = { type: "address" } as const;
const TEXT = { type: "text" } as const;
const OPTIONAL = { ...TEXT, isOptional: true } as const;
const SECRET = { ...TEXT, isSecret: true } as const;
const OPTIONAL_SECRET = { ...OPTIONAL, isSecret: true } as const;

const WEBHOOK_URL = { ...ADDRESS, label: "Webhook URL", isSecret: true } as const;

const API_URL = {
  ...ADDRESS,
  label: "API URL",
  isOptional: true,
  hint: "Only for a server that replaces the platform's own",
} as const;

const USER = { username: { ...OPTIONAL, label: "User name" } } as const;
const PASSWORD = { password: { ...OPTIONAL_SECRET, label: "Password" } } as const;

const TEAM_CHAT = {
  url: WEBHOOK_URL,
  channel: {
    ...OPTIONAL,
    label: "Channel",
    placeholder: "#alerts",
    hint: "Empty: the channel of the webhook",
  },
} as const;

/** In the order in which they are offered. */
export const KINDS: Readonly<Record<KindId, Kind>> = {
  email: {
    name: "Email",
    fields: {
      to: {
        type: "list",
        label: "Recipients",
        placeholder: "ann@example.com",
        hint: "One address in each line",
      },
      from: { ...OPTIONAL, label: "Sender", hint: "Empty: SMTP_FROM of the service" },
      smtpUrl: {
        ...OPTIONAL_SECRET,
        type: "mailServer",
        label: "Mail server",
        placeholder: "smtps://user:password@mail.example.com",
        hint: "Empty: SMTP_URL of the service",
      },
    },
  },
  ntfy: {
    name: "ntfy",
    fields: {
      url: { ...ADDRESS, label: "Server", placeholder: "https://ntfy.example.com" },
      topic: { ...TEXT, label: "Topic" },
      token: { ...OPTIONAL_SECRET, label: "Access token", hint: "Or a user name with password" },
      ...USER,
      ...PASSWORD,
    },
  },
  gotify: {
    name: "Gotify",
    fields: {
      url: { ...ADDRESS, label: "Server", placeholder: "https://gotify.example.com" },
      token: { ...SECRET, label: "Application token" },
    },
  },
  discord: { name: "Discord", fields: { url: WEBHOOK_URL } },
  slack: { name: "Slack", fields: TEAM_CHAT },
  teams: {
    name: "Microsoft Teams",
    fields: {
      url: {
        ...WEBHOOK_URL,
        label: "Workflow URL",
        hint: "Of a workflow that starts when a webhook request is received",
      },
    },
  },
  telegram: {
    name: "Telegram",
    fields: {
      botToken: { ...SECRET, label: "Bot token" },
      chatId: {
        ...TEXT,
        label: "Chat ID",
        hint: "The number of a chat or the @name of a public channel",
      },
      threadId: {
        type: "number",
        label: "Topic ID",
        isOptional: true,
        hint: "Only for a topic of a forum",
      },
      apiUrl: API_URL,
    },
  },
  matrix: {
    name: "Matrix",
    fields: {
      url: { ...ADDRESS, label: "Homeserver", placeholder: "https://matrix.example.org" },
      accessToken: { ...SECRET, label: "Access token" },
      roomId: { ...TEXT, label: "Room ID", placeholder: "!abc:example.org" },
    },
  },
  mattermost: { name: "Mattermost", fields: TEAM_CHAT },
  rocketchat: { name: "Rocket.Chat", fields: TEAM_CHAT },
  googlechat: { name: "Google Chat", fields: { url: WEBHOOK_URL } },
  pushover: {
    name: "Pushover",
    fields: {
      token: { ...SECRET, label: "Application token" },
      userKey: { ...SECRET, label: "User or group key" },
      device: { ...OPTIONAL, label: "Device", hint: "Empty: all devices of the user" },
      apiUrl: API_URL,
    },
  },
  pagerduty: {
    name: "PagerDuty",
    fields: {
      routingKey: { ...SECRET, label: "Integration key", hint: "Of an Events API v2 integration" },
      apiUrl: { ...API_URL, hint: "Empty: the service region of the United States" },
    },
  },
  opsgenie: {
    name: "Opsgenie",
    fields: {
      apiKey: { ...SECRET, label: "API key" },
      region: { ...OPTIONAL, label: "Region", options: ["us", "eu"] },
      apiUrl: API_URL,
    },
  },
  signal: {
    name: "Signal",
    fields: {
      url: {
        ...ADDRESS,
        label: "Server",
        placeholder: "http://signal.lan:8080",
        hint: "The address of a signal-cli REST API",
      },
      number: { ...TEXT, label: "Sender", placeholder: "+15550100" },
      recipients: {
        type: "list",
        label: "Recipients",
        placeholder: "+15550101",
        hint: "Phone numbers or ids of groups, one in each line",
      },
      ...USER,
      ...PASSWORD,
    },
  },
  apprise: {
    name: "Apprise",
    fields: {
      url: { ...ADDRESS, label: "Server", placeholder: "http://apprise.lan:8000" },
      key: {
        ...OPTIONAL_SECRET,
        label: "Key",
        hint: "Of a configuration that the server stores; without one, give the services",
      },
      urls: {
        type: "list",
        label: "Services",
        isSecret: true,
        isOptional: true,
        hint: "Apprise URLs, one in each line",
      },
    },
  },
  homeassistant: {
    name: "Home Assistant",
    fields: {
      url: { ...ADDRESS, label: "Server", placeholder: "http://homeassistant.local:8123" },
      webhookId: { ...SECRET, label: "Webhook ID", hint: "Of the trigger of an automation" },
    },
  },
  webhook: {
    name: "Webhook",
    fields: {
      url: { ...ADDRESS, label: "URL", isSecret: true },
      method: { ...OPTIONAL, label: "Method", options: ["POST", "PUT", "PATCH", "GET"] },
      headers: { type: "headers", label: "Headers", isSecret: true, isOptional: true },
      template: {
        type: "template",
        label: "Template",
        isOptional: true,
        placeholder: '{"text": "{{ title }}"}',
        hint: "Fields: id, title, text, severity, resolved, link, event. Empty: all as JSON",
      },
      contentType: {
        ...OPTIONAL,
        label: "Content type",
        placeholder: "application/json",
        hint: "Values in the template are escaped for it",
      },
    },
  },
};
