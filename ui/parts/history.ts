/**
 * Measured values over time: a part that was read once, and the values that arrive meanwhile.
 *
 * @module
 */

import { useRef } from "preact/hooks";

interface Point {
  /** ISO 8601. */
  timestamp: string;
}

/** Adds the latest point to a history, and drops what is older than `seconds`. */
export function useHistory<Latest extends Point>(
  history: readonly Latest[] | undefined,
  latest: Latest | undefined,
  seconds: number,
): readonly Latest[] {
  const added = useRef<{ to: readonly Latest[] | undefined; points: Latest[] }>({
    to: undefined,
    points: [],
  });
  const known = added.current;
  if (known.to !== history) {
    known.to = history;
    const last = history?.at(-1)?.timestamp ?? "";
    known.points = known.points.filter(({ timestamp }) => timestamp > last);
  }
  const newest = known.points.at(-1) ?? history?.at(-1);
  if (latest && (!newest || latest.timestamp > newest.timestamp)) {
    known.points = [...known.points, latest];
  }
  const from = new Date(Date.now() - seconds * 1000).toISOString();
  return [...history ?? [], ...known.points].filter(({ timestamp }) => timestamp >= from);
}

export const RANGES = [
  { value: "15m", name: "15 minutes", seconds: 900 },
  { value: "1h", name: "1 hour", seconds: 3_600 },
  { value: "24h", name: "24 hours", seconds: 86_400 },
  { value: "7d", name: "7 days", seconds: 604_800 },
  { value: "30d", name: "30 days", seconds: 2_592_000 },
] as const;
