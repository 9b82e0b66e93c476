/**
 * Events about a swarm that several hosts report, because each is one of its managers. People get each
 * once: from the manager that reports it first, which may be another one for the end than for the
 * beginning. Ids of a swarm's objects are random, so that those of two swarms differ.
 *
 * @module
 */

import type { AppEvent } from "../../events/events.ts";
import { eventKind } from "../../events/kinds/mod.ts";

/** Limit of objects whose last event is known. */
const OBJECTS_MAX = 1_000;

/** Time for which the same event of another manager is a repetition in any case, in milliseconds. */
const SAME_MS = 5 * 60_000;

interface Delivered {
  event: string;
  atMs: number;
  /** `undefined`: this server. */
  hostId: string | undefined;
}

/**
 * Tells whether people were told by the event of another manager.
 *
 * @param isTold Whether people do not get a message about this one here, e.g. because of maintenance.
 */
export type IsRepeated = (event: AppEvent, isTold: boolean) => boolean;

export function createRepeated(isConnected: (hostId: string) => boolean): IsRepeated {
  /** The last event about each object, and its last news of each kind; the oldest is forgotten first. */
  const delivered = new Map<string, Delivered>();

  return ({ event, data, timestamp, host, serverId }, isTold) => {
    const { isShared, phase } = eventKind(event);
    const { id } = data as { id?: string };
    if (!isShared || !id) return false;
    const key = phase === "report" ? `${event} ${id}` : id;
    const hostId = host === undefined ? undefined : serverId;
    const atMs = Date.parse(timestamp);
    const last = delivered.get(key);
    // Each manager reports ends between its beginnings, so that its next event is new.
    if (last && last.hostId !== hostId && isKnown(last)) return true;
    delivered.delete(key);
    if (isTold) return false;
    delivered.set(key, { event, atMs, hostId });
    if (delivered.size > OBJECTS_MAX) delivered.delete(delivered.keys().next().value!);
    return false;

    function isKnown(last: Delivered): boolean {
      const ageMs = atMs - last.atMs;
      if (phase === "report") return Math.abs(ageMs) < SAME_MS;
      // The end that a manager reported can be lost together with it.
      const isHere = last.hostId === undefined || isConnected(last.hostId);
      return ageMs < 0 || event === last.event && (isHere || ageMs < SAME_MS);
    }
  };
}
