/** Volumes on the engine's own disk. @module */

import { volumeList } from "../../../engine/volumes.ts";
import type { Deps } from "../../deps.ts";
import type { MountSource } from "../../containers/helper_container.ts";

/**
 * @returns Whether a mount is a volume in the engine's directory, also one that is to be created. One with
 * options may be elsewhere.
 */
export async function engineDiskCheck(
  engine: Deps["engine"],
): Promise<(mount: MountSource) => boolean> {
  const elsewhere = new Set(
    (await volumeList(engine)).flatMap(({ Name, Driver, Options }) =>
      Driver === "local" && Object.keys(Options ?? {}).length === 0 ? [] : Name
    ),
  );
  return ({ type, source }) => type === "volume" && !elsewhere.has(source);
}
