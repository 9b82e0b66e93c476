/** Daily uptime of components that follow a monitor. @module */

import type { Deps } from "../../deps.ts";
import { clip } from "../uptime/intervals.ts";
import { loadHistory } from "../uptime/history.ts";
import { uptimeShare } from "../uptime/stats.ts";

/** Days shown, including today. */
const UPTIME_DAYS = 90;

const DAY_MS = 24 * 60 * 60 * 1000;

/** Uptime in percent of the known time; `null` while nothing is known. */
export interface ComponentUptime {
  uptime_percent: number | null;
  /** One for each of the last 90 days (UTC), oldest first. */
  days: { date: string; uptime_percent: number | null }[];
}

/** @param nowMs Unix milliseconds. @returns The uptime by monitor ID. */
export function uptimeOfMonitors(
  deps: Pick<Deps, "db" | "metrics">,
  monitorIds: readonly string[],
  nowMs: number,
): Map<string, ComponentUptime> {
  if (monitorIds.length === 0) return new Map();
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const from = today - (UPTIME_DAYS - 1) * DAY_MS;
  const starts = Array.from({ length: UPTIME_DAYS }, (_, n) => from + n * DAY_MS);
  const histories = loadHistory(deps, [...new Set(monitorIds)], new Date(from), new Date(nowMs));
  return new Map([...histories].map(([id, { known, down }]) => [id, {
    uptime_percent: uptimeShare({ known, down }),
    days: starts.map((start) => {
      const day = { start, end: start + DAY_MS };
      return {
        date: new Date(start).toISOString().slice(0, 10),
        uptime_percent: uptimeShare({ known: clip(known, day), down: clip(down, day) }),
      };
    }),
  }]));
}
