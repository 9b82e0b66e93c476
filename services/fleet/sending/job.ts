/** The job that sends a snapshot to a host of this hub: its request and its result. @module */

import type { JobRun } from "../../jobs/kind.ts";
import type { JobUser } from "./host_requests.ts";

/** A host by its id and its name. */
export interface HostRef {
  id: string;
  name: string;
}

export interface SendInput {
  host: HostRef;
  /** The host that has the snapshot; `null` for this server. */
  from: HostRef | null;
  /** Id. */
  snapshot: string;
  /** Name of the target that it is at. */
  place: string;
  /** Of this server, so that no prune removes what is sent. */
  targetId: string | null;
  /** Of its files, in bytes; `null` if unknown. */
  size: number | null;
  /** Id or name of the target at the host; `null` for its default one. */
  hostTarget: string | null;
  /** Part of it that the host restores; `null` for none. */
  restored: "stack" | "volume" | null;
  /** Name of the restored stack or volume; `null` for the old one. */
  as: string | null;
}

export interface SendResult {
  /** Name of the host. */
  host: string;
  /** Id that the snapshot has there. */
  snapshot: string;
  /** Name of the target there. */
  target: string;
  /** Stored there, in bytes; the rest was there. */
  added: number;
  /** Volumes and directories that were restored; `null` without a restore. */
  restored: string[] | null;
}

export type SendJob = JobRun<SendInput, JobUser>;
