/** An entry of the compliance log: its words, time and target. @module */

import type { ComplianceEntry } from "../../../api/types.ts";
import { Text } from "../../../components/states.tsx";
import { Time } from "../../../components/time.tsx";

export const CATEGORIES = [
  "authentication",
  "authorization",
  "configuration",
  "data",
  "container",
  "system",
  "security",
] as const;
export const SEVERITIES = ["info", "warning", "error", "critical"] as const;
export const OUTCOMES = ["success", "failure"] as const;

/** A time of an entry, which is any text if the database was modified. */
export function StoredTime({ at }: { at: string }) {
  return Number.isNaN(Date.parse(at)) ? <Text>{at}</Text> : <Time at={at} />;
}

export const targetOf = (
  { resource_type: type, resource_id: id }: Pick<ComplianceEntry, "resource_type" | "resource_id">,
): string => [type, id].filter((part) => part !== null).join(" ") || "–";
