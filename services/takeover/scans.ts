/** The last scan, in memory: what it found, and for which containers it is true. @module */

import type { Container } from "../containers/inventory.ts";
import type { TakeoverReport } from "./report.ts";

export interface TakeoverScans {
  /** The last report, if it is about these containers. */
  find(containers: readonly Container[]): TakeoverReport | undefined;
  store(containers: readonly Container[], report: TakeoverReport): void;
  /** Forgets the report. */
  clear(): void;
}

export function createTakeoverScans(): TakeoverScans {
  let last: { key: string; report: TakeoverReport } | undefined;
  return {
    find: (containers) => last?.key === keyOf(containers) ? last.report : undefined,
    store(containers, report) {
      last = { key: keyOf(containers), report };
    },
    clear() {
      last = undefined;
    },
  };
}

/** A deploy creates containers with other ids; names and labels belong to an id, except for renames. */
const keyOf = (containers: readonly Container[]): string =>
  containers.map(({ id, name, imageId }) => `${id} ${name} ${imageId}`).sort().join("\n");
