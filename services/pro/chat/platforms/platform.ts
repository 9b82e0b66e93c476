/**
 * What a chat platform is: what its channels need to know, how a message is put to it, and what
 * its answers mean.
 *
 * @module
 */

import type { ChatPlatformId } from "../../../../db/pro/chat_channels.ts";
import type { OutboxOutcome } from "../../../events/outbox_channel.ts";

/** The fields of a channel's config, of every platform. All are secrets. */
export const CHAT_CONFIG_FIELDS = ["bot_token", "chat_id", "webhook_url", "api_url"] as const;
export type ChatConfigField = (typeof CHAT_CONFIG_FIELDS)[number];
export type ChatConfig = { [Field in ChatConfigField]?: string };

export interface ChatPlatform {
  id: ChatPlatformId;
  /** The product's own name, under which a channel can be created as well. */
  alias: string;
  required: readonly ChatConfigField[];
  /** Most UTF-16 code units of a message. */
  textMax: number;
  /** What is wrong with a field of the config; `undefined` when nothing is. */
  problem(field: ChatConfigField, value: string): string | undefined;
  /** @param text Its first line is the headline. */
  request(config: ChatConfig, text: string): { url: string; body: unknown };
  outcome(answer: ChatAnswer, now: Date): OutboxOutcome;
}

/** A platform's answer, of which nothing is shown to anybody. */
export interface ChatAnswer {
  status: number;
  retryAfter: string | undefined;
  text: string;
}

/** A later attempt, with a sentence of ours. */
export const retry = (status: number, reason: string, afterMs?: number): OutboxOutcome => ({
  result: "retry",
  status,
  error: `HTTP ${status}: ${reason}`,
  ...(afterMs !== undefined && { afterMs }),
});

/** What another status than those of the platform's documents means. */
export function otherwise(status: number): string {
  if (status >= 300 && status < 400) return "redirects are not followed";
  if (status >= 500) return "the platform reported an internal error";
  return "the platform refused the message";
}

/** An address with the paths of another under its own, e.g. of a gateway. */
export function under(base: string, path: string, search = ""): string {
  const url = new URL(base);
  url.pathname = url.pathname.replace(/\/+$/, "") + path;
  url.search = search;
  url.hash = "";
  return url.href;
}
