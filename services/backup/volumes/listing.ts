/** Listings of one directory, of at most 5,000 entries. @module */

import { Buffer } from "node:buffer";
import { AppError } from "../../errors.ts";
import type { ByteString, Entries, EntryType } from "../restic/entry.ts";
import { parentOf, showPath } from "./limits.ts";
import { failureOf, FUNCTIONS, type Shell, unexpected } from "./shell.ts";
import { encodePath } from "./shell_path.ts";

/** Limits of a listing. */
const LISTED_MAX = 5000;
const LISTING_MS = 2000;

/** Longest line about an entry, in bytes: names have up to 255 on most file systems. */
const LINE_MAX = 4096;

/** An entry of a directory. */
export interface ListedFile {
  name: ByteString;
  type: EntryType;
  mode: number;
  uid: number;
  gid: number;
  /** Bytes; of files only, else 0. */
  size: number;
  /** Nanoseconds since 1970. */
  mtime: bigint;
}

/** A listed directory. */
export interface Listing {
  /** By name, in byte order. */
  files: ListedFile[];
  /** Whether these are all: a listing stops at 5,000 entries or after 2 s. */
  isComplete: boolean;
}

/** Collects entries until a limit is reached. The time counts from the first output. */
export function createListing() {
  const files: ListedFile[] = [];
  let deadline: number | undefined;
  return {
    files,
    /** Called with each output. @returns Whether a limit is reached. */
    isFull(): boolean {
      deadline ??= performance.now() + LISTING_MS;
      return files.length > LISTED_MAX || performance.now() > deadline;
    },
    end: (isComplete: boolean): Listing => ({
      files: files.slice(0, LISTED_MAX).sort((a, b) => a.name < b.name ? -1 : 1),
      isComplete,
    }),
  };
}

/**
 * Lists a directory.
 *
 * @param path Empty for the root.
 * @throws {AppError} `not_found`; `conflict` for a path behind a symbolic link, and for a container
 * whose programs do not answer as expected.
 */
export async function listDirectory(
  shell: Shell,
  path: ByteString,
  signal: AbortSignal,
): Promise<Listing> {
  // No name has a slash, so that one ends it whatever the name contains.
  const text = `${FUNCTIONS} enter "$1"
find . -mindepth 1 -maxdepth 1 -exec stat -c '%f %s %Y %u %g %n/' -- {} + || :`;
  const output = shell.run({ text, args: [encodePath(path)], isReadOnly: true, signal });
  const listing = createListing();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await output.next();
      if (done) {
        if (value.exitCode !== 0) throw failureOf(shell, path, value);
        return listing.end(true);
      }
      rest = readLines(rest + Buffer.from(value).toString("latin1"), listing.files);
      if (rest.length > LINE_MAX) throw unexpected(shell);
      if (listing.isFull()) return listing.end(false);
    }
  } finally {
    await output.return(undefined as never);
  }
}

/** Types by the bits of `st_mode`, from 12. */
const TYPES: Readonly<Record<number, EntryType>> = {
  0o01: "fifo",
  0o02: "chardev",
  0o04: "dir",
  0o06: "dev",
  0o10: "file",
  0o12: "symlink",
  0o14: "socket",
};

/** The values of `stat -c '%f %s %Y %u %g'`, with a name in {@linkcode LINE}. */
export const STAT = /^([0-9a-f]{1,8}) (\d{1,16}) (-?\d{1,16}) (\d{1,10}) (\d{1,10})$/;
const LINE = /([0-9a-f]{1,8}) (\d{1,16}) (-?\d{1,16}) (\d{1,10}) (\d{1,10}) \.\/([^/]*)\/\n/gy;

/** @returns `undefined` for an unknown type. */
export function toListed(
  name: ByteString,
  [, mode = "", size, mtime = "", uid, gid]: readonly string[],
): ListedFile | undefined {
  const bits = parseInt(mode, 16);
  const type = TYPES[bits >>> 12];
  return type && {
    name,
    type,
    mode: bits & 0o7777,
    uid: Number(uid),
    gid: Number(gid),
    size: type === "file" ? Number(size) : 0,
    mtime: BigInt(mtime) * 1_000_000_000n,
  };
}

/** @returns The text after the last whole line. */
function readLines(text: string, files: ListedFile[]): string {
  let end = 0;
  for (const found of text.matchAll(LINE)) {
    end = found.index + found[0].length;
    const listed = toListed(found[6]!, found);
    if (listed) files.push(listed);
  }
  return text.slice(end);
}

/** Longest reading of a tree for a listing, in milliseconds. */
const TREE_MS = 5_000;

/**
 * Lists a directory from its tree, which is read for at most 5 s.
 *
 * @param entriesOf Opens the tree of the directory.
 * @param path That of the tree's root.
 * @throws {AppError} `conflict` if it is not a directory.
 */
export async function listTree(
  entriesOf: (signal: AbortSignal) => Entries,
  path: ByteString,
): Promise<Listing> {
  const signal = AbortSignal.timeout(TREE_MS);
  const listing = createListing();
  try {
    for await (const { path: at, ...entry } of entriesOf(signal)) {
      if (at === path) {
        if (entry.type !== "dir") throw notDirectory(path);
      } else if (parentOf(at) === path) {
        const name = at.slice(path === "" ? 0 : path.length + 1);
        const { type, mode, uid, gid, size, mtime } = entry;
        listing.files.push({ name, type, mode, uid, gid, size, mtime });
      }
      if (listing.isFull()) return listing.end(false);
    }
    return listing.end(true);
  } catch (error) {
    if (!signal.aborted) throw error;
    return listing.end(false);
  }
}

export const notDirectory = (path: ByteString) =>
  new AppError("conflict", `Path ${showPath(path)} is not a directory`);
