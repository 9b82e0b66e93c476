/**
 * Pack files (design document, "Pack Format"):
 *
 *     EncryptedBlob1 || ... || EncryptedBlobN || EncryptedHeader || Header_Length
 *
 * `Header_Length` has four bytes. The header has for each blob, in their order:
 *
 *     type (1 byte) || length (4) || [plain length (4)] || ID (32)
 *
 * Numbers are little-endian. The type is 0 for data and 1 for a tree; 2 and 3 are the same
 * compressed, and only these have a plain length.
 *
 * @module
 */

import type { BlobType, PackedBlob } from "./blob.ts";
import { free } from "./buffers.ts";
import { CRYPTO_OVERHEAD, seal, unseal } from "./crypto.ts";
import type { Id } from "./id.ts";
import { damaged } from "./repository_error.ts";
import { type RepositoryFiles, titleOf } from "./repository_files.ts";
import type { StoredFile } from "./storage.ts";

/** A pack is complete when its blobs have this size. */
export const PACK_BYTES = 16 * 1024 * 1024;

const LENGTH_BYTES = 4;
const PLAIN_ENTRY_BYTES = 1 + 4 + 32;
const COMPRESSED_ENTRY_BYTES = PLAIN_ENTRY_BYTES + 4;

/** Bytes at the end of a pack that are read at first: a header of about 1,500 blobs. */
const FIRST_READ_BYTES = 64 * 1024;

/** Bytes of a header: 400,000 blobs. */
const HEADER_BYTES_MAX = 16 * 1024 * 1024;

/** Bytes that a blob adds to a pack's header. */
export const headerEntryBytes = ({ uncompressedLength }: Pick<PackedBlob, "uncompressedLength">) =>
  uncompressedLength === undefined ? PLAIN_ENTRY_BYTES : COMPRESSED_ENTRY_BYTES;

/** Bytes of a pack beside its blobs and their entries in the header. */
export const PACK_OVERHEAD = CRYPTO_OVERHEAD + LENGTH_BYTES;

/** Joins encrypted blobs with their header, and frees them. */
export async function encodePack(
  { keys }: RepositoryFiles,
  blobs: readonly PackedBlob[],
  contents: readonly Uint8Array[],
): Promise<Uint8Array> {
  const header = await seal(keys, encodeHeader(blobs));
  const headerBytes = header.length;
  const blobBytes = blobs.reduce((sum, { length }) => sum + length, 0);
  const pack = new Uint8Array(blobBytes + headerBytes + LENGTH_BYTES);
  let offset = 0;
  for (const part of [...contents, header]) {
    pack.set(part, offset);
    offset += part.length;
    free(part);
  }
  new DataView(pack.buffer).setUint32(offset, headerBytes, true);
  return pack;
}

/** Reads the header at the end of a pack. @throws {RepositoryError} `damaged` */
export async function readHeader(
  files: RepositoryFiles,
  { name, size }: StoredFile,
  signal: AbortSignal,
): Promise<PackedBlob[]> {
  const title = titleOf("data", name);
  if (size < PACK_OVERHEAD) throw damaged(title, "it is too short");
  const readEnd = (length: number) =>
    files.storage.read("data", name, signal, { offset: size - length, length });
  let end = await readEnd(Math.min(size, FIRST_READ_BYTES));
  const length = headerLength(end, size, title);
  if (length + LENGTH_BYTES > end.length) end = await readEnd(length + LENGTH_BYTES);
  return await openHeader(files, end, size, title);
}

/** Blobs of a whole pack. @throws {RepositoryError} `damaged` */
export function parsePack(
  files: RepositoryFiles,
  pack: Uint8Array,
  name: Id,
): Promise<PackedBlob[]> {
  return openHeader(files, pack, pack.length, titleOf("data", name));
}

async function openHeader(
  { keys }: RepositoryFiles,
  end: Uint8Array,
  size: number,
  title: string,
): Promise<PackedBlob[]> {
  const length = headerLength(end, size, title);
  const start = end.length - LENGTH_BYTES - length;
  const header = await unseal(keys, end.subarray(start, start + length), title);
  const blobs = [...decodeHeader(header, title)];
  const blobBytes = blobs.reduce((sum, blob) => sum + blob.length, 0);
  if (blobBytes + length + LENGTH_BYTES !== size) {
    throw damaged(title, "its header does not match its size");
  }
  return blobs;
}

function headerLength(end: Uint8Array, size: number, title: string): number {
  if (end.length < PACK_OVERHEAD) throw damaged(title, "it is too short");
  const view = new DataView(end.buffer, end.byteOffset, end.byteLength);
  const length = view.getUint32(end.length - LENGTH_BYTES, true);
  if (length < CRYPTO_OVERHEAD || length > HEADER_BYTES_MAX || length + LENGTH_BYTES > size) {
    throw damaged(title, "its header has an impossible length");
  }
  return length;
}

function encodeHeader(blobs: readonly PackedBlob[]): Uint8Array {
  const header = new Uint8Array(blobs.reduce((sum, blob) => sum + headerEntryBytes(blob), 0));
  const view = new DataView(header.buffer);
  let offset = 0;
  for (const { id, type, length, uncompressedLength } of blobs) {
    const isCompressed = uncompressedLength !== undefined;
    header[offset] = (type === "tree" ? 1 : 0) + (isCompressed ? 2 : 0);
    view.setUint32(offset + 1, length, true);
    if (isCompressed) view.setUint32(offset + 5, uncompressedLength, true);
    header.set(Uint8Array.fromHex(id), offset + (isCompressed ? 9 : 5));
    offset += isCompressed ? COMPRESSED_ENTRY_BYTES : PLAIN_ENTRY_BYTES;
  }
  return header;
}

function* decodeHeader(header: Uint8Array, title: string): Generator<PackedBlob> {
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  let offset = 0;
  for (let position = 0; position < header.length;) {
    const code = header[position]!;
    const isCompressed = (code & 2) !== 0;
    const next = position + (isCompressed ? COMPRESSED_ENTRY_BYTES : PLAIN_ENTRY_BYTES);
    if (code > 3 || next > header.length) throw damaged(title, "its header has an unknown entry");
    const length = view.getUint32(position + 1, true);
    if (length < CRYPTO_OVERHEAD) throw damaged(title, "its header has a blob without content");
    const type: BlobType = (code & 1) === 1 ? "tree" : "data";
    yield {
      id: header.subarray(next - 32, next).toHex(),
      type,
      offset,
      length,
      uncompressedLength: isCompressed ? view.getUint32(position + 5, true) : undefined,
    };
    offset += length;
    position = next;
  }
}
