/**
 * Integrations: other systems that are polled for metrics, alerts and events.
 *
 * @module
 */

import {
  type IntegrationPoll,
  resetIntegrationFailures,
  selectIntegrationPoll,
  selectIntegrationPolls,
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
import type { Change } from "../../change.ts";
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
import { openIfPossible } from "../../secrets.ts";
import {
  type ConfigSecrets,
  joinConfig,
  restoreSecrets,
  splitConfig,
  splitStoredUrls,
} from "./config.ts";
import { deleteIntegrationData } from "./data.ts";

/** Limits and default of the poll interval, in seconds. */
export const POLL_INTERVAL = { min: 10, max: 86_400, fallback: 60 };

export interface NewIntegration {
  /** Id or alias. */
  adapter: string;
  name: string;
  config: AdapterConfig;
  pollInterval: number;
  enabled: boolean;
}

/** An integration with the result of its last poll. */
export interface IntegrationView extends Omit<Integration, "secrets"> {
  lastPollAt: string | null;
  lastStatus: "ok" | "error" | "never";
  lastError: string | null;
}

/** An adapter in the list of adapters. */
export interface AdapterView {
  id: string;
  name: string;
  edition: Edition;
  /** Whether the current license includes it. */
  available: boolean;
  config: LoadedAdapter["fields"];
}

/** All adapters, including those of other editions. */
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
  return viewOf(findIntegration(db, id), selectIntegrationPoll(metrics, id));
}

type WriteDeps = Pick<
  Deps,
  "adapters" | "config" | "db" | "metrics" | "license" | "polls" | "secrets" | "now" | "log"
>;

/**
 * Stores a new integration. Its first poll follows within two seconds.
 *
 * @throws {AppError} `invalid` for an unknown adapter, an invalid config or a URL that is not
 * allowed.
 * @throws {LimitError} If the edition lacks the adapter or its limit is reached.
 */
export async function createIntegration(
  deps: WriteDeps,
  { adapter: adapterId, config, ...input }: NewIntegration,
): Promise<IntegrationView> {
  const { db, secrets, license, now, log } = deps;
  const adapter = findKnownAdapter(deps, adapterId);
  assertLicensed(license, adapter);
  const loaded = await adapter.load();
  const complete = await checkConfig(deps, loaded, config, undefined);
  // No await from here on, so that concurrent requests cannot exceed the limit.
  assertBelowLimit(license, "integrations", countIntegrations(db));

  const id = crypto.randomUUID();
  const at = now().toISOString();
  const integration: Integration = {
    ...input,
    ...sealConfig(secrets, id, loaded, complete),
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
 * Changes an integration and cancels its running poll. Redacted secrets keep their stored values,
 * unless the adapter or the origin changes.
 *
 * @throws {AppError} `not_found` for an unknown id; `invalid` as for a new integration; `conflict`
 * if another request changes it at the same time.
 * @throws {LimitError} If the edition lacks the new adapter.
 */
export async function changeIntegration(
  deps: WriteDeps,
  id: string,
  change: Change<NewIntegration>,
): Promise<IntegrationView> {
  const { db, metrics, polls, secrets, license, now, log } = deps;
  const before = findIntegration(db, id);
  const adapter = findKnownAdapter(deps, change.adapter ?? before.adapter);
  const isNewAdapter = adapter.id !== before.adapter;
  if (isNewAdapter) assertLicensed(license, adapter);
  let sealed: Pick<Integration, "config" | "secrets"> | undefined;
  if (isNewAdapter || change.config !== undefined) {
    const loaded = await adapter.load();
    const complete = await checkConfig(
      deps,
      loaded,
      change.config ?? before.config,
      isNewAdapter ? undefined : before,
      change.config !== undefined,
    );
    sealed = sealConfig(secrets, id, loaded, complete);
  }

  // Another request may have changed or deleted it during the DNS lookup.
  const current = findIntegration(db, id);
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
  resetIntegrationFailures(metrics, id);
  log.info("integration changed", { integrationId: id });
  return viewOf(integration, selectIntegrationPoll(metrics, id));
}

/**
 * Deletes an integration with its data and cancels its running poll.
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
  await deleteIntegrationData(deps, id);
}

/** @throws {AppError} `not_found` for an unknown id. */
export function findIntegration(db: Deps["db"], id: string): Integration {
  const integration = selectIntegration(db, id);
  if (!integration) throw notFound("Integration", id);
  return integration;
}

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
 * Checks the adapter of a request to create or change an integration, before its input is
 * validated.
 *
 * @param adapterId As given in the request.
 * @param id The integration to change, which may keep its current adapter.
 * @throws {LimitError} If the current edition lacks the adapter.
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

/** @throws {LimitError} If the current edition lacks the adapter. */
export function assertLicensed(license: Deps["license"], { name, edition }: Adapter): void {
  if (!includesEdition(license.edition, edition)) {
    throw new LimitError(`The integration adapter ${name} needs the ${editionName(edition)}`, 0, 0);
  }
}

function findKnownAdapter({ adapters }: Pick<Deps, "adapters">, id: string): Adapter {
  const adapter = findAdapter(adapters, id);
  if (!adapter) {
    const known = adapters.map((each) => each.id).join(", ");
    throw new AppError("invalid", `body.adapter: must be one of ${known}`);
  }
  return adapter;
}

/**
 * Restores redacted secrets and validates the config.
 *
 * @param before The integration whose secrets can be kept.
 * @param isGiven Whether the request contains the config. A config that is taken over from another
 * adapter may have unknown fields, which are dropped.
 */
async function checkConfig(
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
  const parsed = adapter.parse(result.config, "body.config");
  const unknown = isGiven ? adapter.findUnknown(given, "body.config") : [];
  const issues = [...unknown, ...("issues" in parsed ? parsed.issues : [])];
  if ("issues" in parsed || issues.length > 0) throw new InputError(issues);
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

function sealConfig(
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

/** Encrypts secrets in URLs that an earlier version stored in plain text. */
export function sealIntegrationUrls(
  deps: Pick<Deps, "db" | "secrets" | "log">,
): void {
  for (const integration of selectIntegrations(deps.db)) {
    const { id } = integration;
    const split = splitStoredUrls(integration.config);
    const stored = split && openIfPossible(() => openSecrets(deps, integration));
    // If the secrets cannot be opened, they have to be entered again, which encrypts the URL as well.
    if (!stored) continue;
    const sealed = deps.secrets.seal(
      JSON.stringify({ ...stored, ...split.secrets }),
      purposeOf(id),
    );
    updateIntegration(deps.db, { ...integration, config: split.redacted, secrets: sealed });
    deps.log.info("integration URL encrypted", { integrationId: id });
  }
}

function openSecrets(
  { secrets }: Pick<Deps, "secrets">,
  { id, secrets: sealed }: Integration,
): ConfigSecrets {
  return JSON.parse(secrets.open(sealed, purposeOf(id)));
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
