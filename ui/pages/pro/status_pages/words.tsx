/** Words for statuses on status pages. @module */

import type { StatusPageComponentStatus, StatusPageIncidentStatus } from "../../../api/types.ts";
import { State, Text } from "../../../components/states.tsx";
import { capital } from "../../../base/text.ts";

export const COMPONENT_STATUSES = [
  "operational",
  "degraded_performance",
  "partial_outage",
  "major_outage",
  "under_maintenance",
] as const;

export const INCIDENT_STATUSES = ["investigating", "identified", "monitoring", "resolved"] as const;

export const INCIDENT_SEVERITIES = ["minor", "major", "critical", "maintenance"] as const;

/** E.g. `partial_outage` as `Partial outage`. */
export const words = (value: string): string => capital(value.replaceAll("_", " "));

/** Of the message of an incident or of maintenance. */
export const MESSAGE_HINT = "Shown on the page and sent to its subscribers";

/** A text of several lines in a cell. */
export function OneLine({ children }: { children: string }) {
  return <Text>{children.replaceAll("\n", " ") || "–"}</Text>;
}

const COMPONENT_TONES = {
  operational: "good",
  degraded_performance: "warn",
  partial_outage: "warn",
  major_outage: "bad",
  under_maintenance: "busy",
} as const;

const INCIDENT_TONES = {
  investigating: "bad",
  identified: "warn",
  monitoring: "busy",
  resolved: "good",
} as const;

export function ComponentStatus({ status }: { status: StatusPageComponentStatus }) {
  return <State state={words(status)} tone={COMPONENT_TONES[status]} />;
}

export function IncidentStatus({ status }: { status: StatusPageIncidentStatus }) {
  return <State state={words(status)} tone={INCIDENT_TONES[status]} />;
}
