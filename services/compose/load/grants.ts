/** Files of configs and secrets in a container. @module */

import { byKind, object } from "./collections.ts";
import { fileMode, name, parsed, textOrNumber } from "./scalars.ts";
import type { Reader } from "./reader.ts";

/** A file of a config or secret in the container. */
export interface FileGrant {
  source: string;
  target?: string;
  uid?: string;
  gid?: string;
  /** Octal. */
  mode?: string;
}

/** A number, because the file is copied without the container's users; an archive has 21 bits for it. */
const fileOwner: Reader<string> = parsed((id) => {
  if (/^\d{1,7}$/.test(id) && Number(id) < 2 ** 21) return id;
  throw new Error("must be a number below 2097152");
}, textOrNumber);

/** An entry of `configs` or `secrets` of a service. */
export const fileGrant: Reader<FileGrant> = byKind({
  scalar: parsed((source) => ({ source }), name),
  map: object(
    { source: name, target: name, uid: fileOwner, gid: fileOwner, mode: fileMode },
    { required: ["source"] },
  ) as Reader<FileGrant>,
});
