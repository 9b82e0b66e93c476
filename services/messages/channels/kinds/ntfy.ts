/** ntfy (https://docs.ntfy.sh/publish/#publish-as-json). @module */

import {
  bodyOf,
  type NotificationMessage,
  type Severity,
  type Tone,
} from "../../../events/message.ts";
import { basic, type ChannelKind, token } from "./kind.ts";

interface NtfyConfig {
  url: string;
  topic: string;
  token?: string;
  username?: string;
  password?: string;
}

const encoder = new TextEncoder();

const PRIORITY: Record<Severity, number> = { critical: 5, warning: 4, info: 3 };
const TAG: Record<Tone, string> = {
  problem: "rotating_light",
  warning: "warning",
  good: "white_check_mark",
  news: "information_source",
};

/** In bytes of UTF-8; a longer message becomes an attachment. */
const MESSAGE_MAX = 4_096;

export const ntfy: ChannelKind<NtfyConfig> = {
  id: "ntfy",
  name: "ntfy",
  schemes: ["ntfy", "ntfys"],
  fields: {
    url: { type: "address" },
    topic: {
      type: "text",
      pattern: [/^[\w-]{1,64}$/, "must have 1 to 64 letters, digits, underscores and hyphens"],
    },
    token: { type: "text", isSecret: true, isOptional: true, pattern: token },
    username: { type: "text", isOptional: true },
    password: { type: "text", isSecret: true, isOptional: true },
  },

  // As JSON, because headers cannot carry every character.
  request({ url, topic, token, username, password }, { message }) {
    const authorization = token !== undefined
      ? `Bearer ${token}`
      : username !== undefined
      ? basic(username, password ?? "")
      : undefined;
    return {
      url,
      headers: { ...(authorization !== undefined && { authorization }) },
      body: {
        topic,
        title: message.title,
        message: bodyWithin(message, MESSAGE_MAX),
        priority: PRIORITY[message.severity],
        tags: [TAG[message.tone]],
        sequence_id: sequenceId(message.thread),
        ...(message.link !== null && { click: message.link }),
      },
    };
  },

  fromUrl({ base, path: [topic, ...more], username, password }) {
    if (topic === undefined || more.length > 0) return "must be ntfy://host/topic";
    return {
      url: base(),
      topic,
      ...(password === "" && username.startsWith("tk_")
        ? { token: username }
        : username !== "" && { username, password }),
    };
  },
};

/** The text below the title, with a limit in bytes. */
function bodyWithin(message: NotificationMessage, maxBytes: number): string {
  for (let max = maxBytes;; max = Math.floor(max * 0.9)) {
    const body = bodyOf(message, max);
    if (encoder.encode(body).length <= maxBytes) return body;
  }
}

/** Notifications with the same id replace each other; it may have 64 characters. */
const sequenceId = (thread: string) => thread.replace(/[^\w-]/g, "-").slice(-64);
