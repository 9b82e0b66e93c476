/** ntfy (https://docs.ntfy.sh/publish/#publish-as-json). @module */

import {
  bodyOf,
  type NotificationMessage,
  type Severity,
  type Tone,
} from "../../../events/message.ts";
import { account } from "./fields.ts";
import { basic, kind, token } from "./kind.ts";

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

export const ntfy = kind("ntfy", {
  title: "ntfy",
  description: "A topic of ntfy.sh or of a server of your own",
  schemes: ["ntfy", "ntfys"],
  urlForm: "ntfy://host/topic",
  fields: {
    url: { type: "address", label: "Server", placeholder: "https://ntfy.example.com" },
    topic: {
      type: "text",
      label: "Topic",
      pattern: [/^[\w-]{1,64}$/, "must have 1 to 64 letters, digits, underscores and hyphens"],
    },
    ...account,
    token: {
      type: "text",
      label: "Access token",
      hint: "Instead of a user name and password",
      isSecret: true,
      isOptional: true,
      pattern: token,
    },
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
    if (topic === undefined || more.length > 0) return undefined;
    return {
      url: base(),
      topic,
      ...(password === "" && username.startsWith("tk_")
        ? { token: username }
        : username !== "" && { username, password }),
    };
  },
});

/** The text below the title, with a limit in bytes. */
function bodyWithin(message: NotificationMessage, maxBytes: number): string {
  for (let max = maxBytes;; max = Math.floor(max * 0.9)) {
    const body = bodyOf(message, max);
    if (encoder.encode(body).length <= maxBytes) return body;
  }
}

/** Notifications with the same id replace each other; it may have 64 characters. */
const sequenceId = (thread: string) => thread.replace(/[^\w-]/g, "-").slice(-64);
