/** The job that stores the snapshot of another host. @module */

import type { Stored } from "../../backup/trees/store.ts";
import { failInterrupted, type JobRun, type NamedJobKind } from "../../jobs/kind.ts";

export interface ReceiveInput {
  targetId: string;
  /** Name of the target. */
  place: string;
  /** Of its files, in bytes; `null` if unknown. */
  size: number | null;
}

/** An archive that arrives. */
export interface Arriving {
  content: ReadableStream<Uint8Array>;
  /** Aborts when the client disconnects. */
  disconnected: AbortSignal;
}

export interface ReceivedSnapshot extends Stored {
  /** Name of the target. */
  target: string;
}

export type ReceiveJob = JobRun<ReceiveInput, Arriving>;

export const receiveKind: NamedJobKind<ReceiveInput, ReceivedSnapshot, Arriving> = {
  id: "backup.receive",
  group: "Backups",
  title: "Receive",
  running: "Receiving {target}",
  steps: { store: "Receive and store" },
  unit: "bytes",
  isListed: true,
  targetType: "host",
  role: "admin",
  permission: "backup:write",
  async run(deps, job) {
    return await (await import("./store.ts")).storeArchive(deps, job);
  },
  recover: failInterrupted,
};
