/**
 * Events about a swarm that several hosts report, because each is one of its managers. People get those of
 * the host that was first, for as long as it is connected. Ids of a swarm's objects are random, so that
 * those of two swarms differ.
 *
 * @module
 */

import type { AppEvent } from "../../events/events.ts";
import { eventKind } from "../../events/kinds/mod.ts";

/** Limit of objects with a problem. */
const OBJECTS_MAX = 1_000;

/** Time for which the same news of another host are a repetition, in milliseconds. */
const NEWS_MS = 5 * 60_000;

interface Report {
  hostId: string;
  atMs: number;
}

/** Tells whether another host has reported the same. */
export type IsRepeated = (event: AppEvent, isConnected: (hostId: string) => boolean) => boolean;

export function createRepeated(): IsRepeated {
  /** The first report about each object, or news of it; the oldest is forgotten first. */
  const reports = new Map<string, Report>();

  return ({ event, data, timestamp, serverId: hostId }, isConnected) => {
    const { group, phase } = eventKind(event);
    const { id } = data as { id?: string };
    if (group !== "Swarm" || !id) return false;
    const isNews = phase === "report";
    const key = isNews ? `${event} ${id}` : id;
    const atMs = Date.parse(timestamp);
    const first = reports.get(key);
    const isOfOther = first && first.hostId !== hostId && isConnected(first.hostId);
    if (isOfOther && (!isNews || Math.abs(atMs - first.atMs) < NEWS_MS)) return true;
    reports.delete(key);
    if (phase === "end") return false;
    reports.set(key, { hostId, atMs });
    if (reports.size > OBJECTS_MAX) reports.delete(reports.keys().next().value!);
    return false;
  };
}
