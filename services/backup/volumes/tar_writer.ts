/** Writes the entries of a tree as a tar archive (POSIX with extended headers), piece by piece. @module */

import { Buffer } from "node:buffer";
import type { Entries, Entry } from "../restic/entry.ts";
import { bytesOf } from "../restic/entry_directory.ts";
import { encodePax, formatPaxTime, type PaxRecords } from "../pax.ts";
import {
  encodeTarHeader,
  TAR_BLOCK_BYTES,
  TAR_FILE_BYTES_MAX,
  type TarHeader,
  tarPadding,
} from "../tar.ts";
import { showPath, type SkipList, TreeError } from "./limits.ts";
import { createTreeCheck } from "./tree_check.ts";

/** Largest owner and time in a header: seven and eleven octal digits. */
const ID_MAX = 8 ** 7 - 1;
const TIME_MAX_S = 8 ** 11 - 1;

/** Fields for names, in bytes. */
const NAME_BYTES = 100;
const OWNER_BYTES = 32;

const NS_PER_S = 1_000_000_000n;

/**
 * Checks entries and writes them. Sockets and FIFOs are skipped.
 *
 * @param options.root First name of all paths in the archive; without it the root is `./`.
 * @param options.xattrs Names of extended attributes that are written; others are skipped.
 * @param options.check Called with each entry; default: the checks of a tree.
 * @param options.onProgress Called with the size of each piece of content.
 * @throws {TreeError} For an entry that must not be written, and content of another size than said.
 */
export async function* writeTar(
  entries: Entries,
  { root, skipped, xattrs, check = createTreeCheck(), onProgress }: {
    root: string;
    skipped: SkipList;
    xattrs: RegExp;
    check?: (entry: Entry) => void;
    onProgress?: ((bytes: number) => void) | undefined;
  },
): AsyncGenerator<Uint8Array<ArrayBufferLike>> {
  for await (const entry of entries) {
    check(entry);
    if (entry.type === "socket" || entry.type === "fifo") {
      skipped.add(entry.path, entry.type === "socket" ? "is a socket" : "is a FIFO");
      continue;
    }
    yield headersOf(entry, { root, skipped, xattrs });
    if (entry.type !== "file" || entry.hardLinkTo !== undefined) continue;
    let left = entry.size;
    for await (const piece of entry.content ?? []) {
      left -= piece.length;
      if (left < 0) break;
      yield piece;
      onProgress?.(piece.length);
    }
    if (left !== 0) {
      const than = left < 0 ? "more" : "less";
      throw new TreeError(
        `${showPath(entry.path)} has ${than} content than its ${entry.size} bytes`,
      );
    }
    const padding = tarPadding(entry.size);
    if (padding > 0) yield new Uint8Array(padding);
  }
  yield new Uint8Array(2 * TAR_BLOCK_BYTES);
}

const TYPES = { file: "0", dir: "5", symlink: "2" } as const;

/** The header of an entry, after an extended one for values that do not fit. */
function headersOf(
  entry: Entry,
  { root, skipped, xattrs }: { root: string; skipped: SkipList; xattrs: RegExp },
): Uint8Array {
  const { path, type, mode, hardLinkTo, size, mtime } = entry;
  const pax: PaxRecords = new Map();
  const below = (each: string) => root === "" ? each : each === "" ? root : `${root}/${each}`;
  const name = path === "" && root === "" ? "./" : below(path) + (type === "dir" ? "/" : "");
  const linkName = hardLinkTo !== undefined ? below(hardLinkTo) : entry.linkTarget ?? "";
  const isContent = type === "file" && hardLinkTo === undefined;

  const fitText = (keyword: string, text: string, max: number) => {
    if (text.length <= max && !/[^\x20-\x7e]/.test(text)) return text;
    pax.set(keyword, text);
    return "";
  };
  const fitNumber = (keyword: string, value: number, max: number) => {
    if (value <= max) return value;
    pax.set(keyword, String(value));
    return 0;
  };
  const header: TarHeader = {
    name: fitText("path", name, NAME_BYTES),
    linkName: fitText("linkpath", linkName, NAME_BYTES),
    type: hardLinkTo !== undefined ? "1" : TYPES[type as keyof typeof TYPES],
    mode,
    uid: fitNumber("uid", entry.uid, ID_MAX),
    gid: fitNumber("gid", entry.gid, ID_MAX),
    size: isContent ? fitNumber("size", size, TAR_FILE_BYTES_MAX) : 0,
    mtime: Number(mtime / NS_PER_S),
    user: fitText("uname", bytesOf(entry.user ?? ""), OWNER_BYTES),
    group: fitText("gname", bytesOf(entry.group ?? ""), OWNER_BYTES),
  };
  if (mtime % NS_PER_S !== 0n || mtime < 0n || header.mtime > TIME_MAX_S) {
    pax.set("mtime", formatPaxTime(mtime));
    header.mtime = Math.min(Math.max(header.mtime, 0), TIME_MAX_S);
  }
  for (const { name, value } of entry.xattrs ?? []) {
    if (xattrs.test(name)) pax.set(`SCHILY.xattr.${name}`, Buffer.from(value).toString("latin1"));
    else skipped.add(path, `has the attribute ${JSON.stringify(name.slice(0, 100))}`);
  }
  const encoded = encodeTarHeader(header);
  return pax.size === 0 ? encoded : Buffer.concat([encodePax(pax), encoded]);
}
