/**
 * Notices a license file that was put in place, replaced or removed while the service runs.
 *
 * @module
 */

import type { Deps } from "../../deps.ts";
import { licenseFileState, loadLicense } from "../../license/source.ts";
import { every, type Worker } from "../../lifecycle.ts";

const ROUND_MS = 10_000;

export const licenseWatcher: Worker = {
  name: "license watcher",
  edition: "ce",
  async run(deps, signal, round) {
    let seen = "";
    for await (const _ of every(ROUND_MS, signal)) {
      seen = await watchLicense(deps, seen);
      round();
    }
  },
};

/**
 * Loads the license if its file is another than when it was `seen`; a license that the environment
 * gives stays.
 *
 * @returns What to call it with the next time; empty stands for no file.
 */
export async function watchLicense(
  { config, license, log }: Pick<Deps, "config" | "license" | "log">,
  seen: string,
): Promise<string> {
  const state = licenseFileState(config);
  // A file that came and went between two looks has left its license in force.
  const isOrphan = state === "" && license.grant !== undefined;
  if ((state !== seen || isOrphan) && config.licenseKey === null) {
    await loadLicense(license, config, log);
  }
  // An end is stored when it happens, not with the first request after it.
  license.protectedUntil();
  return state;
}
