/**
 * Incidents that open when a monitor goes down or an alert fires, and are resolved when that is
 * over.
 *
 * @module
 */

import { selectOpenAlertEvent } from "../../../db/ce/alert_events.ts";
import { selectAlertRule } from "../../../db/ce/alert_rules.ts";
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
  AUTOMATIC,
  dataOf,
  inStatus,
  newIncident,
  storeStatusChange,
  writeEntry,
} from "./incidents.ts";

/** Nothing of a monitor or rule that is longer gets into an incident, in characters. */
const TITLE_MAX = 200;
const DESCRIPTION_MAX = 2_000;

/**
 * Goes with the event of the cause, in its transaction: there is neither an outage without its
 * incident nor a second incident of one outage. Maintenance makes no difference, for only what is
 * told of an incident pauses.
 */
export const incidentRecorder: Recorder = {
  edition: "pro",
  record(deps, event) {
    switch (event.event) {
      case "monitor.down": {
        const { monitor, monitorId, outageId, cause } = event.data;
        if (!selectMonitor(deps.db, monitorId)?.autoIncident) return;
        return open(deps, {
          title: `${monitor} is down`,
          description: cause,
          source: "monitor",
          source_id: monitorId,
          cause_id: outageId,
        });
      }
      case "alert.fired": {
        const { rule, ruleId, alertId, message } = event.data;
        if (!selectAlertRule(deps.db, ruleId)?.autoIncident) return;
        return open(deps, {
          title: rule,
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
          [resolve(deps, incident, `${monitor} is up again after ${downtimeSeconds} s`)];
      }
      case "alert.resolved": {
        const { alertId, message } = event.data;
        const incident = selectIncidentFollowing(deps.db, alertId);
        return incident && [resolve(deps, incident, message)];
      }
    }
  },
};

/**
 * Resolves the incidents whose cause ended unnoticed: while the edition had no incidents, or
 * because the monitor is gone.
 */
export function resolveOrphanedIncidents(deps: EmitDeps): void {
  for (const incident of selectFollowingIncidents(deps.db)) {
    if (hasCause(deps.db, incident)) continue;
    const what = incident.source === "monitor" ? "The outage" : "The alert";
    emit(
      deps,
      "incident.resolved",
      dataOf(inStatus(deps, incident, "resolved")),
      () => void resolve(deps, incident, `${what} is over`),
    );
  }
}

function hasCause(db: Deps["db"], { source, source_id, cause_id }: StoredIncident): boolean {
  if (source_id === null) return false;
  const cause = source === "monitor"
    ? selectOpenOutage(db, source_id)
    : selectOpenAlertEvent(db, source_id);
  return cause?.id === cause_id;
}

function open(
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
    created_by: AUTOMATIC,
  });
  if (!insertIncident(deps.db, incident)) return [];
  const message = `Incident opened: ${incident.description}`;
  writeEntry(deps, incident, { type: "status_change", message });
  return [{ event: "incident.created", data: dataOf(incident) }];
}

/** Only inside a transaction. */
function resolve(deps: RecorderDeps, before: StoredIncident, message: string): NewEvent {
  const incident = inStatus(deps, before, "resolved");
  const entry = { message: message.slice(0, DESCRIPTION_MAX), author: AUTOMATIC };
  storeStatusChange(deps, before, incident, entry);
  return { event: "incident.resolved", data: dataOf(incident) };
}
