/** Headers of tar archives (POSIX.1-1988 "ustar"), as far as plain files need them. @module */

export const TAR_BLOCK_BYTES = 512;

/** Maximum file size in the format: eleven octal digits. */
export const TAR_FILE_BYTES_MAX = 8 ** 11 - 1;

const NAME_BYTES_MAX = 100;

/** Offset and length of the header fields. */
const FIELDS = {
  name: [0, NAME_BYTES_MAX],
  mode: [100, 8],
  uid: [108, 8],
  gid: [116, 8],
  size: [124, 12],
  mtime: [136, 12],
  checksum: [148, 8],
  type: [156, 1],
  magic: [257, 8],
  prefix: [345, 155],
} as const;

const PLAIN_FILE = "0";
const MAGIC = "ustar\0" + "00";

/** The header of a file. */
export interface TarFile {
  name: string;
  /** In bytes. */
  size: number;
}

/** Owner and mode of a file. */
export interface TarOwner {
  mode: number;
  uid: number;
  gid: number;
}

/** The bytes are not the header of a regular file. */
export class TarError extends Error {
  override readonly name = "TarError";
}

const encoder = new TextEncoder();

/**
 * Creates the header of a file; by default one that only root may read.
 *
 * @throws {TarError} If the name is too long or the file too large for the format.
 */
export function tarHeader(
  { name, size }: TarFile,
  modifiedAt: Date,
  { mode, uid, gid }: TarOwner = { mode: 0o600, uid: 0, gid: 0 },
): Uint8Array<ArrayBuffer> {
  const { prefix, last } = splitName(name);
  if (size > TAR_FILE_BYTES_MAX) throw new TarError(`${name} is larger than 8 GiB`);
  const header = new Uint8Array(TAR_BLOCK_BYTES);
  const put = (field: keyof typeof FIELDS, text: string) =>
    header.set(encoder.encode(text), FIELDS[field][0]);
  put("name", last);
  put("prefix", prefix);
  put("mode", octal(mode, 7));
  put("uid", octal(uid, 7));
  put("gid", octal(gid, 7));
  put("size", octal(size, 11));
  put("mtime", octal(Math.floor(modifiedAt.getTime() / 1000), 11));
  put("type", PLAIN_FILE);
  put("magic", MAGIC);
  put("checksum", checksumText(header));
  return header;
}

/**
 * Reads a header.
 *
 * @returns `undefined` for the block of zeros that ends an archive.
 * @throws {TarError} For anything but a regular file: damage, links, directories, devices.
 */
export function readTarHeader(header: Uint8Array): TarFile | undefined {
  if (isZero(header)) return undefined;
  const [start, length] = FIELDS.checksum;
  const sum = new TextDecoder().decode(header.subarray(start, start + length));
  if (sum !== checksumText(header)) throw new TarError("a header is damaged");
  const name = text(header, "name");
  const type = text(header, "type");
  if (type !== PLAIN_FILE) throw new TarError(`${JSON.stringify(name)} is not a regular file`);
  if (text(header, "prefix") !== "") throw new TarError(`${JSON.stringify(name)} has a path`);
  const size = number(header, "size");
  if (size === undefined) throw new TarError(`${JSON.stringify(name)} has no size`);
  return { name, size };
}

/** Types of headers that describe the next one: POSIX.1-2001 and GNU. */
const EXTENSIONS = ["x", "g", "L", "K"];

/**
 * Reads the first entry of an archive, with attributes of newer formats left out.
 *
 * @throws {TarError} For anything but a regular file.
 */
export function readFirstFile(archive: Uint8Array): { bytes: Uint8Array; owner: TarOwner } {
  for (let start = 0; start + TAR_BLOCK_BYTES <= archive.length;) {
    const header = archive.subarray(start, start + TAR_BLOCK_BYTES);
    const size = number(header, "size");
    if (size === undefined) throw new TarError("a header has no size");
    start += TAR_BLOCK_BYTES;
    const type = text(header, "type");
    if (EXTENSIONS.includes(type)) {
      start += size + tarPadding(size);
      continue;
    }
    const [mode, uid, gid] = [
      number(header, "mode"),
      number(header, "uid"),
      number(header, "gid"),
    ];
    if (type !== PLAIN_FILE || mode === undefined || uid === undefined || gid === undefined) {
      throw new TarError(`${JSON.stringify(text(header, "name"))} is not a regular file`);
    }
    if (start + size > archive.length) throw new TarError("the archive is incomplete");
    return { bytes: archive.subarray(start, start + size), owner: { mode, uid, gid } };
  }
  throw new TarError("the archive is empty");
}

/** Returns the number of zeros after a file, so that the next header starts at a block. */
export function tarPadding(size: number): number {
  return (TAR_BLOCK_BYTES - size % TAR_BLOCK_BYTES) % TAR_BLOCK_BYTES;
}

export function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}

/** A long path is in two fields, separated at a slash. */
function splitName(name: string): { prefix: string; last: string } {
  const lengthOf = (part: string) => encoder.encode(part).length;
  if (name !== "" && lengthOf(name) <= NAME_BYTES_MAX) return { prefix: "", last: name };
  for (let at = name.indexOf("/"); at > 0; at = name.indexOf("/", at + 1)) {
    const [prefix, last] = [name.slice(0, at), name.slice(at + 1)];
    if (lengthOf(prefix) > FIELDS.prefix[1]) break;
    if (last !== "" && lengthOf(last) <= NAME_BYTES_MAX) return { prefix, last };
  }
  throw new TarError(`the name ${name} is too long`);
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0") + "\0";
}

/** Returns the checksum field: the sum of all header bytes, with the field itself as spaces. */
function checksumText(header: Uint8Array): string {
  const [start, length] = FIELDS.checksum;
  const space = 0x20;
  const sum = header.reduce(
    (sum, byte, at) => sum + (at >= start && at < start + length ? space : byte),
    0,
  );
  return `${octal(sum, 6)} `;
}

function text(header: Uint8Array, field: keyof typeof FIELDS): string {
  const [start, length] = FIELDS[field];
  const bytes = header.subarray(start, start + length);
  const end = bytes.indexOf(0);
  return new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end));
}

function number(header: Uint8Array, field: keyof typeof FIELDS): number | undefined {
  const digits = text(header, field).trim();
  return /^[0-7]{1,11}$/.test(digits) ? parseInt(digits, 8) : undefined;
}
