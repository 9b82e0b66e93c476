/**
 * The file format of backups: a tar archive, so that an operator can inspect it.
 *
 * | entry           | content                                                                |
 * | --------------- | ---------------------------------------------------------------------- |
 * | `manifest.json` | format, version, time, and each further file with its size and SHA-256 |
 * | the files       | in the manifest's order                                                |
 * | `SHA256SUMS`    | all of the above, for `sha256sum -c`                                   |
 *
 * The checksums detect damage, not forgery.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { join } from "node:path";
import { nodeCrypto } from "../builtins.ts";
import {
  isZero,
  readTarHeader,
  TAR_BLOCK_BYTES,
  TarError,
  type TarFile,
  tarHeader,
  tarPadding,
} from "./tar.ts";
import { VERSION } from "../version.ts";

const FORMAT = "longshore-backup";

/** Incremented when older versions of this program cannot read the file. */
const FORMAT_VERSION = 1;

const MANIFEST_FILE = "manifest.json";
const SUMS_FILE = "SHA256SUMS";

/** Both are a few hundred bytes. */
const TEXT_BYTES_MAX = 64 * 1024;

/** Chunk size for reading and writing, in bytes. */
const CHUNK_BYTES = 1024 * 1024;

interface BackupEntry extends TarFile {
  /** Hex. */
  sha256: string;
}

/** An open file, with its name in the backup. */
export interface BackupSource {
  name: string;
  file: Deno.FsFile;
}

export interface BackupManifest {
  format: typeof FORMAT;
  formatVersion: number;
  /** Version of the program that made it. */
  programVersion: string;
  /** ISO 8601, UTC. */
  createdAt: string;
  entries: BackupEntry[];
}

/** A file is not a backup, or cannot be restored; the message is a sentence. */
export class BackupFileError extends Error {
  override readonly name = "BackupFileError";
}

/** A backup that is not written yet. */
export interface Archive {
  manifest: BackupManifest;
  /** In bytes. */
  size: number;
  /** Reads the files again. A chunk is valid until the next one. */
  chunks(): AsyncGenerator<Uint8Array>;
}

/**
 * Describes the archive of some files, which must not change until it is written.
 *
 * @throws {TarError} If a file is too large.
 * @throws {DOMException} If `signal` aborts, also while the chunks are read.
 */
export async function createArchive(
  sources: readonly BackupSource[],
  { createdAt, signal }: { createdAt: Date; signal: AbortSignal },
): Promise<Archive> {
  const entries: BackupEntry[] = [];
  for (const { name, file: source } of sources) {
    const hash = nodeCrypto().createHash("sha256");
    let size = 0;
    for await (const chunk of chunksOf(source, signal)) {
      hash.update(chunk);
      size += chunk.length;
    }
    entries.push({ name, size, sha256: hash.digest("hex") });
  }
  const manifest: BackupManifest = {
    format: FORMAT,
    formatVersion: FORMAT_VERSION,
    programVersion: VERSION,
    createdAt: createdAt.toISOString(),
    entries,
  };
  const manifestBytes = Buffer.from(JSON.stringify(manifest, null, 2) + "\n");
  const sums = Buffer.from(sumsOf(manifestBytes, entries));
  const files = [
    { name: MANIFEST_FILE, size: manifestBytes.length, content: () => [manifestBytes] },
    ...entries.map((entry, index) => ({
      ...entry,
      content: () => chunksOf(sources[index]!.file, signal),
    })),
    { name: SUMS_FILE, size: sums.length, content: () => [sums] },
  ];
  const end = new Uint8Array(2 * TAR_BLOCK_BYTES);
  return {
    manifest,
    size: files.reduce(
      (sum, { size }) => sum + TAR_BLOCK_BYTES + size + tarPadding(size),
      end.length,
    ),
    async *chunks() {
      for (const { content, ...file } of files) {
        yield tarHeader(file, createdAt);
        yield* content();
        yield new Uint8Array(tarPadding(file.size));
      }
      yield end;
    },
  };
}

/**
 * Writes a backup to a new file, which only its owner may read, and syncs it to the disk.
 *
 * @param sources The files with their names in the backup.
 * @throws {DOMException} If `signal` aborts.
 */
export async function writeBackupFile(
  path: string,
  sources: readonly BackupSource[],
  options: { createdAt: Date; signal: AbortSignal },
): Promise<BackupManifest> {
  const { manifest, chunks } = await createArchive(sources, options);
  using file = await Deno.open(path, { write: true, createNew: true, mode: 0o600 });
  for await (const chunk of chunks()) await writeAll(file, chunk);
  await file.sync();
  return manifest;
}

/**
 * Reads a backup and writes its files to a directory. Every byte is checked; if this fails, the
 * written files must not be used.
 *
 * @param file The open backup. @param path Its name in messages.
 * @param names The allowed names of files; no others are written.
 * @throws {BackupFileError} If it is not a complete backup of this version or an older one.
 * @throws {DOMException} If `signal` aborts.
 */
export async function readBackupFile(
  file: Deno.FsFile,
  path: string,
  directory: string,
  { names, signal }: { names: readonly string[]; signal: AbortSignal },
): Promise<BackupManifest> {
  const reader = createReader(file, path);
  try {
    const manifestBytes = await readManifest(reader, path);
    const manifest = parseManifest(manifestBytes, path, names);
    for (const entry of manifest.entries) {
      assertSame(await reader.header(), entry);
      await writeEntry(reader, entry, join(directory, entry.name), signal);
    }
    const sums = Buffer.from(sumsOf(manifestBytes, manifest.entries));
    assertSame(await reader.header(), { name: SUMS_FILE, size: sums.length });
    const found = await reader.content(sums.length);
    if (!sums.equals(found)) throw new TarError(`${SUMS_FILE} does not match`);
    await reader.end();
    return manifest;
  } catch (error) {
    if (!(error instanceof TarError)) throw error;
    throw new BackupFileError(`${path} is damaged: ${error.message}`, { cause: error });
  }
}

/** Reads the first file of the archive, which identifies a backup. */
async function readManifest(reader: Reader, path: string): Promise<Buffer> {
  let first: TarFile | undefined;
  try {
    first = await reader.header();
  } catch (error) {
    if (!(error instanceof TarError || error instanceof BackupFileError)) throw error;
  }
  if (first?.name !== MANIFEST_FILE || first.size > TEXT_BYTES_MAX) {
    throw new BackupFileError(`${path} is not a Longshore backup`);
  }
  return await reader.content(first.size);
}

function parseManifest(bytes: Buffer, path: string, names: readonly string[]): BackupManifest {
  let manifest: Partial<BackupManifest> | null;
  try {
    manifest = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new TarError(`${MANIFEST_FILE} is not readable`);
  }
  const { format, formatVersion, programVersion, createdAt, entries } = manifest ?? {};
  if (format !== FORMAT) throw new BackupFileError(`${path} is not a Longshore backup`);
  if (typeof formatVersion === "number" && formatVersion > FORMAT_VERSION) {
    throw new BackupFileError(
      `${path} was made by a newer version (${programVersion}, format ${formatVersion}); ` +
        "restore it with that version",
    );
  }
  const isWhole = formatVersion === FORMAT_VERSION && typeof programVersion === "string" &&
    typeof createdAt === "string" && Array.isArray(entries) && entries.every(isEntry);
  if (!isWhole) throw new TarError(`${MANIFEST_FILE} is incomplete`);
  const seen = new Set<string>();
  for (const { name } of entries) {
    if (!names.includes(name)) {
      throw new TarError(`${JSON.stringify(name)} does not belong in a backup`);
    }
    if (seen.has(name)) throw new TarError(`${name} occurs twice`);
    seen.add(name);
  }
  return manifest as BackupManifest;
}

function isEntry(value: unknown): value is BackupEntry {
  const { name, size, sha256 } = (value ?? {}) as Record<string, unknown>;
  return typeof name === "string" && Number.isSafeInteger(size) && size as number >= 0 &&
    typeof sha256 === "string" && /^[0-9a-f]{64}$/.test(sha256);
}

function assertSame(found: TarFile | undefined, expected: TarFile): void {
  if (found?.name === expected.name && found.size === expected.size) return;
  throw new TarError(`${expected.name} is not in the expected position`);
}

async function writeEntry(
  reader: Reader,
  { name, size, sha256 }: BackupEntry,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const hash = nodeCrypto().createHash("sha256");
  using file = await Deno.open(path, { write: true, createNew: true, mode: 0o600 });
  for await (const chunk of reader.chunks(size)) {
    signal.throwIfAborted();
    hash.update(chunk);
    await writeAll(file, chunk);
  }
  if (hash.digest("hex") !== sha256) throw new TarError(`${name} does not match its checksum`);
  await file.sync();
}

type Reader = ReturnType<typeof createReader>;

function createReader(file: Deno.FsFile, path: string) {
  const block = new Uint8Array(TAR_BLOCK_BYTES);
  const exactly = async (bytes: Uint8Array) => {
    if (await readFull(file, bytes) < bytes.length) {
      throw new BackupFileError(`${path} is truncated`);
    }
    return bytes;
  };
  const reader = {
    /** Reads the next header; `undefined` at the end of the archive. */
    header: async () => readTarHeader(await exactly(block)),
    /** Reads a file in chunks, and its padding. A chunk is valid until the next one. */
    async *chunks(size: number): AsyncGenerator<Uint8Array> {
      const buffer = new Uint8Array(Math.min(size, CHUNK_BYTES));
      for (let left = size; left > 0;) {
        const chunk = await exactly(buffer.subarray(0, Math.min(left, buffer.length)));
        left -= chunk.length;
        yield chunk;
      }
      if (!isZero(await exactly(block.subarray(0, tarPadding(size))))) {
        throw new TarError("there is data between two files");
      }
    },
    /** Reads a whole file. */
    async content(size: number): Promise<Buffer> {
      const parts: Buffer[] = [];
      for await (const chunk of reader.chunks(size)) parts.push(Buffer.from(chunk));
      return Buffer.concat(parts);
    },
    /** Checks that the archive ends here. */
    async end(): Promise<void> {
      if (!isZero(await exactly(new Uint8Array(2 * TAR_BLOCK_BYTES)))) {
        throw new TarError("there is data after its end");
      }
      const rest = new Uint8Array(CHUNK_BYTES);
      for (let read; (read = await readFull(file, rest)) > 0;) {
        if (!isZero(rest.subarray(0, read))) throw new TarError("there is data after its end");
      }
    },
  };
  return reader;
}

/** Returns the checksums in the format of `sha256sum`. */
function sumsOf(manifest: Uint8Array, entries: readonly BackupEntry[]): string {
  const sha256 = nodeCrypto().createHash("sha256").update(manifest).digest("hex");
  return [{ name: MANIFEST_FILE, sha256 }, ...entries]
    .map((entry) => `${entry.sha256}  ${entry.name}\n`)
    .join("");
}

async function* chunksOf(file: Deno.FsFile, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  await file.seek(0, Deno.SeekMode.Start);
  const buffer = new Uint8Array(CHUNK_BYTES);
  for (let read; (read = await readFull(file, buffer)) > 0;) {
    signal.throwIfAborted();
    yield buffer.subarray(0, read);
  }
}

/** Fills the buffer, or reads to the end of the file. @returns The number of bytes read. */
async function readFull(file: Deno.FsFile, buffer: Uint8Array): Promise<number> {
  let at = 0;
  while (at < buffer.length) {
    const read = await file.read(buffer.subarray(at));
    if (read === null) break;
    at += read;
  }
  return at;
}

/** Writes the bytes where the file is. */
export async function writeAll(file: Deno.FsFile, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await file.write(bytes.subarray(at));
}
