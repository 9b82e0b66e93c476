/**
 * The config of an integration in two parts: what is shown, and the secrets in it, which are
 * stored encrypted.
 *
 * @module
 */

import type { AdapterConfig, LoadedAdapter } from "../../integration/adapter.ts";
import { REDACTED } from "../../redact.ts";
import { keepsSecrets, redactedUrl, unredactedUrl } from "../../outbound/url_secrets.ts";

/** A secret, or several by name (e.g. headers). */
type Secret = string | Record<string, string>;

/** The secrets of a config by field. */
export type ConfigSecrets = Record<string, Secret>;

type Sensitive = Pick<LoadedAdapter, "fields" | "addresses">;

/** Takes the secrets out of a whole config. */
export function splitConfig(
  { fields, addresses }: Sensitive,
  config: AdapterConfig,
): { shown: AdapterConfig; secrets: ConfigSecrets } {
  const shown: AdapterConfig = { ...config };
  const secrets: ConfigSecrets = {};
  for (const field of fields.sensitive) {
    const secret = config[field] as Secret | undefined;
    if (secret === undefined) continue;
    secrets[field] = secret;
    shown[field] = typeof secret === "string"
      ? REDACTED
      : Object.fromEntries(Object.keys(secret).map((name) => [name, REDACTED]));
  }
  for (const field of addresses) hideUrl(field, shown, secrets);
  return { shown, secrets };
}

/**
 * Takes the secrets out of the addresses of a stored config, whatever its adapter.
 *
 * @returns `undefined` where there are none.
 */
export function splitStoredUrls(
  config: AdapterConfig,
): { shown: AdapterConfig; secrets: ConfigSecrets } | undefined {
  const shown: AdapterConfig = { ...config };
  const secrets: ConfigSecrets = {};
  for (const field of Object.keys(config)) hideUrl(field, shown, secrets);
  return Object.keys(secrets).length === 0 ? undefined : { shown, secrets };
}

/** Moves an address with secrets from what is shown to the secrets. */
function hideUrl(field: string, shown: AdapterConfig, secrets: ConfigSecrets): void {
  const url = shown[field];
  if (typeof url !== "string" || redactedUrl(url) === url || keepsSecrets(url)) return;
  secrets[field] = url;
  shown[field] = redactedUrl(url);
}

/** The whole config again. */
export function joinConfig(shown: AdapterConfig, secrets: ConfigSecrets): AdapterConfig {
  return { ...shown, ...secrets };
}

/**
 * Puts the stored secrets where a config that was sent back says to keep them.
 *
 * @returns The config with the fields that keep something, or the field that keeps what is not
 * there.
 */
export function keepSecrets(
  { fields, addresses }: Sensitive,
  config: AdapterConfig,
  stored: ConfigSecrets,
): { config: AdapterConfig; kept: string[] } | { field: string } {
  const whole: AdapterConfig = { ...config };
  const kept: string[] = [];
  for (const field of fields.sensitive) {
    const given = config[field];
    const before = Object.hasOwn(stored, field) ? stored[field] : undefined;
    if (given === REDACTED) {
      if (typeof before !== "string") return { field };
      whole[field] = before;
      kept.push(field);
    } else if (typeof given === "object" && given !== null) {
      const values = typeof before === "object" ? before : {};
      const entries = Object.entries(given);
      const missing = entries.find(([name, value]) =>
        value === REDACTED && !Object.hasOwn(values, name)
      );
      if (missing) return { field: `${field}.${missing[0]}` };
      whole[field] = Object.fromEntries(
        entries.map(([name, value]) => [name, value === REDACTED ? values[name] : value]),
      );
      for (const [name, value] of entries) if (value === REDACTED) kept.push(`${field}.${name}`);
    }
  }
  for (const field of addresses) {
    const given = config[field];
    if (typeof given !== "string" || !keepsSecrets(given)) continue;
    const before = Object.hasOwn(stored, field) ? stored[field] : undefined;
    const url = unredactedUrl(given, typeof before === "string" ? before : undefined);
    if (url === undefined) return { field };
    whole[field] = url;
    kept.push(field);
  }
  return { config: whole, kept };
}
