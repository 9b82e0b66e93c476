/**
 * Checks of a tree before it is written: it may come from a repository that others can write to.
 *
 * @module
 */

import type { ByteString, Entry } from "../restic/entry.ts";
import {
  assertPath,
  FILE_BYTES_MAX,
  isBytes,
  parentOf,
  PATH_BYTES_MAX,
  showPath,
  TreeError,
} from "./limits.ts";

/** Directories of a tree, and bytes of their paths, which are kept for hard links. */
const DIRECTORIES_MAX = 1_000_000;
const DIRECTORY_BYTES_MAX = 128 * 1024 ** 2;

/** Largest owner id; the highest one means none. */
const ID_MAX = 2 ** 32 - 2;

/** Times of the engines' archives end in 9999. */
const TIME_MAX = 253_402_300_799n * 1_000_000_000n;

/** Largest extended attribute of Linux (`XATTR_SIZE_MAX`), in bytes, and most of one entry. */
const XATTR_BYTES_MAX = 65_536;
const XATTRS_MAX = 100;

/**
 * Creates a function that is called with each entry, in the order in which they are written: a
 * directory before its content, and the names of a directory in byte order, which is how restic and
 * the engines sort them. Links are not followed, because no entry can be below one.
 *
 * @throws {TreeError} The function: for an entry that must not be written.
 */
export function createTreeCheck(): (entry: Entry) => void {
  const directories = new Set<ByteString>([""]);
  const open: { path: ByteString; last: string | undefined }[] = [{ path: "", last: undefined }];
  let isFirst = true;
  let directoryBytes = 0;

  return (entry) => {
    const { path, type } = entry;
    const refuse = (problem: string) => {
      throw new TreeError(`${showPath(path)} ${problem}`);
    };
    const wasFirst = isFirst;
    isFirst = false;
    checkValues(entry, refuse);
    if (path === "") {
      if (!wasFirst || type !== "dir") refuse("is a second root of the tree");
      return;
    }
    assertPath(path);
    const parent = parentOf(path);
    while (open.length > 1 && open.at(-1)!.path !== parent) open.pop();
    const top = open.at(-1)!;
    if (top.path !== parent) refuse("is not in a directory of the tree, or out of order");
    const name = path.slice(path.lastIndexOf("/") + 1);
    if (top.last !== undefined && name <= top.last) refuse("occurs twice, or is out of order");
    top.last = name;
    if (type === "dir") {
      open.push({ path, last: undefined });
      if (directories.add(path).size > DIRECTORIES_MAX) {
        refuse(`exceeds the limit of ${DIRECTORIES_MAX} directories`);
      }
      if ((directoryBytes += path.length) > DIRECTORY_BYTES_MAX) {
        refuse(`exceeds the limit of ${DIRECTORY_BYTES_MAX} bytes for the paths of directories`);
      }
    }
    if (type === "dev" || type === "chardev") refuse("is a device node");
    if (entry.hardLinkTo !== undefined) {
      assertPath(entry.hardLinkTo);
      const isIn = directories.has(parentOf(entry.hardLinkTo));
      if (!isIn || directories.has(entry.hardLinkTo)) refuse("is a hard link to no earlier file");
    }
  };
}

function checkValues(entry: Entry, refuse: (problem: string) => void): void {
  const { type, mode, uid, gid, mtime, size, linkTarget, hardLinkTo, xattrs = [] } = entry;
  const isIn = (value: number, max: number) =>
    Number.isInteger(value) && value >= 0 && value <= max;
  if (!isIn(mode, 0o7777)) refuse("has an impossible mode");
  if (!isIn(uid, ID_MAX) || !isIn(gid, ID_MAX)) refuse("has an impossible owner");
  if (!isIn(size, FILE_BYTES_MAX)) refuse("claims a size that no file has");
  if (mtime > TIME_MAX || mtime < -TIME_MAX) refuse("has an impossible time");
  if (type === "symlink") {
    const isTarget = linkTarget !== undefined && linkTarget !== "" && isBytes(linkTarget) &&
      !linkTarget.includes("\0");
    if (!isTarget || linkTarget.length > PATH_BYTES_MAX) {
      refuse("is a symbolic link without a target");
    }
  }
  if (hardLinkTo !== undefined && type !== "file" && type !== "symlink") {
    refuse("is a hard link that is not a file");
  }
  if (xattrs.length > XATTRS_MAX || xattrs.some(({ value }) => value.length > XATTR_BYTES_MAX)) {
    refuse("has extended attributes that no file has");
  }
}
