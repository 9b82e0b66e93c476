/**
 * What the log tells of refused addresses: enough to see who was turned away, and too little for a
 * stranger to fill a disk with.
 *
 * @module
 */

import type { StateDatabase } from "../../db/database.ts";
import { addressGroup } from "../address_group.ts";
import type { Deps } from "../deps.ts";

const WINDOW_MS = 60_000;

/** Most lines a minute for one client. */
const LINES_OF_GROUP_MAX = 10;

/** Most lines a minute for all of them; it also bounds what is remembered. */
const LINES_MAX = 300;

interface Window {
  startedAtMs: number;
  lines: number;
  byGroup: Map<string, number>;
}

const windows = new WeakMap<StateDatabase, Window>();

/** Writes a line, unless there were enough of this client or of all in the last minute. */
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
