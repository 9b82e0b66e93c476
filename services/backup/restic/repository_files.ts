/**
 * Files of an open repository, and their encoding.
 *
 * Config, index, lock and snapshot files are in the "Unpacked Data Format" of the design document:
 * encrypted JSON, which in version 2 begins with the byte 2 and is compressed by zstd, except the
 * config. Where the JSON is not compressed, the first byte is its `{` or `[`.
 *
 * @module
 */

import { nodeCrypto } from "../../builtins.ts";
import { free } from "./buffers.ts";
import { compress, decompress } from "./compression.ts";
import { type CryptoKeys, seal, unseal } from "./crypto.ts";
import { type Id, idOf, isId, short } from "./id.ts";
import { FILES_MAX, INDEX_FILE_BYTES_MAX, JSON_FILE_BYTES_MAX, PACKS_MAX } from "./limits.ts";
import { damaged, RepositoryError } from "./repository_error.ts";
import { type FileKind, type Storage, StorageError, type StoredFile } from "./storage.ts";

/** First byte of compressed JSON. */
const COMPRESSED = 2;

/** Bytes that are read back at a time. */
const READ_BACK_BYTES = 4 * 1024 * 1024;

/** Names of kinds in messages. */
const TITLES: Record<FileKind, string> = {
  config: "Config",
  keys: "Key",
  locks: "Lock",
  snapshots: "Snapshot",
  index: "Index",
  data: "Pack",
};

/** An open repository: where its files are, and the keys to them. */
export interface RepositoryFiles {
  storage: Storage;
  keys: CryptoKeys;
  /** Version of the format, 1 or 2. Only the latter compresses. */
  version: number;
}

/** Name of a file in messages, e.g. `Pack 1a2b3c4d`. */
export const titleOf = (kind: FileKind, name: string) =>
  kind === "config" ? "Config" : `${TITLES[kind]} ${short(name)}`;

/** Files of a kind; files that have no ID as their name are not restic's and are left out. */
export async function* listFiles(
  storage: Storage,
  kind: FileKind,
  signal: AbortSignal,
): AsyncGenerator<StoredFile> {
  const filesMax = kind === "data" ? PACKS_MAX : FILES_MAX;
  let count = 0;
  for await (const file of storage.list(kind, signal)) {
    if (!isId(file.name)) continue;
    if (++count > filesMax) {
      throw new RepositoryError("unsupported", `More than ${filesMax} files of kind ${kind}`);
    }
    yield file;
  }
}

/**
 * Reads, verifies and decrypts a file of JSON.
 *
 * @returns Bytes of the JSON.
 * @throws {RepositoryError} `damaged`
 */
async function loadUnpacked(
  { storage, keys, version }: RepositoryFiles,
  kind: Exclude<FileKind, "keys" | "data">,
  name: string,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const title = titleOf(kind, name);
  const file = await storage.read(kind, name, signal);
  // The config's name is not its hash.
  if (kind !== "config" && idOf(file) !== name) throw damaged(title, "its hash is not its name");
  const bytesMax = kind === "index" ? INDEX_FILE_BYTES_MAX : JSON_FILE_BYTES_MAX;
  if (file.length > bytesMax) throw damaged(title, `it is larger than ${bytesMax} bytes`);
  const plain = await unseal(keys, file, title);
  if (plain[0] === 0x7b || plain[0] === 0x5b) return plain;
  if (plain[0] !== COMPRESSED || version < 2 || kind === "config") {
    throw damaged(title, "it does not begin with JSON or a known encoding version");
  }
  return decompress(plain.subarray(1), bytesMax, title);
}

/** Parsed JSON of {@linkcode loadUnpacked}. */
export async function loadJson(
  files: RepositoryFiles,
  kind: Exclude<FileKind, "keys" | "data">,
  name: string,
  signal: AbortSignal,
): Promise<unknown> {
  return parseJson(await loadUnpacked(files, kind, name, signal), titleOf(kind, name));
}

/** @throws {RepositoryError} `damaged` */
export function parseJson(bytes: Uint8Array, title: string): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw damaged(title, "it is not valid JSON", error);
  }
}

/**
 * Encrypts and writes a file of JSON, and verifies what the target has.
 *
 * @returns Its name.
 */
export async function saveJson(
  files: RepositoryFiles,
  kind: "config" | "locks" | "snapshots" | "index",
  value: string,
  signal: AbortSignal,
): Promise<Id> {
  const json = new TextEncoder().encode(value);
  const plain = files.version < 2 || kind === "config" ? json : compressed(json);
  const bytes = await seal(files.keys, plain);
  const id = idOf(bytes);
  await writeVerified(files.storage, kind, kind === "config" ? "config" : id, bytes, id, signal);
  return id;
}

function compressed(json: Uint8Array): Uint8Array {
  const frame = compress(json);
  const plain = new Uint8Array(frame.length + 1);
  plain[0] = COMPRESSED;
  plain.set(frame, 1);
  return plain;
}

/**
 * Writes a file and verifies that the target has it, because a target can lose or alter a write
 * that it confirmed.
 *
 * @param id SHA-256 of the bytes.
 * @throws {StorageError} `damaged` if the target has something else.
 */
export async function writeVerified(
  storage: Storage,
  kind: FileKind,
  name: string,
  bytes: Uint8Array,
  id: Id,
  signal: AbortSignal,
): Promise<void> {
  const size = bytes.length;
  await storage.write(kind, name, bytes, signal);
  if (await isStored(storage, kind, { name, size }, id, signal)) return;
  // An index file that cannot be read would make the repository unusable.
  await storage.remove(kind, name, signal).catch(() => {});
  throw new StorageError(
    "damaged",
    `${titleOf(kind, name)} is not at the target as it was written; check the target's disks`,
  );
}

async function isStored(
  storage: Storage,
  kind: FileKind,
  file: StoredFile,
  id: Id,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    return await storedHash(storage, kind, file, signal) === id;
  } catch (error) {
    if (error instanceof StorageError && /^(not_found|damaged)$/.test(error.reason)) return false;
    throw error;
  }
}

/** SHA-256 of a file at the target: the target's own checksum, or of the bytes read back. */
export async function storedHash(
  storage: Storage,
  kind: FileKind,
  { name, size }: StoredFile,
  signal: AbortSignal,
): Promise<Id | undefined> {
  const checksum = await storage.checksum?.(kind, name, signal);
  if (checksum !== undefined) return checksum;
  const hash = nodeCrypto().createHash("sha256");
  for (let offset = 0; offset < size; offset += READ_BACK_BYTES) {
    const length = Math.min(READ_BACK_BYTES, size - offset);
    const piece = await storage.read(kind, name, signal, { offset, length });
    hash.update(piece);
    free(piece);
  }
  return hash.digest("hex");
}
