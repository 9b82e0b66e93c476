/**
 * Addresses and tokens of chat channels. Each is enough to post to the chat, so a config is stored
 * encrypted and never returned.
 *
 * @module
 */

import type { StoredChatChannel } from "../../../db/pro/chat_channels.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { assertOutboundUrl } from "../../outbound/url.ts";
import {
  GIVE_AGAIN,
  isElsewhere,
  isPartlyRedacted,
  NOTHING_STORED,
  PARTLY_REDACTED,
  REDACTED,
} from "../../text/redact.ts";
import type { Secrets } from "../../secrets/secrets.ts";
import { messenger } from "./platforms/messenger.ts";
import {
  CHAT_CONFIG_FIELDS,
  type ChatConfig,
  type ChatConfigField,
  type ChatPlatform,
} from "./platforms/platform.ts";
import { teamChat } from "./platforms/team_chat.ts";

export type { ChatConfig };

/** Fields of a config in a request; `null` removes a field. */
export type ChatConfigChange = { [Field in ChatConfigField]?: string | null | undefined };

const CHAT_PLATFORMS: readonly ChatPlatform[] = [messenger, teamChat];

/** The names under which a channel can be created. */
export const CHAT_PLATFORM_NAMES = CHAT_PLATFORMS.flatMap(({ id, alias }) => [id, alias]);

/** Finds a platform by its id or product name. */
export function chatPlatform(name: string): ChatPlatform {
  const platform = CHAT_PLATFORMS.find(({ id, alias }) => id === name || alias === name);
  if (!platform) throw new Error(`Unknown chat platform ${name}`);
  return platform;
}

/**
 * Merges a change into the stored config. A field that is missing or redacted keeps its value,
 * unless the value would then be sent to a different origin.
 *
 * @param stored The current config for the same platform; `undefined` for a new channel.
 * @throws {AppError} `invalid` for a field that is missing or not valid.
 */
export async function mergeChatConfig(
  deps: Pick<Deps, "config">,
  platform: ChatPlatform,
  change: ChatConfigChange,
  stored: ChatConfig | undefined,
): Promise<ChatConfig> {
  const config: ChatConfig = {};
  const kept: ChatConfigField[] = [];
  for (const field of fieldsOf(platform)) {
    const given = change[field];
    const isKept = given === undefined || given === REDACTED;
    const value = isKept ? stored?.[field] : given;
    if (given === REDACTED && value === undefined) {
      throw invalid(field, NOTHING_STORED);
    }
    if (value === undefined || value === null) {
      if (platform.required.includes(field)) throw invalid(field, `required for ${platform.id}`);
      continue;
    }
    const problem = isPartlyRedacted(value) ? PARTLY_REDACTED : platform.problem(field, value);
    if (problem) throw invalid(field, problem);
    if (field === "webhook_url" || field === "api_url") {
      await assertOutboundUrl(deps, value, "public", `body.config.${field}`);
    }
    config[field] = value;
    if (isKept) kept.push(field);
  }
  // Every field is a secret and is sent together with the others.
  if (stored && kept[0] && isElsewhere(targetOf(platform, stored), targetOf(platform, config))) {
    throw invalid(kept[0], GIVE_AGAIN);
  }
  return config;
}

export function sealChatConfig(secrets: Secrets, id: string, config: ChatConfig): string {
  return secrets.seal(JSON.stringify(config), purpose(id));
}

/** @throws {SealError} */
export function openChatConfig(
  secrets: Secrets,
  { id, sealed }: Pick<StoredChatChannel, "id" | "sealed">,
): ChatConfig {
  return JSON.parse(secrets.open(sealed, purpose(id)));
}

/** A config with the given fields, all redacted. */
export function redactFields(fields: readonly string[]): ChatConfig {
  return Object.fromEntries(fields.map((field) => [field, REDACTED]));
}

const targetOf = (platform: ChatPlatform, config: ChatConfig) => platform.request(config, "").url;

/** The fields of a platform; fields of other platforms are ignored like unknown ones. */
const fieldsOf = ({ required }: ChatPlatform) =>
  CHAT_CONFIG_FIELDS.filter((field) => required.includes(field) || field === "api_url");

const invalid = (field: string, problem: string) =>
  new AppError("invalid", `body.config.${field}: ${problem}`);

const purpose = (id: string) => `chat channel ${id}`;
