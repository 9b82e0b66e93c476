/** Paths of files in restic's default layout, relative to the repository. @module */

import type { FileKind } from "../restic/storage.ts";

const HEX_NAME = /^[0-9a-f]{64}$/;

/** Whether a listed name is that of a file: others are temporary files, or not the repository's. */
export const isFileName = (name: string): boolean => HEX_NAME.test(name);

/** E.g. `data/4f/4f1c...`. */
export function pathOf(kind: FileKind, name: string): string {
  if (kind === "config") return kind;
  return kind === "data" ? `data/${name.slice(0, 2)}/${name}` : `${kind}/${name}`;
}

/** The inverse of {@linkcode pathOf} for a listed path; `undefined` for one of another layout. */
export function nameOf(kind: FileKind, path: string): string | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return isFileName(name) && pathOf(kind, name) === path ? name : undefined;
}
