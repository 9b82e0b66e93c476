/** Events about incidents (Pro). @module */

import type { Severity } from "../../../db/notification_channels.ts";
import { change, joined } from "../text.ts";
import { type Field, kind, type KindSubject } from "./kind.ts";

/** Data of an incident's events. */
export interface IncidentData {
  id: string;
  title: string;
  severity: string;
  status: string;
  source: string;
}

/** The severity of a message by that of the incident. */
const SEVERITIES: Readonly<Record<string, Severity>> = {
  critical: "critical",
  major: "warning",
  minor: "warning",
  info: "info",
};

const shared = {
  group: "Incidents",
  permission: "incidents:read",
  page: "/incidents",
  name: (field: Field) => field("title"),
  thread: ({ id }: IncidentData) => id,
  subject: ({ id }: IncidentData): KindSubject => ({ key: `incident ${id}`, kind: "incident" }),
};

const open = {
  ...shared,
  severity: "warning",
  severityOf: ({ severity }: IncidentData) => SEVERITIES[severity],
} as const;

export const incidentKinds = [
  kind("incident.created", {
    ...open,
    data: {} as IncidentData,
    description: "An incident was opened (Pro)",
    words: "opened",
    title: "Incident",
    lines: (field) => [
      joined("Severity: ", field("severity")),
      joined("Status: ", field("status")),
    ],
    tone: "problem",
    phase: "begin",
    push: ({ id, title, severity }) => ({
      title: `Incident: ${title}`,
      body: `severity ${severity}`,
      ids: { incidentId: id },
    }),
  }),
  kind("incident.updated", {
    ...open,
    data: {} as IncidentData & { previousStatus: string; message: string | null },
    description: "The status of an incident, or what is known of it, changed (Pro)",
    words: "updated",
    title: "Incident updated",
    lines: (field, text) => [change(field("previousStatus"), field("status")), text("message")],
  }),
  kind("incident.resolved", {
    ...shared,
    data: {} as IncidentData,
    description: "An incident was resolved (Pro)",
    words: "resolved",
    title: "Incident resolved",
    phase: "end",
  }),
];
