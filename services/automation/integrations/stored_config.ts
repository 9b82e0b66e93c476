/**
 * The config of an integration: checked, stored with its secrets encrypted, and opened for polls.
 *
 * @module
 */

import type { Integration } from "../../../db/integrations.ts";
import type { Deps } from "../../deps.ts";
import { AppError, InputError } from "../../errors.ts";
import type { AdapterConfig, LoadedAdapter } from "./adapter.ts";
import { assertOutboundUrl } from "../../outbound/url.ts";
import { GIVE_AGAIN, isElsewhere } from "../../text/redact.ts";
import { openIfPossible } from "../../secrets/secrets.ts";
import { type ConfigSecrets, joinConfig, restoreSecrets, splitConfig } from "./config.ts";
import { findKnownAdapter } from "./licensed_adapters.ts";

/**
 * Loads the adapter of an integration and its config with all secrets.
 *
 * @throws {AppError} `invalid` if this version does not support the stored config.
 * @throws {SealError} If the secrets cannot be decrypted.
 */
export async function openConfig(
  deps: Pick<Deps, "adapters" | "secrets">,
  integration: Integration,
): Promise<{ adapter: LoadedAdapter; config: AdapterConfig }> {
  const adapter = await findKnownAdapter(deps, integration.adapter).load();
  const complete = joinConfig(integration.config, openSecrets(deps, integration));
  const parsed = adapter.parse(complete, "config");
  if ("issues" in parsed) throw new InputError(parsed.issues);
  return { adapter, config: parsed.config };
}

/**
 * Restores redacted secrets and validates the config.
 *
 * @param before The integration whose secrets can be kept.
 * @param isGiven Whether the request contains the config. A config that is taken over from another
 * adapter may have unknown fields, which are dropped.
 */
export async function checkConfig(
  deps: Pick<Deps, "config" | "secrets">,
  adapter: LoadedAdapter,
  given: AdapterConfig,
  before: Integration | undefined,
  isGiven = true,
): Promise<AdapterConfig> {
  const stored = before && openIfPossible(() => openSecrets(deps, before));
  const result = restoreSecrets(adapter, given, stored ?? {});
  if ("missing" in result) {
    throw new AppError(
      "invalid",
      `body.config.${result.missing}: is redacted, but no value is stored`,
    );
  }
  const parsed = adapter.parse(result.config, "body.config", { refusesUnknown: isGiven });
  if ("issues" in parsed) throw new InputError(parsed.issues);
  for (const field of adapter.addresses) {
    const address = parsed.config[field];
    if (typeof address !== "string") continue;
    await assertOutboundUrl(deps, address, "internal", `body.config.${field}`);
  }
  const [restored] = result.restored;
  if (
    before && restored !== undefined &&
    isElsewhere(adapter.target(before.config), adapter.target(parsed.config))
  ) throw new AppError("invalid", `body.config.${restored}: ${GIVE_AGAIN}`);
  return parsed.config;
}

/** Splits a complete config into what is shown and its encrypted secrets. */
export function sealConfig(
  secrets: Deps["secrets"],
  id: string,
  adapter: LoadedAdapter,
  config: AdapterConfig,
): Pick<Integration, "config" | "secrets"> {
  const split = splitConfig(adapter, config);
  return {
    config: split.redacted,
    secrets: secrets.seal(JSON.stringify(split.secrets), purposeOf(id)),
  };
}

function openSecrets(
  { secrets }: Pick<Deps, "secrets">,
  { id, secrets: sealed }: Integration,
): ConfigSecrets {
  return JSON.parse(secrets.open(sealed, purposeOf(id)));
}

const purposeOf = (id: string) => `integration ${id} config`;
