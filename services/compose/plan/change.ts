/** One change of a plan. @module */

import type { Reason } from "./differences.ts";

export interface PlannedChange {
  kind: "service" | "network" | "volume";
  /** The key in the project; of an orphan, the service of its containers. */
  name: string;
  action: "create" | "recreate" | "start" | "remove" | "none";
  reasons: Reason[];
}

export const serviceChange = (
  name: string,
  action: PlannedChange["action"],
  reasons: Reason[] = [],
): PlannedChange => ({ kind: "service", name, action, reasons });
