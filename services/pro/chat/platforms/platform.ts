/**
 * The interface of a chat platform: the config of its channels, its requests and its responses.
 *
 * @module
 */

import type { ChatPlatformId } from "../../../../db/pro/chat_channels.ts";
import type { OutboxOutcome } from "../../../events/outbox_channel.ts";

/** The config fields of all platforms. All are secrets. */
export const CHAT_CONFIG_FIELDS = ["bot_token", "chat_id", "webhook_url", "api_url"] as const;
export type ChatConfigField = (typeof CHAT_CONFIG_FIELDS)[number];
export type ChatConfig = { [Field in ChatConfigField]?: string };

export interface ChatPlatform {
  id: ChatPlatformId;
  /** The product name, accepted instead of the id. */
  alias: string;
  required: readonly ChatConfigField[];
  /** Limit of a message in UTF-16 code units. */
  textMax: number;
  /** Describes the problem with a config field; `undefined` if it is valid. */
  problem(field: ChatConfigField, value: string): string | undefined;
  /** @param text Its first line is the headline. */
  request(config: ChatConfig, text: string): { url: string; body: unknown };
  outcome(answer: ChatAnswer, now: Date): OutboxOutcome;
}

/** A platform's response. Its text is never shown to users. */
export interface ChatAnswer {
  status: number;
  retryAfter: string | undefined;
  text: string;
}

/** The outcome "try again later", with a reason written by this service. */
export const retry = (status: number, reason: string, afterMs?: number): OutboxOutcome => ({
  result: "retry",
  status,
  error: `HTTP ${status}: ${reason}`,
  ...(afterMs !== undefined && { afterMs }),
});

/** Describes a status that the platform's documentation does not mention. */
export function describeStatus(status: number): string {
  if (status >= 300 && status < 400) return "redirects are not followed";
  if (status >= 500) return "the platform reported an internal error";
  return "the platform refused the message";
}

/** Appends a path to a base URL, which may have its own path, e.g. that of a gateway. */
export function joinUrl(base: string, path: string, search = ""): string {
  const url = new URL(base);
  url.pathname = url.pathname.replace(/\/+$/, "") + path;
  url.search = search;
  url.hash = "";
  return url.href;
}
