/**
 * Splits the config of an integration into a redacted part for display and secrets, which are
 * stored encrypted.
 *
 * @module
 */

import type { AdapterConfig, LoadedAdapter } from "./adapter.ts";
import { REDACTED } from "../../text/redact.ts";
import { keepsSecrets, redactedUrl, unredactedUrl } from "../../outbound/url_secrets.ts";

/** A secret, or several by name, e.g. headers. */
type Secret = string | Record<string, string>;

/** The secrets of a config by field. */
export type ConfigSecrets = Record<string, Secret>;

type Sensitive = Pick<LoadedAdapter, "fields" | "addresses">;

/** Separates the secrets from a complete config. */
export function splitConfig(
  { fields, addresses }: Sensitive,
  config: AdapterConfig,
): { redacted: AdapterConfig; secrets: ConfigSecrets } {
  const redacted: AdapterConfig = { ...config };
  const secrets: ConfigSecrets = {};
  for (const field of fields.sensitive) {
    const secret = config[field] as Secret | undefined;
    if (secret === undefined) continue;
    secrets[field] = secret;
    redacted[field] = typeof secret === "string"
      ? REDACTED
      : Object.fromEntries(Object.keys(secret).map((name) => [name, REDACTED]));
  }
  for (const field of addresses) redactUrl(field, redacted, secrets);
  return { redacted, secrets };
}

/** Moves a URL that contains secrets to `secrets` and redacts it in `redacted`. */
function redactUrl(field: string, redacted: AdapterConfig, secrets: ConfigSecrets): void {
  const url = redacted[field];
  if (typeof url !== "string" || redactedUrl(url) === url || keepsSecrets(url)) return;
  secrets[field] = url;
  redacted[field] = redactedUrl(url);
}

/** The complete config. */
export function joinConfig(redacted: AdapterConfig, secrets: ConfigSecrets): AdapterConfig {
  return { ...redacted, ...secrets };
}

/**
 * Replaces redacted values of a new config by the stored secrets.
 *
 * @returns The complete config with the fields that were restored, or the first redacted field
 * without a stored secret.
 */
export function restoreSecrets(
  { fields, addresses }: Sensitive,
  config: AdapterConfig,
  stored: ConfigSecrets,
): { config: AdapterConfig; restored: string[] } | { missing: string } {
  const complete: AdapterConfig = { ...config };
  const restored: string[] = [];
  for (const field of fields.sensitive) {
    const given = config[field];
    const before = Object.hasOwn(stored, field) ? stored[field] : undefined;
    if (given === REDACTED) {
      if (typeof before !== "string") return { missing: field };
      complete[field] = before;
      restored.push(field);
    } else if (typeof given === "object" && given !== null) {
      const values = typeof before === "object" ? before : {};
      const entries = Object.entries(given);
      const missing = entries.find(([name, value]) =>
        value === REDACTED && !Object.hasOwn(values, name)
      );
      if (missing) return { missing: `${field}.${missing[0]}` };
      complete[field] = Object.fromEntries(
        entries.map(([name, value]) => [name, value === REDACTED ? values[name] : value]),
      );
      for (const [name, value] of entries) {
        if (value === REDACTED) restored.push(`${field}.${name}`);
      }
    }
  }
  for (const field of addresses) {
    const given = config[field];
    if (typeof given !== "string" || !keepsSecrets(given)) continue;
    const before = Object.hasOwn(stored, field) ? stored[field] : undefined;
    const url = unredactedUrl(given, typeof before === "string" ? before : undefined);
    if (url === undefined) return { missing: field };
    complete[field] = url;
    restored.push(field);
  }
  return { config: complete, restored };
}
