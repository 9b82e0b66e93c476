/**
 * What the Enterprise edition runs in the background, where it writes events down, and its guard.
 * Everything is loaded when it first runs: a service without the license pays nothing for it.
 *
 * @module
 */

import type { GuardSource } from "../guard.ts";
import type { Worker } from "../lifecycle.ts";
import type { Recorder } from "../recorder.ts";

export const enterpriseWorkers: readonly Worker[] = [];

export const enterpriseRecorders: readonly Recorder[] = [];

export const enterpriseGuard: GuardSource = {
  edition: "enterprise",
  load: async () => (await import("./guard.ts")).createGuard,
};
