/** Chat platforms: kinds of notification channels, under the names of the chat API. @module */

import type { StoredNotificationChannel } from "../../../db/notification_channels.ts";
import type { Deps } from "../../deps.ts";
import type { ChannelConfig, ConfigField } from "../../messages/channels/kinds/kind.ts";
import { channelKind, type ChannelKindId } from "../../messages/channels/kinds/mod.ts";
import { mergeConfig } from "../../messages/config.ts";

export const CHAT_PLATFORM_IDS = ["messenger", "team-chat"] as const;
type ChatPlatformId = (typeof CHAT_PLATFORM_IDS)[number];

/** Names of the fields of all platforms, and those of their kinds. */
const FIELD_NAMES = {
  bot_token: "botToken",
  chat_id: "chatId",
  webhook_url: "url",
  api_url: "apiUrl",
} as const;

/** Fields of a config in a request; `null` removes a field. */
export type ChatConfigChange = { [Name in keyof typeof FIELD_NAMES]?: string | null | undefined };

export interface ChatPlatform {
  id: ChatPlatformId;
  /** The id of its kind is accepted instead of its own. */
  kind: ChannelKindId;
  /** Those of the kind that chat channels have. All are secrets. */
  fields: Readonly<Record<string, ConfigField>>;
}

const PLATFORMS: readonly ChatPlatform[] = [
  platformOf("messenger", "telegram"),
  platformOf("team-chat", "slack"),
];

/** The names under which a channel can be created. */
export const CHAT_PLATFORM_NAMES = PLATFORMS.flatMap(({ id, kind }) => [id, kind]);

/** Finds a platform by its id or its kind. */
export const findPlatform = (name: string): ChatPlatform | undefined =>
  PLATFORMS.find(({ id, kind }) => id === name || kind === name);

/** A notification channel of one of the kinds. */
export type ChatChannelRow = StoredNotificationChannel & { platform: ChatPlatform };

/** @returns `undefined` for a channel of another kind. */
export function asChat(channel: StoredNotificationChannel): ChatChannelRow | undefined {
  const platform = findPlatform(channel.kind);
  return platform && { ...channel, platform };
}

/**
 * Merges a change into the config of a channel. Fields of other platforms are ignored, and fields
 * that only notification channels have are kept.
 *
 * @param stored The current config of the same kind; `undefined` for a new channel.
 * @throws {AppError} `invalid` as for notification channels.
 */
export async function mergeChatConfig(
  deps: Pick<Deps, "config">,
  { id, fields }: ChatPlatform,
  change: ChatConfigChange,
  stored: ChannelConfig | undefined,
): Promise<ChannelConfig> {
  const given = Object.fromEntries(
    Object.entries(change).filter(([name]) => Object.hasOwn(fields, name)),
  );
  const merged = await mergeConfig(deps, { id, fields }, given, stored && chatFieldsOf(stored));
  const own: readonly string[] = Object.values(FIELD_NAMES);
  return {
    ...Object.fromEntries(Object.entries(stored ?? {}).filter(([name]) => !own.includes(name))),
    ...renamed(merged, Object.entries(FIELD_NAMES)),
  };
}

/** The fields of a kind's config that chat channels have, under their names. */
export const chatFieldsOf = (config: ChannelConfig): ChannelConfig =>
  renamed(config, Object.entries(FIELD_NAMES).map(([name, own]) => [own, name]));

function platformOf(id: ChatPlatformId, kind: ChannelKindId): ChatPlatform {
  const { fields } = channelKind(kind);
  const shown = Object.entries(FIELD_NAMES).flatMap(([name, own]) =>
    fields[own] ? [[name, { ...fields[own], isSecret: true }] as const] : []
  );
  return { id, kind, fields: Object.fromEntries(shown) };
}

const renamed = (config: ChannelConfig, names: readonly (readonly [string, string])[]) =>
  Object.fromEntries(
    names.flatMap(([from, to]) => config[from] === undefined ? [] : [[to, config[from]]]),
  );
