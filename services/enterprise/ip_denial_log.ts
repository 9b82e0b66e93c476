/**
 * Logging refused addresses: enough lines to see who was refused, but not so many that a stranger
 * could fill the disk.
 *
 * @module
 */

import type { StateDatabase } from "../../db/database.ts";
import { addressGroup } from "../address_group.ts";
import type { Deps } from "../deps.ts";

const WINDOW_MS = 60_000;

/** Most lines a minute about one client. */
const LINES_OF_GROUP_MAX = 10;

/** Most lines a minute about all clients. It also limits how many are remembered. */
const LINES_MAX = 300;

/** What was logged in the current minute. */
interface Window {
  startedAtMs: number;
  lines: number;
  byGroup: Map<string, number>;
}

const windows = new WeakMap<StateDatabase, Window>();

/** Writes a line, unless there were enough in this minute. */
export function logDenial(
  { db, log, now }: Pick<Deps, "db" | "log" | "now">,
  address: string,
  userId: string | undefined,
): void {
  const atMs = now().getTime();
  let window = windows.get(db);
  if (!window || Math.abs(atMs - window.startedAtMs) >= WINDOW_MS) {
    windows.set(db, window = { startedAtMs: atMs, lines: 0, byGroup: new Map() });
  }
  const group = addressGroup(address);
  const before = window.byGroup.get(group) ?? 0;
  if (before >= LINES_OF_GROUP_MAX || window.lines >= LINES_MAX) return;
  window.byGroup.set(group, before + 1);
  window.lines++;
  const isLast = before + 1 === LINES_OF_GROUP_MAX || window.lines === LINES_MAX;
  log.warn("address refused", {
    address,
    ...(userId && { userId }),
    ...(isLast && { note: "more are not logged within this minute" }),
  });
}
