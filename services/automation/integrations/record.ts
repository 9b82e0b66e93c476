/** Data records of adapters, with limited sizes. @module */

import { nodeCrypto } from "../../builtins.ts";
import type { StoredRecord } from "../../../db/integration_data.ts";

/** Maximum number of records of one poll. */
export const RECORDS_MAX = 1_000;

/** A record of an adapter. `services/automation/integrations/polls.ts` stores it. */
export type AdapterRecord = Omit<StoredRecord, "id" | "integrationId">;

/** Maximum lengths of the texts, in characters. */
const TEXT_MAX = { name: 300, unit: 50, severity: 50, status: 100, detail: 1_000, key: 300 };

/** Maximum number of labels, and lengths of a name, of a value and of all together. */
const LABELS_MAX = 40;
const LABEL_NAME_MAX = 100;
const LABEL_VALUE_MAX = 300;
const LABELS_LENGTH_MAX = 2_000;

/** Maximum clock difference of a system that is ahead, in milliseconds. */
const CLOCK_AHEAD_MAX_MS = 24 * 60 * 60 * 1000;

/** Completes a record and truncates its texts, which come from outside. */
export function dataRecord(
  { now }: { now: Date },
  given:
    & Pick<AdapterRecord, "type" | "name">
    & {
      [Field in Exclude<keyof AdapterRecord, "type" | "name" | "timestamp" | "labels">]?:
        | AdapterRecord[Field]
        | undefined;
    }
    & {
      labels?: Record<string, string | undefined>;
      /** ISO 8601 or Unix seconds; the current time if missing or implausible. */
      at?: string | number | null | undefined;
    },
): AdapterRecord {
  const cut = (text: string | null | undefined, max: number) =>
    text === null || text === undefined || text === "" ? null : cutText(text, max);
  return {
    type: given.type,
    name: cut(given.name, TEXT_MAX.name) ?? "unnamed",
    value: Number.isFinite(given.value) ? given.value! : null,
    unit: cut(given.unit, TEXT_MAX.unit),
    labels: cutLabels(given.labels ?? {}),
    severity: cut(given.severity, TEXT_MAX.severity),
    status: cut(given.status, TEXT_MAX.status),
    detail: cut(given.detail, TEXT_MAX.detail),
    timestamp: timestamp(given.at, now),
    key: given.key === null || given.key === undefined ? null : shortKey(given.key),
    active: given.active ?? false,
  };
}

function timestamp(at: string | number | null | undefined, now: Date): string {
  const atMs = typeof at === "number" ? at * 1000 : Date.parse(at ?? "");
  // Beyond 9999 the year takes another form, which does not sort.
  const plausible = atMs >= 0 && atMs <= now.getTime() + CLOCK_AHEAD_MAX_MS;
  return (plausible ? new Date(atMs) : now).toISOString();
}

/** Keeps the first labels that fit, and drops those without a value. */
function cutLabels(given: Record<string, string | undefined>): Record<string, string> {
  const labels: [string, string][] = [];
  let length = 0;
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const label: [string, string] = [
      cutText(name, LABEL_NAME_MAX),
      cutText(value, LABEL_VALUE_MAX),
    ];
    length += label[0].length + label[1].length;
    if (labels.length === LABELS_MAX || length > LABELS_LENGTH_MAX) break;
    labels.push(label);
  }
  return Object.fromEntries(labels);
}

/** Truncates a text without splitting a surrogate pair, which the database cannot store. */
function cutText(text: string, max: number): string {
  return (text.length > max ? text.slice(0, max - 3) + "..." : text).toWellFormed();
}

/** Truncates a long key and adds a hash to keep it unique. */
function shortKey(key: string): string {
  if (key.length <= TEXT_MAX.key) return key.toWellFormed();
  const hash = nodeCrypto().hash("sha256", key, "base64url").slice(0, 19);
  return `${key.slice(0, TEXT_MAX.key - 20)}#${hash}`.toWellFormed();
}

/** Serializes labels in a fixed order, as part of a key. */
export function labelKey(labels: Record<string, string>): string {
  return JSON.stringify(Object.entries(labels).sort(([a], [b]) => a < b ? -1 : 1));
}
