/** Checks of entries before they are stored. @module */

import type { ByteString, Entry } from "./entry.ts";
import { DEPTH_MAX, NAME_BYTES_MAX } from "./limits.ts";
import { RepositoryError, shown } from "./repository_error.ts";

const UINT32_MAX = 0xffffffff;

/** Bytes of all extended attributes of an entry; Linux has 64 KiB for each. */
const XATTR_BYTES_MAX = 1024 * 1024;

const refused = (path: ByteString, problem: string) =>
  new RepositoryError("refused", `"${shown(path)}" cannot be stored: ${problem}`);

/**
 * Splits a path into its names.
 *
 * @throws {RepositoryError} `refused`
 */
export function namesOf(path: ByteString): ByteString[] {
  const names = path.split("/");
  if (names.length > DEPTH_MAX) throw refused(path, `more than ${DEPTH_MAX} directories deep`);
  for (const name of names) {
    if (name === "" || name === "." || name === "..") {
      throw refused(path, "its path is not relative and without . and ..");
    }
    if (/[\0\u0100-\uffff]/.test(name)) {
      throw refused(path, "its name has NUL, or characters that are not bytes");
    }
    if (name.length > NAME_BYTES_MAX) throw refused(path, "its name is too long");
  }
  return names;
}

/** @throws {RepositoryError} `refused` for a value that the format cannot have. */
export function assertStorable({ path, type, mode, uid, gid, size, xattrs = [], ...entry }: Entry) {
  const isCount = (value: number, max: number) =>
    Number.isSafeInteger(value) && value >= 0 && value <= max;
  if (!isCount(mode, 0o7777)) throw refused(path, "its mode is out of range");
  if (!isCount(uid, UINT32_MAX) || !isCount(gid, UINT32_MAX)) {
    throw refused(path, "its owner is out of range");
  }
  if (!isCount(size, Number.MAX_SAFE_INTEGER)) throw refused(path, "its size is impossible");
  if (type === "symlink" && !entry.linkTarget) throw refused(path, "the link has no target");
  const xattrBytes = xattrs.reduce((sum, { name, value }) => sum + name.length + value.length, 0);
  if (xattrBytes > XATTR_BYTES_MAX) throw refused(path, "its extended attributes are too large");
  const isLink = entry.hardLinkTo !== undefined;
  if (isLink && type !== "file") throw refused(path, "only files can have hard links");
  if (type === "file" && !isLink && size > 0 && entry.content === undefined) {
    throw refused(path, "its content is missing");
  }
}
