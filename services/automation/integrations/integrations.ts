/** Integrations: other systems that are polled for metrics, alerts and events. @module */

import {
  type IntegrationPoll,
  resetIntegrationFailures,
  selectIntegrationPoll,
  selectIntegrationPolls,
} from "../../../db/integration_polls.ts";
import {
  countIntegrations,
  deleteIntegration,
  insertIntegration,
  type Integration,
  selectIntegration,
  selectIntegrations,
  updateIntegration,
} from "../../../db/integrations.ts";
import type { Change } from "../../change.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound, requireFound } from "../../errors.ts";
import type { AdapterConfig } from "./adapter.ts";
import { assertBelowLimit } from "../../access/license/limits.ts";
import { deleteIntegrationData } from "./data.ts";
import { assertLicensed, findKnownAdapter } from "./licensed_adapters.ts";
import { checkConfig, sealConfig } from "./stored_config.ts";

/** Limits and default of the poll interval, in seconds. */
export const POLL_INTERVAL = { min: 10, max: 86_400, fallback: 60 };

interface NewIntegration {
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

/** All integrations, newest first. */
export function listIntegrations({ db, metrics }: Pick<Deps, "db" | "metrics">): IntegrationView[] {
  const polls = new Map(selectIntegrationPolls(metrics).map((poll) => [poll.integrationId, poll]));
  return selectIntegrations(db).map((each) => toIntegration(each, polls.get(each.id)));
}

/** @throws {AppError} `not_found` for an unknown id. */
export function getIntegration(
  { db, metrics }: Pick<Deps, "db" | "metrics">,
  id: string,
): IntegrationView {
  return toIntegration(findIntegration(db, id), selectIntegrationPoll(metrics, id));
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
  return toIntegration(integration, undefined);
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
  return toIntegration(integration, selectIntegrationPoll(metrics, id));
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
  return requireFound(selectIntegration(db, id), "Integration", id);
}

function toIntegration(
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
