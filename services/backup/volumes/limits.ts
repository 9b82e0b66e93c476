/** Limits of the trees that are read from volumes and written to them, and what is left out. @module */

import { Buffer } from "node:buffer";
import type { ByteString } from "../restic/entry.ts";

/** Linux limits of a name and a path (`NAME_MAX`, `PATH_MAX`), in bytes. */
export const NAME_BYTES_MAX = 255;
export const PATH_BYTES_MAX = 4095;

/** Directories inside of each other. */
export const DEPTH_MAX = 1000;

/** Largest file, in bytes: that of ext4. */
export const FILE_BYTES_MAX = 2 ** 44;

/** Items of a list of skipped entries; more are only counted. */
const SKIPPED_MAX = 1000;

/** An entry, or a part of one, that is not in the copy. */
export interface Skipped {
  path: ByteString;
  /** E.g. `is a socket`. */
  reason: string;
}

/** Entries that were left out, complete when all entries were consumed. */
export interface SkipList {
  /** 1,000 of them, as {@linkcode createWorstFirst} orders them. */
  readonly items: readonly Skipped[];
  readonly count: number;
  add(path: ByteString, reason: string): void;
}

export function createSkipList(): SkipList {
  const worst = createWorstFirst(SKIPPED_MAX);
  let count = 0;
  return {
    get items() {
      return worst.items();
    },
    get count() {
      return count;
    },
    add(path, reason) {
      count++;
      worst.add({ path, reason });
    },
  };
}

/** Whether an entry was left out that has no content. */
export const isWithoutContent = ({ reason }: Pick<Skipped, "reason">): boolean =>
  /^is a (socket|FIFO)$/.test(reason);

/** Whether a device node was left out, which has no content of the volume. */
export const isDeviceNode = ({ reason }: Pick<Skipped, "reason">): boolean =>
  reason === "is a device node";

/** Whether an entry was left out because of programs that ran meanwhile. */
export const isMeanwhile = ({ reason }: Pick<Skipped, "reason">): boolean =>
  /while it was read$/.test(reason);

/** Kinds of entries that were left out, the worst first; all others are worse. */
const KINDS = [isDeviceNode, isMeanwhile, isWithoutContent];

/** A list with a limit in which no kind hides another: the first one of each kind begins it, the worst first. */
export function createWorstFirst(max: number) {
  const lists: Skipped[][] = [[], ...KINDS.map(() => [])];
  return {
    add(item: Skipped): void {
      const list = lists[KINDS.findIndex((isOf) => isOf(item)) + 1]!;
      if (list.length < max) list.push(item);
    },
    items(): Skipped[] {
      const firsts = lists.flatMap((list) => list.slice(0, 1));
      return [...firsts, ...lists.flatMap((list) => list.slice(1))].slice(0, max);
    },
  };
}

/** A tree cannot be read or written; the message is a sentence that names the entry. */
export class TreeError extends Error {
  override readonly name = "TreeError";
}

/** Longest path in a message, in characters. */
const SHOWN_MAX = 200;

/** A path for messages: bytes that are not UTF-8 are replaced, and control characters are escaped. */
export function showPath(path: ByteString): string {
  const text = Buffer.from(path.slice(0, SHOWN_MAX), "latin1").toString();
  return JSON.stringify(path.length > SHOWN_MAX ? `${text}…` : text);
}

/**
 * Checks a relative path.
 *
 * @throws {TreeError} For an absolute path, `..`, NUL, and one that no system has.
 */
export function assertPath(path: ByteString): void {
  const refuse = (problem: string) => {
    throw new TreeError(`The path ${showPath(path)} ${problem}`);
  };
  if (path.startsWith("/")) refuse("is absolute");
  if (path.length > PATH_BYTES_MAX) refuse(`is longer than ${PATH_BYTES_MAX} bytes`);
  if (path.includes("\0")) refuse("contains a NUL byte");
  if (!isBytes(path)) refuse("has a character that is not a byte");
  const names = path.split("/");
  if (names.length > DEPTH_MAX) refuse(`has more than ${DEPTH_MAX} levels`);
  for (const name of names) {
    if (name === "..") refuse("contains ..");
    if (name === "" || name === ".") refuse("has an empty name");
    if (name.length > NAME_BYTES_MAX) refuse(`has a name of more than ${NAME_BYTES_MAX} bytes`);
  }
}

/** Whether all characters are bytes. */
export const isBytes = (text: string): boolean => !/[\u0100-\uffff]/.test(text);

/** The directory that a path is in; empty for the first level. */
export const parentOf = (path: ByteString): ByteString =>
  path.slice(0, Math.max(path.lastIndexOf("/"), 0));
