/**
 * The interface of a chat platform: the config of its channels, its requests and its responses.
 *
 * @module
 */

import type { ChatPlatformId } from "../../../../db/pro/chat_channels.ts";
import type { KindAnswer, KindRequest } from "../../../messages/channels/kinds/kind.ts";
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
  request(config: ChatConfig, text: string): KindRequest;
  outcome(answer: KindAnswer, now: Date): OutboxOutcome;
}
