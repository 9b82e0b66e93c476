/** Random directory trees with what a filesystem can have. @module */

import { directoryEntry, fileEntry, type TestEntry } from "./repository.ts";

/** Random numbers from 0 to below 1. */
type Random = () => number;

/** Largest file, which has several chunks. */
const FILE_BYTES_MAX = 3 << 20;

/**
 * Entries below a directory: names of any bytes, empty, sparse and large files, links of both kinds,
 * FIFOs, extended attributes, all modes and owners, times before 1970.
 */
export function randomTree(path: string, random: Random): TestEntry[] {
  const files: TestEntry[] = [];
  const entries: TestEntry[] = [];
  const fill = (directory: string, depth: number) => {
    const names = new Set(Array.from({ length: below(random, 7) }, () => randomName(random)));
    for (const name of [...names].sort()) {
      const inner = `${directory}/${name}`;
      const entry = randomEntry(inner, random, files);
      entries.push(entry);
      if (entry.type === "file" && entry.hardLinkTo === undefined) files.push(entry);
      if (entry.type === "dir" && depth < 4) fill(inner, depth + 1);
    }
  };
  entries.push({ ...directoryEntry(path), ...randomOwner(random) });
  fill(path, 0);
  return entries;
}

const below = (random: Random, limit: number) => Math.floor(random() * limit);

function randomName(random: Random): string {
  const length = 1 + below(random, random() < 0.1 ? 200 : 12);
  const byte = () => 1 + below(random, random() < 0.5 ? 126 : 255);
  const name = Array.from({ length }, () => String.fromCharCode(byte())).join("");
  return name.replaceAll("/", "_").replace(/^\.{1,2}$/, "_");
}

function randomEntry(path: string, random: Random, files: readonly TestEntry[]): TestEntry {
  const kind = random();
  const owner = randomOwner(random);
  const file = files[below(random, files.length)];
  if (kind < 0.25) return { ...directoryEntry(path), ...owner };
  if (kind < 0.35) {
    // restic 0.14 stores targets as UTF-8 only.
    const linkTarget = `../${randomName(random).replaceAll(/[^ -~]/g, "_")}`;
    return { ...directoryEntry(path), ...owner, type: "symlink", mode: 0o777, linkTarget };
  }
  if (kind < 0.4) return { ...directoryEntry(path), ...owner, type: "fifo" };
  if (kind < 0.5 && file !== undefined) {
    // All names of a file share its metadata.
    const { bytes: _, ...same } = file;
    return { ...same, path, hardLinkTo: file.path };
  }
  const xattrs = random() < 0.2
    ? [{ name: "user.test", value: randomBytes(below(random, 100), random) }]
    : undefined;
  const entry = { ...fileEntry(path, randomContent(random)), ...owner };
  return xattrs === undefined ? entry : { ...entry, xattrs };
}

function randomOwner(random: Random) {
  return {
    mode: below(random, 0o10000),
    uid: below(random, 70_000),
    gid: below(random, 70_000),
    mtime: BigInt(below(random, 4_000_000_000) - 1_000_000_000) * 1_000_000_000n +
      BigInt(below(random, 1_000_000_000)),
  };
}

function randomContent(random: Random): Uint8Array {
  const kind = random();
  if (kind < 0.2) return new Uint8Array();
  if (kind < 0.9) return randomBytes(below(random, 3_000), random);
  const bytes = randomBytes(below(random, FILE_BYTES_MAX), random);
  return kind < 0.95 ? bytes : bytes.fill(0, 1_000);
}

function randomBytes(length: number, random: Random): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length }, () => below(random, 256));
}
