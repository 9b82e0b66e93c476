/**
 * Metrics of the databases: record counts and file sizes.
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

export function recordFamilies(
  deps: Pick<Deps, "counts" | "db" | "license" | "metrics">,
): Family[] {
  const { db, metrics } = deps;
  const sizes = { state: selectFileSize(db), metrics: selectFileSize(metrics) };
  const { usage, limits } = describeEdition(deps);
  const rules = selectAlertRules(db);
  const countRules = (state: string) => rules.filter((rule) => rule.state === state).length;
  return [
    gauge("longshore_users", "Users that can log in", usage.users ?? 0),
    gauge(
      "longshore_records",
      "Records of kinds that an edition can limit",
      by("resource", usage),
    ),
    gauge(
      "longshore_records_limit",
      "Limit of records in the current edition; missing if unlimited",
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
      by("state", Object.fromEntries(ALERT_STATES.map((state) => [state, countRules(state)]))),
    ),
    gauge(
      "longshore_outbox_messages",
      "Messages waiting for delivery",
      countQueuedMessages(db),
    ),
    counter(
      "longshore_audit_entries_total",
      "Writes recorded in the audit log",
      countAuditEntriesEver(db),
    ),
    gauge(
      "longshore_database_size_bytes",
      "Size of the database file",
      by("database", { state: sizes.state.bytes, metrics: sizes.metrics.bytes }),
    ),
    gauge(
      "longshore_database_free_bytes",
      "Free space in the database file",
      by("database", { state: sizes.state.freeBytes, metrics: sizes.metrics.freeBytes }),
    ),
  ];
}
