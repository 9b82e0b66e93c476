/** Volumes on the engine's own disk. @module */

import { findVolume } from "../../../engine/volumes.ts";
import type { Deps } from "../../deps.ts";

/** Whether a volume, also one that is to be created, is in the engine's directory: one with options may be elsewhere. */
export async function isOnEngineDisk(engine: Deps["engine"], name: string): Promise<boolean> {
  const volume = await findVolume(engine, name);
  return !volume || (volume.Driver === "local" && Object.keys(volume.Options ?? {}).length === 0);
}
