/** Events about uptime monitors and SLAs (Pro). @module */

import { duration, joined } from "../text.ts";
import { type Field, kind, type KindSubject } from "./kind.ts";

interface MonitorData {
  monitor: string;
  monitorId: string;
  outageId: string;
  /** Names of the containers that it checks, as far as its address shows them. */
  containers?: string[];
}

const monitor = {
  group: "Uptime",
  permission: "uptime:read",
  page: "/uptime",
  name: (field: Field) => field("monitor"),
  thread: ({ outageId }: MonitorData) => outageId,
  subject: ({ monitorId }: MonitorData): KindSubject => ({
    key: `monitor ${monitorId}`,
    kind: "monitor",
  }),
};

export const uptimeKinds = [
  kind("monitor.down", {
    ...monitor,
    data: {} as MonitorData & { cause: string },
    description: "An uptime monitor reports an outage (Pro)",
    words: "monitor down",
    title: "Monitor down",
    lines: (_, text) => [text("cause")],
    tone: "problem",
    severity: "warning",
    phase: "begin",
  }),
  kind("monitor.up", {
    ...monitor,
    data: {} as MonitorData & { downtimeSeconds: number },
    description: "The outage of an uptime monitor is over (Pro)",
    words: "monitor up",
    title: "Monitor up",
    lines: (field) => [joined("Was down for ", duration(field("downtimeSeconds")))],
    phase: "end",
  }),
  kind("sla.breached", {
    data: {} as {
      sla: string;
      slaId: string;
      periodId: string;
      breachId: string;
      /** Percent of the known time; `null` where too little is known. */
      actualUptime: number | null;
      targetUptime: number;
      downtimeSeconds: number;
    },
    description: "The uptime of a period is below the target of an SLA (Pro)",
    group: "Uptime",
    words: "SLA breached",
    title: "SLA breached",
    name: (field) => field("sla"),
    lines: (field) => [
      joined("Uptime: ", field("actualUptime"), " %"),
      joined("Target: ", field("targetUptime"), " %"),
      joined("Downtime: ", duration(field("downtimeSeconds"))),
    ],
    tone: "problem",
    severity: "warning",
    page: "/sla",
    permission: "sla:read",
  }),
];
