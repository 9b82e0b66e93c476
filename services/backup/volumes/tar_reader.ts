/**
 * Reads the entries of a tar archive that is too large for memory: POSIX with extended headers, as
 * engines send it, and GNU's headers for long names.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import type { Entries, Entry, EntryType, Xattr } from "../restic/entry.ts";
import { decodePax, parsePaxTime, PAX_GLOBAL, PAX_NEXT, type PaxRecords } from "../pax.ts";
import { decodeTarHeader, TAR_BLOCK_BYTES, TarError, type TarHeader, tarPadding } from "../tar.ts";
import { assertPath, FILE_BYTES_MAX, showPath, type SkipList } from "./limits.ts";
import { textOf } from "./shell_path.ts";

/** Largest extended header: its attributes may have 64 KiB each. */
const EXTENSION_BYTES_MAX = 1024 * 1024;

/** GNU's headers whose content is the name, or the link's target, of the next one. */
const GNU_NAME = "L";
const GNU_LINK = "K";

const TYPES: Readonly<Record<string, EntryType>> = {
  "": "file",
  "0": "file",
  "7": "file",
  "1": "file",
  "2": "symlink",
  "3": "chardev",
  "4": "dev",
  "5": "dir",
  "6": "fifo",
};

const HARD_LINK = "1";

const XATTR_PREFIX = "SCHILY.xattr.";

const NS_PER_S = 1_000_000_000n;

/**
 * Reads an archive while it arrives. The content of a file is valid until the next entry is requested.
 * FIFOs and device nodes are skipped.
 *
 * @param root First name of all paths in the archive, unless the first one is `/` or `.`. The entry of the
 * root itself has the path "".
 * @throws {TarError} For an archive that is damaged, ends early, or has a path that is not below `root`.
 * @throws {TreeError} For a path that no system has.
 */
export async function* readTar(
  chunks: AsyncIterable<Uint8Array>,
  { root, skipped }: { root: string; skipped: SkipList },
): Entries & AsyncGenerator<Entry> {
  const source = new PieceReader(chunks);
  let base: string | undefined;
  try {
    for (let member = await readMember(source); member; member = await readMember(source)) {
      const content = source.open(member.size);
      base ??= cleanName(member.name) === "" ? "" : root;
      const entry = toEntry(member, base);
      if (entry.type === "fifo") skipped.add(entry.path, "is a FIFO");
      else if (entry.type === "dev" || entry.type === "chardev") {
        skipped.add(entry.path, "is a device node");
      } else {
        if (entry.type === "file" && entry.hardLinkTo === undefined) entry.content = content;
        yield entry;
      }
      await source.finish();
    }
    await source.drain();
  } finally {
    await source.close();
  }
}

/** A header with the values of the extended headers before it. */
interface Member extends TarHeader {
  pax: PaxRecords;
}

async function readMember(source: PieceReader): Promise<Member | undefined> {
  let pax: PaxRecords = new Map();
  let [gnuName, gnuLink]: (string | undefined)[] = [];
  for (;;) {
    const header = decodeTarHeader(await source.read(TAR_BLOCK_BYTES));
    if (!header) return undefined;
    const { type, size, name } = header;
    if (![PAX_NEXT, PAX_GLOBAL, GNU_NAME, GNU_LINK].includes(type)) {
      if (!(type in TYPES)) throw new TarError(`${showPath(name)} has the unknown type ${type}`);
      if ([...pax.keys()].some((key) => key.startsWith("GNU.sparse."))) {
        throw new TarError(`${showPath(name)} is in GNU's sparse format`);
      }
      const sized = numberOf(pax, "size") ?? size;
      const hasContent = TYPES[type] === "file" && type !== HARD_LINK;
      if (sized < 0 || sized > FILE_BYTES_MAX) {
        throw new TarError(`${showPath(name)} claims a size that no file has`);
      }
      return {
        ...header,
        name: pax.get("path") ?? gnuName ?? name,
        linkName: pax.get("linkpath") ?? gnuLink ?? header.linkName,
        size: hasContent ? sized : 0,
        uid: numberOf(pax, "uid") ?? header.uid,
        gid: numberOf(pax, "gid") ?? header.gid,
        user: pax.get("uname") ?? header.user,
        group: pax.get("gname") ?? header.group,
        pax,
      };
    }
    if (size > EXTENSION_BYTES_MAX) {
      throw new TarError(`an extended header has more than ${EXTENSION_BYTES_MAX} bytes`);
    }
    const bytes = await source.read(size);
    await source.read(tarPadding(size));
    // A header for all files has only comments.
    if (type === PAX_NEXT) pax = decodePax(bytes);
    else if (type === GNU_NAME) gnuName = gnuText(bytes);
    else if (type === GNU_LINK) gnuLink = gnuText(bytes);
  }
}

function numberOf(pax: PaxRecords, keyword: string): number | undefined {
  const text = pax.get(keyword);
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw new TarError(`an extended header has an invalid ${keyword}`);
  return Number(text);
}

const gnuText = (bytes: Uint8Array): string =>
  Buffer.from(bytes).toString("latin1").split("\0")[0]!;

function toEntry(member: Member, root: string): Entry {
  const { mode, uid, gid, size, mtime, type, linkName, user, group, pax } = member;
  const paxTime = pax.get("mtime");
  const entry: Entry = {
    path: pathBelow(root, member.name),
    type: TYPES[type]!,
    mode: mode & 0o7777,
    uid,
    gid,
    mtime: paxTime === undefined ? BigInt(mtime) * NS_PER_S : parsePaxTime(paxTime),
    size,
  };
  if (user !== "") entry.user = textOf(user);
  if (group !== "") entry.group = textOf(group);
  if (type === HARD_LINK) entry.hardLinkTo = pathBelow(root, linkName);
  if (entry.type === "symlink") entry.linkTarget = linkName;
  const xattrs = [...pax].flatMap(([key, value]): Xattr[] =>
    key.startsWith(XATTR_PREFIX)
      ? [{
        name: key.slice(XATTR_PREFIX.length),
        value: new Uint8Array(Buffer.from(value, "latin1")),
      }]
      : []
  );
  if (xattrs.length > 0) entry.xattrs = xattrs;
  return entry;
}

/** @throws {TarError} If the name is not the root or below it. */
function pathBelow(root: string, name: string): string {
  const clean = cleanName(name);
  if (clean === root) return "";
  const path = root === "" ? clean : clean.slice(root.length + 1);
  if (root !== "" && !clean.startsWith(`${root}/`)) {
    throw new TarError(`${showPath(name)} is not in the directory that was requested`);
  }
  assertPath(path);
  return path;
}

/** Name without the slash of a directory, and what some engines and programs put before all names. */
const cleanName = (name: string) =>
  (name.startsWith("./") ? name.slice(2) : name.replace(/^\/|^\.$/, "")).replace(/\/$/, "");

/** Takes bytes from chunks of any size; content is passed on without a copy. */
class PieceReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #chunk: Uint8Array = new Uint8Array(0);
  /** Bytes of the open content that were not read. */
  #left = 0;
  #padding = 0;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** The next bytes, as a view if they are in one chunk. */
  async read(length: number): Promise<Uint8Array> {
    const first = await this.#some(length);
    if (first.length === length) return first;
    const bytes = new Uint8Array(length);
    bytes.set(first);
    for (let at = first.length; at < length;) {
      const some = await this.#some(length - at);
      bytes.set(some, at);
      at += some.length;
    }
    return bytes;
  }

  /** The content that follows. It ends with the next `finish()`. */
  open(size: number): AsyncIterable<Uint8Array> {
    this.#left = size;
    this.#padding = tarPadding(size);
    return {
      [Symbol.asyncIterator]: () => ({
        next: async () => {
          if (this.#left === 0) return { done: true, value: undefined };
          const value = await this.#some(this.#left);
          this.#left -= value.length;
          return { done: false, value };
        },
      }),
    };
  }

  /** Skips what was not read of the open content. */
  async finish(): Promise<void> {
    for (let left = this.#left + this.#padding; left > 0;) left -= (await this.#some(left)).length;
    this.#left = this.#padding = 0;
  }

  /** Reads what follows the end of the archive, so that the connection can be used again. */
  async drain(): Promise<void> {
    while (!(await this.#chunks.next()).done);
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  async #some(max: number): Promise<Uint8Array> {
    while (this.#chunk.length === 0 && max > 0) {
      const { done, value } = await this.#chunks.next();
      if (done) throw new TarError("the archive ended early");
      this.#chunk = value;
    }
    const taken = this.#chunk.subarray(0, max);
    this.#chunk = this.#chunk.subarray(taken.length);
    return taken;
  }
}
