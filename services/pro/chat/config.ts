/**
 * How a chat channel is reached. Whoever knows the token or the address can write into the chat,
 * so a config is stored encrypted and never shown.
 *
 * @module
 */

import type { ChatPlatformId, StoredChatChannel } from "../../../db/pro/chat_channels.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { assertOutboundUrl } from "../../outbound/url.ts";
import { GIVE_AGAIN, isElsewhere, REDACTED } from "../../redact.ts";
import type { Secrets } from "../../secrets.ts";
import { messenger } from "./platforms/messenger.ts";
import {
  CHAT_CONFIG_FIELDS,
  type ChatConfig,
  type ChatConfigField,
  type ChatPlatform,
} from "./platforms/platform.ts";
import { teamChat } from "./platforms/team_chat.ts";

export type { ChatConfig, ChatConfigField };

/** What a caller says of a config: `null` takes a field away. */
export type GivenChatConfig = { [Field in ChatConfigField]?: string | null | undefined };

export const CHAT_PLATFORMS: readonly ChatPlatform[] = [messenger, teamChat];

/** The names under which a channel can be created. */
export const CHAT_PLATFORM_NAMES = CHAT_PLATFORMS.flatMap(({ id, alias }) => [id, alias]);

/** By its id or the product's own name. */
export function chatPlatform(name: string): ChatPlatform {
  const platform = CHAT_PLATFORMS.find(({ id, alias }) => id === name || alias === name);
  if (!platform) throw new Error(`There is no chat platform ${name}`);
  return platform;
}

/**
 * The config as it is stored: what is given, upon what is there already. A field that is left out
 * or sent back redacted keeps its value, unless it would be sent to another origin than before.
 *
 * @param stored The config so far, of the same platform; `undefined` for a new channel.
 * @throws {AppError} `invalid` for a field that is missing or not usable.
 */
export async function checkedChatConfig(
  deps: Pick<Deps, "config">,
  platform: ChatPlatform,
  given: GivenChatConfig,
  stored: ChatConfig | undefined,
): Promise<ChatConfig> {
  const config: ChatConfig = {};
  const kept: ChatConfigField[] = [];
  for (const field of fieldsOf(platform)) {
    const said = given[field];
    const isKept = said === undefined || said === REDACTED;
    const value = isKept ? stored?.[field] : said;
    if (said === REDACTED && value === undefined) {
      throw invalid(field, `"${REDACTED}" keeps a stored value, and there is none`);
    }
    if (value === undefined || value === null) {
      if (platform.required.includes(field)) throw invalid(field, `required for ${platform.id}`);
      continue;
    }
    const problem = platform.problem(field, value);
    if (problem) throw invalid(field, problem);
    if (field === "webhook_url" || field === "api_url") {
      await assertOutboundUrl(deps, value, "public", `body.config.${field}`);
    }
    config[field] = value;
    if (isKept) kept.push(field);
  }
  // Each field is a secret, and is sent along with the others.
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

/** Which fields there are, and nothing of what they hold. */
export function redactedChatConfig(config: ChatConfig): ChatConfig {
  return Object.fromEntries(Object.keys(config).map((field) => [field, REDACTED]));
}

/** The fields of a config that cannot be read: those that it must have. */
export function redactedRequired(id: ChatPlatformId): ChatConfig {
  return Object.fromEntries(chatPlatform(id).required.map((field) => [field, REDACTED]));
}

const targetOf = (platform: ChatPlatform, config: ChatConfig) => platform.request(config, "").url;

/** Those of the platform; a field of another one is ignored like any that is unknown. */
const fieldsOf = ({ required }: ChatPlatform) =>
  CHAT_CONFIG_FIELDS.filter((field) => required.includes(field) || field === "api_url");

const invalid = (field: string, problem: string) =>
  new AppError("invalid", `body.config.${field}: ${problem}`);

const purpose = (id: string) => `chat channel ${id}`;
