/** A file as requests show it. @module */

import type { ListedEntry } from "../backup/restic/restore.ts";
import { encodePath } from "./file_path.ts";

export interface FileView {
  /** Last part of the path. */
  name: string;
  /** As further requests give it. */
  path: string;
  type: ListedEntry["type"];
  /** In bytes. */
  size: number;
  /** Octal. */
  mode: string;
  uid: number;
  gid: number;
  /** ISO 8601, UTC. */
  modifiedAt: string;
}

export function viewFile(
  { path, type, size, mode, uid, gid, mtime }: Pick<
    ListedEntry,
    "path" | "type" | "size" | "mode" | "uid" | "gid" | "mtime"
  >,
): FileView {
  const shown = encodePath(path);
  return {
    name: shown.slice(shown.lastIndexOf("/") + 1),
    path: `/${shown}`,
    ...{ type, size, uid, gid },
    mode: `0${mode.toString(8).padStart(3, "0")}`,
    modifiedAt: timeOf(mtime),
  };
}

/** Years beyond four digits are shown as 1970. */
function timeOf(mtime: bigint): string {
  const ms = Number(mtime / 1_000_000n);
  return new Date(ms >= YEAR_0 && ms < YEAR_10000 ? ms : 0).toISOString();
}

const YEAR_0 = Date.parse("0000-01-01T00:00:00Z");
const YEAR_10000 = Date.UTC(10_000, 0, 1);
