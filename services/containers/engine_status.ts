/** Whether the engine is reachable, and its version, from memory. @module */

import type { Engine } from "../../engine/client.ts";
import { RefusedCallError } from "../../engine/errors.ts";
import { systemVersion } from "../../engine/system.ts";
import { withDeadline } from "../deadline.ts";

/** The versions are `null` while the engine is unreachable. */
export interface EngineStatus {
  reachable: boolean;
  version: string | null;
  apiVersion: string | null;
}

/** Time after which a version is read again, in milliseconds. */
const VERSION_FRESH_MS = 60_000;

/** Longest wait for the first version, in milliseconds. */
const VERSION_WAIT_MS = 500;

export type EngineStatusReader = ReturnType<typeof createEngineStatusReader>;

export function createEngineStatusReader(engine: Engine, now: () => Date) {
  let version: string | null = null;
  let readAt = 0;
  let reading: Promise<void> | undefined;

  const refresh = async () => {
    try {
      version = (await systemVersion(engine)).Version;
      readAt = now().getTime();
    } catch (error) {
      // Otherwise the engine was lost, which the next read reports.
      if (error instanceof RefusedCallError) readAt = now().getTime();
    }
  };

  return {
    /** Waits for the engine only until its version is known, and at most half a second. */
    async read(): Promise<EngineStatus> {
      if (!engine.reachable) return { reachable: false, version: null, apiVersion: null };
      if (now().getTime() - readAt >= VERSION_FRESH_MS) {
        reading ??= refresh().finally(() => reading = undefined);
        if (version === null) await withDeadline(reading, VERSION_WAIT_MS);
      }
      return { reachable: true, version, apiVersion: engine.apiVersion ?? null };
    },
  };
}
