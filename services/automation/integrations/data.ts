/** Data that integrations collected: reading and retention. @module */

import {
  countIntegrationData,
  type DataRecord,
  type DataType,
  deleteIntegrationDataBefore,
  selectIntegrationData,
} from "../../../db/integration_data.ts";
import { deleteIntegrationPoll, selectIntegrationPolls } from "../../../db/integration_polls.ts";
import { selectIntegration, selectIntegrationIds } from "../../../db/integrations.ts";
import type { Paged } from "../../../db/page.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound } from "../../errors.ts";
import { yieldToEventLoop } from "../../waiting.ts";

export type { DataRecord };
export { DATA_TYPES } from "../../../db/integration_data.ts";

/** Retention period of data, in milliseconds. */
export const DATA_RETENTION_MS = 7 * 24 * 60 * 60 * 1000;

/** Limit of records deleted in one statement. */
const BATCH_SIZE = 2_000;

/** Sorts after every timestamp. */
const END_OF_TIME = "9999-12-31T23:59:59.999Z";

/**
 * Lists the data of an integration, newest first.
 *
 * @param query `since` and `until` are ISO 8601, UTC, and inclusive.
 * @throws {AppError} `not_found` for an unknown id; `invalid` if `since` is after `until`.
 */
export function listIntegrationData(
  { db, metrics }: Pick<Deps, "db" | "metrics">,
  id: string,
  query: {
    type?: DataType | undefined;
    since?: string | undefined;
    until?: string | undefined;
    limit: number;
    offset: number;
  },
): { data: DataRecord[] } & Paged {
  if (!selectIntegration(db, id)) throw notFound("Integration", id);
  const { since = "", until = END_OF_TIME, limit, offset } = query;
  if (since > until) throw new AppError("invalid", "query.since: is after query.until");
  const filter = { type: query.type, since, until };
  return {
    data: selectIntegrationData(metrics, id, { ...filter, limit, offset }),
    total: countIntegrationData(metrics, id, filter),
    limit,
    offset,
  };
}

/** Deletes expired data, and all data of deleted integrations. */
export async function sweepIntegrationData(
  deps: Pick<Deps, "db" | "metrics" | "now">,
): Promise<void> {
  const { db, metrics, now } = deps;
  const before = new Date(now().getTime() - DATA_RETENTION_MS).toISOString();
  const known = new Set(selectIntegrationIds(db));
  for (const { integrationId } of selectIntegrationPolls(metrics)) {
    if (known.has(integrationId)) await deleteData(metrics, integrationId, before);
    else await deleteIntegrationData(deps, integrationId);
  }
}

/**
 * Deletes all data of a deleted integration. The row of its polls is deleted last, so that the
 * sweep finds data left by a crash.
 */
export async function deleteIntegrationData(
  { metrics }: Pick<Deps, "metrics">,
  id: string,
): Promise<void> {
  await deleteData(metrics, id, END_OF_TIME);
  deleteIntegrationPoll(metrics, id);
}

async function deleteData(metrics: Deps["metrics"], id: string, before: string): Promise<void> {
  while (deleteIntegrationDataBefore(metrics, id, before, BATCH_SIZE) === BATCH_SIZE) {
    await yieldToEventLoop();
  }
}
