/**
 * Automatic incidents: opened when a monitor goes down or an alert fires, and resolved with it.
 *
 * @module
 */

import { selectAlertEvent } from "../../../db/alert_events.ts";
import { selectAlertRule } from "../../../db/alert_rules.ts";
import {
  insertIncident,
  selectFollowingIncidents,
  selectIncidentFollowing,
  type StoredIncident,
} from "../../../db/pro/incidents.ts";
import { selectOpenOutage } from "../../../db/pro/uptime/outages.ts";
import { selectMonitor } from "../../../db/pro/uptime/monitors.ts";
import type { Deps } from "../../deps.ts";
import { emit, type EmitDeps } from "../../events/emit.ts";
import type { NewEvent } from "../../events/events.ts";
import type { Recorder, RecorderDeps } from "../../events/recorder.ts";
import {
  insertEntry,
  newIncident,
  storeStatusChange,
  SYSTEM_AUTHOR,
  toIncidentData,
  withStatus,
} from "./incidents.ts";

/** Limits of texts copied from a monitor or rule, in characters. */
const TITLE_MAX = 200;
const DESCRIPTION_MAX = 2_000;

/**
 * Opens and resolves incidents in the transaction of the causing event, so that each outage or
 * alert has exactly one incident. Maintenance pauses notifications, not incidents.
 */
export const incidentRecorder: Recorder = {
  edition: "pro",
  record(deps, event) {
    switch (event.event) {
      case "monitor.down": {
        const { monitor, monitorId, outageId, cause } = event.data;
        if (!selectMonitor(deps.db, monitorId)?.autoIncident) return;
        return openIncident(deps, {
          title: `${monitor} is down`,
          description: cause,
          source: "monitor",
          source_id: monitorId,
          cause_id: outageId,
        });
      }
      case "alert.fired": {
        const { container, rule, ruleId, alertId, message } = event.data;
        if (!selectAlertRule(deps.db, ruleId)?.autoIncident) return;
        return openIncident(deps, {
          title: container === undefined ? rule : `${rule} (${container})`,
          description: message,
          source: "alert",
          source_id: ruleId,
          cause_id: alertId,
        });
      }
      case "monitor.up": {
        const { monitor, outageId, downtimeSeconds } = event.data;
        const incident = selectIncidentFollowing(deps.db, outageId);
        return incident &&
          [resolveIncident(deps, incident, `${monitor} is up again after ${downtimeSeconds} s`)];
      }
      case "alert.resolved": {
        const { alertId, message } = event.data;
        const incident = selectIncidentFollowing(deps.db, alertId);
        return incident && [resolveIncident(deps, incident, message)];
      }
    }
  },
};

/**
 * Resolves incidents whose cause ended without an event: the monitor or rule was deleted, or the
 * cause ended while the license did not include incidents.
 */
export function resolveOrphanedIncidents(deps: EmitDeps): void {
  for (const incident of selectFollowingIncidents(deps.db)) {
    if (hasCause(deps.db, incident)) continue;
    const cause = incident.source === "monitor" ? "outage" : "alert";
    emit(
      deps,
      "incident.resolved",
      toIncidentData(withStatus(deps, incident, "resolved")),
      () => void resolveIncident(deps, incident, `The ${cause} has ended`),
    );
  }
}

function hasCause(db: Deps["db"], { source, source_id, cause_id }: StoredIncident): boolean {
  if (source_id === null || cause_id === null) return false;
  return source === "monitor"
    ? selectOpenOutage(db, source_id)?.id === cause_id
    : selectAlertEvent(db, cause_id)?.resolvedAt === null;
}

function openIncident(
  deps: RecorderDeps,
  { title, description, ...cause }:
    & { description: string }
    & Pick<StoredIncident, "title" | "source" | "source_id" | "cause_id">,
): NewEvent[] {
  const incident = newIncident(deps, {
    ...cause,
    title: title.slice(0, TITLE_MAX),
    severity: "major",
    description: description.slice(0, DESCRIPTION_MAX),
    commander: null,
    created_by: SYSTEM_AUTHOR,
  });
  if (!insertIncident(deps.db, incident)) return [];
  const message = `Incident opened: ${incident.description}`;
  insertEntry(deps, incident, { type: "status_change", message });
  return [{ event: "incident.created", data: toIncidentData(incident) }];
}

/** Must be called in a transaction. */
function resolveIncident(deps: RecorderDeps, before: StoredIncident, message: string): NewEvent {
  const incident = withStatus(deps, before, "resolved");
  const entry = { message: message.slice(0, DESCRIPTION_MAX), author: SYSTEM_AUTHOR };
  storeStatusChange(deps, before, incident, entry);
  return { event: "incident.resolved", data: toIncidentData(incident) };
}
