/** Tags by which snapshots in a repository tell what they are of. @module */

import { nodeOs } from "../../builtins.ts";
import type { Deps } from "../../deps.ts";
import type { Snapshot } from "../restic/snapshot.ts";

/** Reasons for which snapshots are made. */
export const REASONS = ["manual", "schedule", "update", "undo"] as const;
export type Reason = (typeof REASONS)[number];

/** Tag of every snapshot that Longshore makes. */
const OWN = "longshore";

/** Tag of one that another host has sent. */
const RECEIVED = "received";

type Server = Pick<Deps, "server">;

/** Tag of all snapshots that a server stores. */
export const serverTag = ({ server }: Server): string => `server=${server.id}`;

/** Facts in the tags of a snapshot. */
export interface Tagged {
  isLongshore: boolean;
  /** Id of the server that has stored it; `null` for one of an earlier version. */
  serverId: string | null;
  stack: string | null;
  reason: Reason | null;
  note: string | null;
  /** Day (UTC) until which no rule removes it. */
  keptUntil: string | null;
  /** Whether another host has made and sent it. */
  isReceived: boolean;
}

export const tagsOf = (
  { stack, reason, note, keptUntil = null, isReceived = false }:
    & Pick<Tagged, "stack" | "reason" | "note">
    & Partial<Pick<Tagged, "keptUntil" | "isReceived">>,
): string[] => [
  OWN,
  ...(stack === null ? [] : [`stack=${stack}`]),
  `reason=${reason}`,
  ...(isReceived ? [RECEIVED] : []),
  ...(keptUntil === null ? [] : [`kept-until=${keptUntil}`]),
  ...(note === null ? [] : [`note=${note.replaceAll(",", ";")}`]),
];

/** Tags of a snapshot that keeps what a restore replaces. */
export const keptTags = (target: string): string[] =>
  tagsOf({ stack: null, reason: "undo", note: `before a restore of ${target}` });

/** Commas separate tags on restic's command line. */
export function readTags({ tags }: Pick<Snapshot, "tags">): Tagged {
  const value = (name: string) =>
    tags.find((tag) => tag.startsWith(`${name}=`))?.slice(name.length + 1) ?? null;
  const reason = value("reason");
  return {
    isLongshore: tags.includes(OWN),
    serverId: value("server"),
    stack: value("stack"),
    reason: REASONS.find((each) => each === reason) ?? null,
    note: value("note"),
    keptUntil: value("kept-until"),
    isReceived: tags.includes(RECEIVED),
  };
}

type Marked = Pick<Snapshot, "hostname" | "tags">;

/**
 * Whether this server has stored a snapshot: it may delete it. A container has another host name each time
 * it is created again, and two hosts can have the same one.
 */
export function isOfThisHost({ server }: Server, { hostname, tags }: Marked): boolean {
  const { isLongshore, serverId } = readTags({ tags });
  if (serverId !== null) return isLongshore && serverId === server.id;
  return isLongshore && hostname === nodeOs().hostname();
}

/** Whether this server has made a snapshot, of its host's own data. */
export const isMadeHere = (deps: Server, snapshot: Marked): boolean =>
  isOfThisHost(deps, snapshot) && !readTags(snapshot).isReceived;
