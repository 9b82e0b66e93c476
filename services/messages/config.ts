/**
 * Configs of channels: addresses, tokens and receivers. They are stored encrypted; secrets in them
 * are never shown, and are sent only to the address for which they were given.
 *
 * @module
 */

import type { StoredNotificationChannel } from "../../db/notification_channels.ts";
import { definedFields } from "../change.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import { checkedHeaders, redactedHeaders } from "../outbound/secret_headers.ts";
import { assertOutboundHost, assertOutboundUrl, OUTBOUND_URL_MAX } from "../outbound/url.ts";
import {
  GIVE_AGAIN,
  isElsewhere,
  isPartlyRedacted,
  NOTHING_STORED,
  PARTLY_REDACTED,
  REDACTED,
} from "../text/redact.ts";
import type { Secrets } from "../secrets/secrets.ts";
import type {
  ChannelConfig,
  ChannelKind,
  ConfigField,
  ConfigValue,
} from "./channels/kinds/kind.ts";
import { TEMPLATE_MAX } from "./template.ts";

/** Fields of a config in a request; `null` removes a field. */
export type ConfigChange = Record<string, ConfigValue | null | undefined>;

const LIST_MAX = 50;
const NUMBER_MAX = 2 ** 31;

/**
 * Merges a change into the stored config. A field that is missing, or a secret that is redacted,
 * keeps its value.
 *
 * @param stored The current config of the same kind; `undefined` for a new channel.
 * @throws {AppError} `invalid` for a field that is missing, unknown or not valid, and for a secret
 * that would be sent to another address than before.
 */
export async function mergeConfig(
  deps: Pick<Deps, "config">,
  kind: Pick<ChannelKind, "fields" | "id" | "problem">,
  change: ConfigChange,
  stored: ChannelConfig | undefined,
): Promise<ChannelConfig> {
  const unknown = Object.keys(change).find((name) => !Object.hasOwn(kind.fields, name));
  if (unknown !== undefined) {
    const names = Object.keys(kind.fields).join(", ");
    throw invalid(unknown.slice(0, 100), `not a field of ${kind.id}, which has ${names}`);
  }
  const config: ChannelConfig = {};
  const kept: string[] = [];
  const isMoved = stored !== undefined && movesAddress(kind, change, stored);
  for (const [name, field] of Object.entries(kind.fields)) {
    const given = change[name];
    const before = stored?.[name];
    if (field.type === "headers" && given !== null && (given ?? before) !== undefined) {
      if (given !== undefined && (typeof given !== "object" || Array.isArray(given))) {
        throw invalid(name, "must be an object of names and texts");
      }
      config[name] = checkedHeaders(given, {
        stored: (before ?? {}) as Record<string, string>,
        elsewhere: isMoved,
      });
      continue;
    }
    const isKept = given === undefined || isRedacted(given);
    const value = isKept ? before : given;
    if (isRedacted(given) && value === undefined) {
      throw invalid(name, NOTHING_STORED);
    }
    if (value === undefined || value === null) {
      if (!field.isOptional) throw invalid(name, `required for ${kind.id}`);
      continue;
    }
    const problem = field.isSecret && isPartlyRedacted(value)
      ? PARTLY_REDACTED
      : problemOf(field, value);
    if (problem !== undefined) throw invalid(name, problem);
    if (!isKept) await assertReachable(deps, field, String(value), `body.config.${name}`);
    config[name] = value;
    if (isKept && field.isSecret) kept.push(name);
  }
  if (isMoved && kept[0] !== undefined) throw invalid(kept[0], GIVE_AGAIN);
  const problem = kind.problem?.(config);
  if (problem !== undefined) throw new AppError("invalid", `body.config: ${problem}`);
  return config;
}

/** @throws {AppError} `invalid` if the service may not connect to the address. */
async function assertReachable(
  deps: Pick<Deps, "config">,
  { type }: ConfigField,
  value: string,
  field: string,
): Promise<void> {
  if (type === "address") await assertOutboundUrl(deps, value, "internal", field);
  if (type === "mailServer") {
    await assertOutboundHost(deps, new URL(value).hostname, "internal", field);
  }
}

/** Replaces the secrets. */
export function redactConfig(kind: ChannelKind, config: ChannelConfig): ChannelConfig {
  return Object.fromEntries(
    Object.entries(config).map(([name, value]) => {
      const field = kind.fields[name];
      if (field?.type === "headers") {
        return [name, redactedHeaders(value as Record<string, string>)];
      }
      return [name, field?.isSecret ? REDACTED : value];
    }),
  );
}

export const hasSecret = (kind: ChannelKind, config: ChannelConfig): boolean =>
  Object.keys(config).some((name) => kind.fields[name]?.isSecret);

export function sealConfig(secrets: Secrets, id: string, config: ChannelConfig): string {
  return secrets.seal(JSON.stringify(config), purpose(id));
}

/** Begins what the migration `0036_chat_view` moved, which is sealed for its former table. */
const MOVED = "chat ";

/** @throws {SealError} */
export function openConfig(
  secrets: Secrets,
  { id, sealed }: Pick<StoredNotificationChannel, "id" | "sealed">,
): ChannelConfig {
  if (!sealed.startsWith(MOVED)) return JSON.parse(secrets.open(sealed, purpose(id)));
  const moved = JSON.parse(secrets.open(sealed.slice(MOVED.length), `chat channel ${id}`));
  const { bot_token: botToken, chat_id: chatId, webhook_url: url, api_url: apiUrl } = moved;
  return definedFields({ botToken, chatId, url, apiUrl });
}

/** Whether an address changes; without one, messages go to that of the vendor. */
const movesAddress = (
  { fields }: Pick<ChannelKind, "fields">,
  change: ConfigChange,
  stored: ChannelConfig,
): boolean =>
  Object.entries(fields).some(([name, { type }]) => {
    const given = change[name];
    if (type !== "address" || given === undefined || isRedacted(given)) return false;
    const [before, now] = [String(stored[name] ?? ""), String(given ?? "")];
    return before !== now && isElsewhere(before, now);
  });

const isRedacted = (value: unknown) => value === REDACTED;

function problemOf(
  { type, pattern, options }: ConfigField,
  value: ConfigValue,
): string | undefined {
  if (options) {
    return options.some((option) => option === value)
      ? undefined
      : `must be one of ${options.join(", ")}`;
  }
  if (type === "number") {
    const isValid = typeof value === "number" && Number.isInteger(value) && value >= 0 &&
      value < NUMBER_MAX;
    return isValid ? undefined : "must be a whole number, at least 0";
  }
  if (type === "list") {
    if (!Array.isArray(value) || value.length === 0 || value.length > LIST_MAX) {
      return `must be a list with 1 to ${LIST_MAX} texts`;
    }
    return value.map((each) => textProblem(each, OUTBOUND_URL_MAX, pattern)).find(Boolean);
  }
  return textProblem(value, type === "template" ? TEMPLATE_MAX : OUTBOUND_URL_MAX, pattern);
}

function textProblem(
  value: ConfigValue,
  max: number,
  pattern: ConfigField["pattern"],
): string | undefined {
  if (typeof value !== "string" || value === "" || value.length > max) {
    return `must be a text with 1 to ${max} characters`;
  }
  return pattern && !pattern[0].test(value) ? pattern[1] : undefined;
}

const invalid = (field: string, problem: string) =>
  new AppError("invalid", `body.config.${field}: ${problem}`);

const purpose = (id: string) => `notification channel ${id}`;
