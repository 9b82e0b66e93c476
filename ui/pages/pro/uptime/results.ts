/**
 * Applies results of checks to what a page has read, so that it sends no request after each check.
 *
 * @module
 */

import { useEffect } from "preact/hooks";
import type { Monitor, MonitorCheck, MonitorCheckPage, MonitorList } from "../../../api/types.ts";
import type { Reading } from "../../../components/reading.ts";
import { type MonitorResult, monitorResults } from "../../../state/live.ts";

/** Checks of a monitor that the service keeps. */
const KEPT_MAX = 10_000;

/** @param apply Returns the same data if the results bring nothing new. */
export function useResults<Data>(
  { data }: Reading<Data>,
  apply: (data: Data, results: readonly MonitorResult[]) => Data,
): void {
  useEffect(() => {
    if (data.value) data.value = apply(data.value, monitorResults.value);
  }, [data.value, monitorResults.value]);
}

export function withLastResult(monitor: Monitor, results: readonly MonitorResult[]): Monitor {
  const last = results.findLast(({ monitor_id: id }) => id === monitor.id);
  if (!last || last.checked_at <= (monitor.last_checked_at ?? "")) return monitor;
  return {
    ...monitor,
    status: last.monitor_status,
    last_checked_at: last.checked_at,
    last_response_time_ms: last.response_time_ms,
    uptime_24h: last.uptime_24h,
  };
}

export function withLastResults(list: MonitorList, results: readonly MonitorResult[]): MonitorList {
  const monitors = list.monitors.map((monitor) => withLastResult(monitor, results));
  return monitors.every((monitor, at) => monitor === list.monitors[at]) ? list : { monitors };
}

/** Puts the new checks of a monitor before the others, which are the newest `limit` ones. */
export function withChecks(
  page: MonitorCheckPage,
  results: readonly MonitorResult[],
  monitorId: string,
): MonitorCheckPage {
  const newest = page.checks[0]?.checked_at ?? "";
  const added: readonly MonitorCheck[] = results.filter((result) =>
    result.monitor_id === monitorId && result.checked_at > newest
  );
  if (added.length === 0) return page;
  return {
    ...page,
    checks: [...added.toReversed(), ...page.checks].slice(0, page.limit),
    total: Math.min(page.total + added.length, KEPT_MAX),
  };
}
