/** Tags by which snapshots in a repository tell what they are of. @module */

import { nodeOs } from "../../builtins.ts";
import type { Snapshot } from "../restic/snapshot.ts";

/** Reasons for which snapshots are made. */
export const REASONS = ["manual", "schedule", "update", "undo"] as const;
export type Reason = (typeof REASONS)[number];

/** Tag of every snapshot that Longshore makes. */
const OWN = "longshore";

/** Tag of one that another host has sent. */
const RECEIVED = "received";

/** Facts in the tags of a snapshot. */
export interface Tagged {
  isLongshore: boolean;
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
    stack: value("stack"),
    reason: REASONS.find((each) => each === reason) ?? null,
    note: value("note"),
    keptUntil: value("kept-until"),
    isReceived: tags.includes(RECEIVED),
  };
}

type Marked = Pick<Snapshot, "hostname" | "tags">;

/** Whether Longshore has stored a snapshot on this host: it may delete it. */
export const isOfThisHost = ({ hostname, tags }: Marked): boolean =>
  hostname === nodeOs().hostname() && readTags({ tags }).isLongshore;

/** Whether Longshore has made a snapshot on this host, of the host's own data. */
export const isMadeHere = (snapshot: Marked): boolean =>
  isOfThisHost(snapshot) && !readTags(snapshot).isReceived;
