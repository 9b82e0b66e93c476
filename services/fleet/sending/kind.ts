/** The job that sends a snapshot to a host of this hub. @module */

import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { JobRun, NamedJobKind } from "../../jobs/kind.ts";
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

export const sendKind: NamedJobKind<SendInput, SendResult, JobUser> = {
  id: "backup.send",
  group: "Backups",
  title: "Send",
  running: "Sending {target}",
  steps: { send: "Send", restore: "Start the restore", verify: "Restore and verify" },
  unit: "bytes",
  isListed: true,
  targetType: "host",
  role: "admin",
  permission: "backup:write",
  async run(deps: Deps, job) {
    return await (await import("./send.ts")).sendSnapshot(deps, job);
  },
  // The rights of its user are not stored.
  recover(_deps, { hasBegun, input: { host } }) {
    const advice = hasBegun("restore")
      ? `host ${host.name} goes on with its restore, see its jobs`
      : "send the snapshot again: what has arrived is reused";
    throw new AppError("unavailable", `The service stopped before the job had finished; ${advice}`);
  },
};
