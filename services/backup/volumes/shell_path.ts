/** Paths as arguments of shell scripts: the engine's JSON has no bytes. @module */

import { Buffer } from "node:buffer";
import { AppError } from "../../errors.ts";
import type { ByteString } from "../restic/entry.ts";
import { assertPath, TreeError } from "./limits.ts";

/** Shell function that decodes an argument into `$path`. The `x` keeps line ends. */
export const DECODE = `decode() { path=$(printf '%bx' "$1"); path=\${path%x}; };`;

/**
 * Encodes a path for `printf %b`: bytes in octal.
 *
 * @param path Empty for the root.
 * @throws {AppError} `invalid` for a path that no system has.
 */
export function encodePath(path: ByteString): string {
  try {
    if (path !== "") assertPath(path);
  } catch (error) {
    if (!(error instanceof TreeError)) throw error;
    throw new AppError("invalid", error.message, { cause: error });
  }
  return path.replace(
    /[^\w./-]/g,
    (byte) => `\\0${byte.charCodeAt(0).toString(8).padStart(3, "0")}`,
  );
}

/** Whether the bytes of a path are UTF-8: the runtime and the engine's archives need that. */
export const isUtf8 = (path: ByteString): boolean =>
  Buffer.from(textOf(path)).toString("latin1") === path;

/** The text of a path whose bytes are UTF-8. */
export const textOf = (path: ByteString): string => Buffer.from(path, "latin1").toString();
