/** The job that stores the snapshot of another host: its request and its result. @module */

import type { Stored } from "../../backup/trees/store.ts";
import type { JobRun } from "../../jobs/kind.ts";

/** Its kind. */
export const RECEIVE = "backup.receive";

export interface ReceiveInput {
  /** Id at the other host, or the beginning of it. */
  snapshot: string;
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
