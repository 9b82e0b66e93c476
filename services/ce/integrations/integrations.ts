/**
 * Integrations: other systems that are asked for metrics, alerts and events.
 *
 * @module
 */

import {
  type IntegrationPoll,
  selectIntegrationPoll,
  selectIntegrationPolls,
  updateIntegrationFailuresForgotten,
} from "../../../db/ce/integration_polls.ts";
import {
  countIntegrations,
  deleteIntegration,
  insertIntegration,
  type Integration,
  selectIntegration,
  selectIntegrations,
  updateIntegration,
} from "../../../db/ce/integrations.ts";
import type { Deps } from "../../deps.ts";
import { type Edition, editionName, includesEdition } from "../../license/edition.ts";
import { AppError, InputError, LimitError, notFound } from "../../errors.ts";
import {
  type Adapter,
  type AdapterConfig,
  findAdapter,
  type LoadedAdapter,
} from "../../integration/adapter.ts";
import { assertBelowLimit } from "../../license/limits.ts";
import { assertOutboundUrl } from "../../outbound/url.ts";
import { GIVE_AGAIN, isElsewhere } from "../../redact.ts";
import { SealError } from "../../secrets.ts";
import {
  type ConfigSecrets,
  joinConfig,
  keepSecrets,
  splitConfig,
  splitStoredUrls,
} from "./config.ts";
import { forgetIntegrationData } from "./data.ts";

/** How often an integration can be polled, in seconds. */
export const POLL_INTERVAL = { min: 10, max: 86_400, fallback: 60 };

export interface NewIntegration {
  /** Id or alias. */
  adapter: string;
  name: string;
  config: AdapterConfig;
  pollInterval: number;
  enabled: boolean;
}

/** An integration as shown, with how its last poll went. */
export interface IntegrationView extends Omit<Integration, "secrets"> {
  lastPollAt: string | null;
  lastStatus: "ok" | "error" | "never";
  lastError: string | null;
}

/** An adapter as shown. */
export interface AdapterView {
  id: string;
  name: string;
  edition: Edition;
  /** Whether the license in force has it. */
  available: boolean;
  config: LoadedAdapter["fields"];
}

/** What can be integrated, also what needs another edition. */
export async function listAdapters(
  { adapters, license }: Pick<Deps, "adapters" | "license">,
): Promise<AdapterView[]> {
  return await Promise.all(adapters.map(async ({ id, name, edition, load }) => ({
    id,
    name,
    edition,
    available: includesEdition(license.edition, edition),
    config: (await load()).fields,
  })));
}

/** All integrations, newest first. */
export function listIntegrations({ db, metrics }: Pick<Deps, "db" | "metrics">): IntegrationView[] {
  const polls = new Map(selectIntegrationPolls(metrics).map((poll) => [poll.integrationId, poll]));
  return selectIntegrations(db).map((each) => viewOf(each, polls.get(each.id)));
}

/** @throws {AppError} `not_found` for an unknown id. */
export function getIntegration(
  { db, metrics }: Pick<Deps, "db" | "metrics">,
  id: string,
): IntegrationView {
  return viewOf(existingIntegration(db, id), selectIntegrationPoll(metrics, id));
}

type WriteDeps = Pick<
  Deps,
  "adapters" | "config" | "db" | "metrics" | "license" | "polls" | "secrets" | "now" | "log"
>;

/**
 * Stores a new integration. The poller asks it within a second or two.
 *
 * @throws {AppError} `invalid` for an unknown adapter, a config that is not its own, and an address
 * that may not be reached.
 * @throws {LimitError} When the edition lacks the adapter or allows no more integrations.
 */
export async function createIntegration(
  deps: WriteDeps,
  { adapter: adapterId, config, ...input }: NewIntegration,
): Promise<IntegrationView> {
  const { db, secrets, license, now, log } = deps;
  const adapter = knownAdapter(deps, adapterId);
  assertLicensed(license, adapter);
  const loaded = await adapter.load();
  const whole = await acceptedConfig(deps, loaded, config, undefined);
  // Nothing is waited for from here on, so that two at a time cannot both be the last.
  assertBelowLimit(license, "integrations", countIntegrations(db));

  const id = crypto.randomUUID();
  const at = now().toISOString();
  const integration: Integration = {
    ...input,
    ...sealedConfig(secrets, id, loaded, whole),
    id,
    adapter: adapter.id,
    createdAt: at,
    updatedAt: at,
  };
  insertIntegration(db, integration);
  log.info("integration created", { integrationId: id, adapter: adapter.id });
  return viewOf(integration, undefined);
}

/**
 * Changes an integration. A poll that is under way is given up. Secrets that are sent back redacted
 * stay as they are, unless they would be sent to another adapter's system or to another origin.
 *
 * @throws {AppError} `not_found` for an unknown id; `invalid` as for a new one; `conflict` when
 * another request changes it at the same time.
 * @throws {LimitError} When the edition lacks the adapter that it is changed to.
 */
export async function changeIntegration(
  deps: WriteDeps,
  id: string,
  change: { [Field in keyof NewIntegration]?: NewIntegration[Field] | undefined },
): Promise<IntegrationView> {
  const { db, metrics, polls, secrets, license, now, log } = deps;
  const before = existingIntegration(db, id);
  const adapter = knownAdapter(deps, change.adapter ?? before.adapter);
  const isOther = adapter.id !== before.adapter;
  if (isOther) assertLicensed(license, adapter);
  let sealed: Pick<Integration, "config" | "secrets"> | undefined;
  if (isOther || change.config !== undefined) {
    const loaded = await adapter.load();
    const whole = await acceptedConfig(
      deps,
      loaded,
      change.config ?? before.config,
      isOther ? undefined : before,
      change.config !== undefined,
    );
    sealed = sealedConfig(secrets, id, loaded, whole);
  }

  // Another request may have changed or deleted it while the address was resolved.
  const current = existingIntegration(db, id);
  if (sealed && current.updatedAt !== before.updatedAt) {
    throw new AppError("conflict", "Another request changed the integration at the same time");
  }
  const integration: Integration = {
    ...current,
    name: change.name ?? current.name,
    pollInterval: change.pollInterval ?? current.pollInterval,
    enabled: change.enabled ?? current.enabled,
    ...sealed,
    adapter: adapter.id,
    updatedAt: now().toISOString(),
  };
  updateIntegration(db, integration);
  polls.stop(id);
  updateIntegrationFailuresForgotten(metrics, id);
  log.info("integration changed", { integrationId: id });
  return viewOf(integration, selectIntegrationPoll(metrics, id));
}

/**
 * Deletes an integration with its data, and gives up a poll that is under way.
 *
 * @throws {AppError} `not_found` for an unknown id.
 */
export async function removeIntegration(
  deps: Pick<Deps, "db" | "metrics" | "polls" | "log">,
  id: string,
): Promise<void> {
  if (!deleteIntegration(deps.db, id)) throw notFound("Integration", id);
  deps.polls.stop(id);
  deps.log.info("integration deleted", { integrationId: id });
  await forgetIntegrationData(deps, id);
}

/** @throws {AppError} `not_found` for an unknown id. */
export function existingIntegration(db: Deps["db"], id: string): Integration {
  const integration = selectIntegration(db, id);
  if (!integration) throw notFound("Integration", id);
  return integration;
}

/**
 * The adapter of an integration and its config with all secrets, for use and not for showing.
 *
 * @throws {AppError} `invalid` when this version cannot use what is stored.
 * @throws {SealError} When the secrets cannot be decrypted.
 */
export async function usableConfig(
  deps: Pick<Deps, "adapters" | "secrets">,
  integration: Integration,
): Promise<{ adapter: LoadedAdapter; config: AdapterConfig }> {
  const adapter = await knownAdapter(deps, integration.adapter).load();
  const whole = joinConfig(integration.config, storedSecrets(deps, integration));
  const parsed = adapter.parse(whole, "config");
  if ("issues" in parsed) throw new InputError(parsed.issues);
  return { adapter, config: parsed.config };
}

/**
 * Decides on a request to create or change an integration before its input is checked.
 *
 * @param adapterId As the request gives it.
 * @param id The integration that is to be changed; the adapter that it has already may stay.
 * @throws {LimitError} When the edition in force lacks the adapter.
 */
export function assertAdapterLicensed(
  { adapters, db, license }: Pick<Deps, "adapters" | "db" | "license">,
  adapterId: unknown,
  id?: string,
): void {
  const adapter = typeof adapterId === "string" ? findAdapter(adapters, adapterId) : undefined;
  if (!adapter || id !== undefined && selectIntegration(db, id)?.adapter === adapter.id) return;
  assertLicensed(license, adapter);
}

/** @throws {LimitError} When the edition in force lacks the adapter. */
export function assertLicensed(license: Deps["license"], { name, edition }: Adapter): void {
  if (!includesEdition(license.edition, edition)) {
    throw new LimitError(`The integration adapter ${name} needs the ${editionName(edition)}`, 0, 0);
  }
}

function knownAdapter({ adapters }: Pick<Deps, "adapters">, id: string): Adapter {
  const adapter = findAdapter(adapters, id);
  if (!adapter) {
    const known = adapters.map((each) => each.id).join(", ");
    throw new AppError("invalid", `body.adapter: must be one of ${known}`);
  }
  return adapter;
}

/**
 * The config with the kept secrets, found to be right, and free of what is not part of it.
 *
 * @param before The integration whose secrets can be kept.
 * @param isGiven Whether the caller sent it; one of another adapter may have fields to drop.
 */
async function acceptedConfig(
  deps: Pick<Deps, "config" | "secrets">,
  adapter: LoadedAdapter,
  given: AdapterConfig,
  before: Integration | undefined,
  isGiven = true,
): Promise<AdapterConfig> {
  const joined = keepSecrets(adapter, given, before ? readableSecrets(deps, before) : {});
  if ("field" in joined) {
    throw new AppError(
      "invalid",
      `body.config.${joined.field}: is redacted, and there is nothing stored that could be kept`,
    );
  }
  const parsed = adapter.parse(joined.config, "body.config");
  const unknown = isGiven ? adapter.findUnknown(given, "body.config") : [];
  const issues = [...unknown, ...("issues" in parsed ? parsed.issues : [])];
  if ("issues" in parsed || issues.length > 0) throw new InputError(issues);
  for (const field of adapter.addresses) {
    const address = parsed.config[field];
    if (typeof address !== "string") continue;
    await assertOutboundUrl(deps, address, "internal", `body.config.${field}`);
  }
  const [kept] = joined.kept;
  if (
    before && kept !== undefined &&
    isElsewhere(adapter.target(before.config), adapter.target(parsed.config))
  ) throw new AppError("invalid", `body.config.${kept}: ${GIVE_AGAIN}`);
  return parsed.config;
}

function sealedConfig(
  secrets: Deps["secrets"],
  id: string,
  adapter: LoadedAdapter,
  config: AdapterConfig,
): Pick<Integration, "config" | "secrets"> {
  const split = splitConfig(adapter, config);
  return {
    config: split.shown,
    secrets: secrets.seal(JSON.stringify(split.secrets), purposeOf(id)),
  };
}

/** Encrypts the secrets in addresses that an earlier version stored in clear. */
export function sealIntegrationUrls(
  deps: Pick<Deps, "db" | "secrets" | "log">,
): void {
  for (const integration of selectIntegrations(deps.db)) {
    const { id } = integration;
    const split = splitStoredUrls(integration.config);
    if (!split) continue;
    try {
      const all = { ...storedSecrets(deps, integration), ...split.secrets };
      const sealed = deps.secrets.seal(JSON.stringify(all), purposeOf(id));
      updateIntegration(deps.db, { ...integration, config: split.shown, secrets: sealed });
      deps.log.info("integration URL encrypted", { integrationId: id });
    } catch (error) {
      // Its other secrets have to be entered again, which seals the address as well.
      if (!(error instanceof SealError)) throw error;
    }
  }
}

function storedSecrets(
  { secrets }: Pick<Deps, "secrets">,
  { id, secrets: sealed }: Integration,
): ConfigSecrets {
  return JSON.parse(secrets.open(sealed, purposeOf(id)));
}

/** None where the key of this installation is another than before: they have to be entered again. */
function readableSecrets(deps: Pick<Deps, "secrets">, integration: Integration): ConfigSecrets {
  try {
    return storedSecrets(deps, integration);
  } catch (error) {
    if (error instanceof SealError) return {};
    throw error;
  }
}

const purposeOf = (id: string) => `integration ${id} config`;

function viewOf(
  { secrets: _, ...integration }: Integration,
  poll: IntegrationPoll | undefined,
): IntegrationView {
  return {
    ...integration,
    lastPollAt: poll?.lastPollAt ?? null,
    lastStatus: poll?.lastStatus ?? "never",
    lastError: poll?.lastError ?? null,
  };
}
