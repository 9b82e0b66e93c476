/** Words for severities and statuses of incidents. @module */

import type { IncidentSeverity, IncidentStatus } from "../../../api/types.ts";
import { Badge, State } from "../../../components/states.tsx";
import { capital } from "../../../base/text.ts";

export const SEVERITIES = ["critical", "major", "minor", "info"] as const;
export const STATUSES = ["open", "investigating", "identified", "monitoring", "resolved"] as const;

const SEVERITY_TONES = { critical: "bad", major: "warn", minor: "idle", info: "idle" } as const;

const STATUS_TONES = {
  open: "bad",
  investigating: "warn",
  identified: "warn",
  monitoring: "busy",
  resolved: "good",
} as const;

export function Severity({ severity }: { severity: IncidentSeverity }) {
  return <Badge tone={SEVERITY_TONES[severity]}>{capital(severity)}</Badge>;
}

export function Status({ status }: { status: IncidentStatus }) {
  return <State state={status} tone={STATUS_TONES[status]} />;
}
