/** The jobs that look for stacks of other programs, and take them over. @module */

import type { Deps } from "../deps.ts";
import { failInterrupted, type JobRun, type NamedJobKind } from "../jobs/kind.ts";
import type { TakeoverInput, TakeoverResult } from "./request.ts";

/** Counts only: the report itself is in memory. */
export interface ScanResult {
  stacks: number;
  /** Stacks whose plan changes nothing. */
  unchanged: number;
  directories: number;
}

const COMMON = {
  group: "Takeover",
  targetType: "host",
  role: "admin",
  permission: "stacks:write",
} as const;

/** Two jobs with the same target do not run at the same time. */
export const SCAN_TARGET = "takeover scan";
export const TAKEOVER_TARGET = "takeover";

export const scanKind: NamedJobKind<Record<string, never>, ScanResult> = {
  id: "takeover.scan",
  title: "Scan for stacks",
  running: "Scanning the host for stacks",
  steps: { scan: "Read and plan" },
  ...COMMON,
  run: scan,
  recover: failInterrupted,
};

export const takeoverKind: NamedJobKind<TakeoverInput, TakeoverResult> = {
  id: "takeover.store",
  title: "Takeover",
  running: "Taking over stacks",
  steps: { store: "Read, plan and store" },
  ...COMMON,
  run: takeOver,
  // Stacks that were stored before stay so, and are refused the second time.
  recover: takeOver,
};

async function scan(deps: Deps, { signal, progress, step }: JobRun): Promise<ScanResult> {
  return await step("scan", async () => {
    const { scan } = await import("./scan.ts");
    const { stacks, directories } = await scan(deps, {
      signal,
      onProgress: ({ done, total, stack }) => progress({ current: done, total, message: stack }),
    });
    return {
      stacks: stacks.length,
      unchanged: stacks.filter(({ plan }) => plan?.changesNothing).length,
      directories: directories.length,
    };
  });
}

/** Loaded on first use: the interruption of a takeover is rare. */
async function takeOver(deps: Deps, job: JobRun<TakeoverInput>): Promise<TakeoverResult> {
  return await (await import("./take.ts")).takeStacks(deps, job);
}
