/** The worker that loads the license file again after it was added, replaced or removed. @module */

import type { Deps } from "../../deps.ts";
import { licenseFileState, loadLicense } from "./source.ts";
import type { Worker } from "../../lifecycle.ts";
import { every } from "../../waiting.ts";

const ROUND_MS = 10_000;

export const licenseWatcher: Worker = {
  name: "license watcher",
  edition: "ce",
  async run(deps, signal, round) {
    let state = "";
    for await (const _ of every(ROUND_MS, signal)) {
      state = await reloadLicense(deps, state);
      round();
    }
  },
};

/**
 * Loads the license if its file has changed. A license from the environment stays in effect.
 *
 * @param before The result of the previous call.
 * @returns The state of the file; empty without a file.
 */
export async function reloadLicense(
  { config, license, log }: Pick<Deps, "config" | "license" | "log">,
  before: string,
): Promise<string> {
  const state = licenseFileState(config);
  // A file that was added and removed between two rounds has left its license in effect.
  const isOrphan = state === "" && license.grant !== undefined;
  if ((state !== before || isOrphan) && config.licenseKey === null) {
    await loadLicense(license, config, log);
  }
  // Stores the end of the edition when it happens, not at the first request after it.
  license.protectedUntil();
  return state;
}
