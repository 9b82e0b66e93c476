/** Paths of a snapshot in requests: UTF-8, with `%XX` for other bytes and for `%`. @module */

import { Buffer } from "node:buffer";
import type { ByteString } from "../backup/restic/entry.ts";

export function encodePath(path: ByteString): string {
  const bytes = Buffer.from(path, "latin1");
  const text = bytes.toString();
  // A replacement character stands for bytes that are not UTF-8, unless it was there before.
  if (Buffer.from(text).equals(bytes)) return text.replaceAll("%", "%25");
  return path.replaceAll(
    /[%\x80-\xff]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  );
}

/** The inverse of {@linkcode encodePath}; other `%` stay. */
export const decodePath = (path: string): ByteString =>
  Buffer.from(path, "utf8").toString("latin1").replaceAll(
    /%([0-9A-Fa-f]{2})/g,
    (_, digits: string) => String.fromCharCode(parseInt(digits, 16)),
  );

/** A path for people and the host: bytes that are not UTF-8 are replaced. */
export const pathText = (path: string): string =>
  Buffer.from(decodePath(path), "latin1").toString();

/** The last name of a path for people. */
export const fileName = (path: string): string => pathText(path).split("/").at(-1)!;
