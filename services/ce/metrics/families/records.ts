/**
 * What lies in the databases: how much of it, and how large they are.
 *
 * @module
 */

import { ALERT_STATES, selectAlertRules } from "../../../../db/ce/alert_rules.ts";
import { countAuditEntriesEver } from "../../../../db/ce/audit_entries.ts";
import { countQueuedMessages } from "../../../../db/ce/outbox_messages.ts";
import { selectFileSize } from "../../../../db/free_pages.ts";
import type { Deps } from "../../../deps.ts";
import { describeEdition } from "../../edition/edition.ts";
import { by, counter, type Family, gauge } from "./family.ts";

/** Asks the databases a few small questions. */
export function recordFamilies(
  deps: Pick<Deps, "counts" | "db" | "license" | "metrics">,
): Family[] {
  const { db, metrics } = deps;
  const sizes = { state: selectFileSize(db), metrics: selectFileSize(metrics) };
  const { usage, limits } = describeEdition(deps);
  const rules = selectAlertRules(db);
  const rulesIn = (wanted: string) => rules.filter(({ state }) => state === wanted).length;
  return [
    gauge("longshore_users", "Users that can log in", usage.users ?? 0),
    gauge(
      "longshore_records",
      "Records of what the edition may limit",
      by("resource", usage),
    ),
    gauge(
      "longshore_records_limit",
      "Most records that the edition allows; missing where there is no limit",
      by(
        "resource",
        Object.fromEntries(
          Object.entries(limits).flatMap(([resource, limit]) =>
            limit === null ? [] : [[resource, limit]]
          ),
        ),
      ),
    ),
    gauge(
      "longshore_alert_rules",
      "Alert rules by state",
      by("state", Object.fromEntries(ALERT_STATES.map((state) => [state, rulesIn(state)]))),
    ),
    gauge(
      "longshore_outbox_messages",
      "Messages that wait to be delivered",
      countQueuedMessages(db),
    ),
    counter(
      "longshore_audit_entries_total",
      "Writes that were recorded",
      countAuditEntriesEver(db),
    ),
    gauge(
      "longshore_database_size_bytes",
      "Size of the database file",
      by("database", { state: sizes.state.bytes, metrics: sizes.metrics.bytes }),
    ),
    gauge(
      "longshore_database_free_bytes",
      "What of the database file is free for new records",
      by("database", { state: sizes.state.freeBytes, metrics: sizes.metrics.freeBytes }),
    ),
  ];
}
