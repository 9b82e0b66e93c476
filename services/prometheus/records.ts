/** Metrics of the databases: record counts and file sizes. @module */

import { ALERT_STATES, selectAlertProgress } from "../../db/alert_progress.ts";
import { selectAlertRules } from "../../db/alert_rules.ts";
import { countAuditEntriesEver } from "../../db/audit_entries.ts";
import { countQueuedMessages } from "../../db/outbox_messages.ts";
import { selectFileSize } from "../../db/free_pages.ts";
import type { Deps } from "../deps.ts";
import { worstState } from "../alerts/rules.ts";
import { describeEdition } from "../access/license/current.ts";
import { backupFamilies } from "./backups.ts";
import { by, type Family, metric } from "./family.ts";

export function recordFamilies(
  deps: Pick<Deps, "counts" | "db" | "inventory" | "license" | "metrics" | "now">,
): Family[] {
  const { db, metrics } = deps;
  const sizes = { state: selectFileSize(db), metrics: selectFileSize(metrics) };
  const { usage, limits } = describeEdition(deps);
  const progress = Map.groupBy(selectAlertProgress(db), ({ ruleId }) => ruleId);
  const states = selectAlertRules(db).map(({ id }) => worstState(progress.get(id) ?? []));
  const countRules = (state: string) => states.filter((each) => each === state).length;
  return [
    metric("longshore_users", "Users that can log in", usage.users ?? 0),
    metric(
      "longshore_records",
      "Records of kinds that an edition can limit",
      by("resource", usage),
    ),
    metric(
      "longshore_records_limit",
      "Limit of records in the current edition; missing if unlimited",
      Object.entries(limits).flatMap(([resource, value]) =>
        value === null ? [] : [{ labels: { resource }, value }]
      ),
    ),
    metric(
      "longshore_alert_rules",
      "Alert rules by state",
      by("state", Object.fromEntries(ALERT_STATES.map((state) => [state, countRules(state)]))),
    ),
    ...backupFamilies(deps),
    metric("longshore_outbox_messages", "Messages waiting for delivery", countQueuedMessages(db)),
    metric(
      "longshore_audit_entries_total",
      "Writes recorded in the audit log",
      countAuditEntriesEver(db),
    ),
    metric(
      "longshore_database_size_bytes",
      "Size of the database file",
      by("database", { state: sizes.state.bytes, metrics: sizes.metrics.bytes }),
    ),
    metric(
      "longshore_database_free_bytes",
      "Free space in the database file",
      by("database", { state: sizes.state.freeBytes, metrics: sizes.metrics.freeBytes }),
    ),
  ];
}
