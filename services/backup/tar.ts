/** Headers of tar archives (POSIX.1-1988 "ustar", and GNU's binary numbers). @module */

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
  linkName: [157, NAME_BYTES_MAX],
  magic: [257, 8],
  user: [265, 32],
  group: [297, 32],
  prefix: [345, 155],
} as const;

type Field = keyof typeof FIELDS;

const PLAIN_FILE = "0";
const MAGIC = "ustar\0" + "00";

/** A header as it stands in the archive. Texts have a character for each byte. */
export interface TarHeader {
  name: string;
  mode: number;
  uid: number;
  gid: number;
  /** Bytes of content that follow. */
  size: number;
  /** Unix seconds. */
  mtime: number;
  /** One character, e.g. `5` for a directory. */
  type: string;
  linkName: string;
  user: string;
  group: string;
}

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
  owner: TarOwner = { mode: 0o600, uid: 0, gid: 0 },
): Uint8Array<ArrayBuffer> {
  const { prefix, last } = splitName(name);
  if (size > TAR_FILE_BYTES_MAX) throw new TarError(`${name} is larger than 8 GiB`);
  const mtime = Math.floor(modifiedAt.getTime() / 1000);
  return encodeTarHeader({ ...owner, name: bytesOf(last), size, mtime }, bytesOf(prefix));
}

/**
 * Encodes a header. Numbers and texts must fit in their fields; defaults are a regular file of root.
 *
 * @param prefix Directory of a long name.
 */
export function encodeTarHeader(values: Partial<TarHeader>, prefix = ""): Uint8Array<ArrayBuffer> {
  const header = new Uint8Array(TAR_BLOCK_BYTES);
  const put = (field: Field, text: string) => {
    const [start, length] = FIELDS[field];
    if (text.length > length) throw new TarError(`${field} does not fit in a header`);
    for (let at = 0; at < text.length; at++) header[start + at] = text.charCodeAt(at);
  };
  for (const field of ["mode", "uid", "gid", "size", "mtime"] as const) {
    put(field, octal(values[field] ?? 0, FIELDS[field][1] - 1));
  }
  for (const field of ["name", "linkName", "user", "group"] as const) {
    put(field, values[field] ?? "");
  }
  put("prefix", prefix);
  put("type", values.type ?? PLAIN_FILE);
  put("magic", MAGIC);
  put("checksum", `${octal(checksumOf(header), 6)} `);
  return header;
}

/**
 * Decodes a header, also with numbers in GNU's binary form.
 *
 * @returns `undefined` for the block of zeros that ends an archive.
 * @throws {TarError} For a damaged header, and a size that cannot be.
 */
export function decodeTarHeader(header: Uint8Array): TarHeader | undefined {
  if (isZero(header)) return undefined;
  if (number(header, "checksum") !== checksumOf(header)) throw new TarError("a header is damaged");
  const name = text(header, "name");
  const prefix = text(header, "magic").startsWith("ustar") && header[262] === 0
    ? text(header, "prefix")
    : "";
  const size = number(header, "size");
  if (size === undefined) throw new TarError(`${JSON.stringify(name)} has no size`);
  return {
    name: prefix === "" ? name : `${prefix}/${name}`,
    mode: number(header, "mode") ?? 0,
    uid: number(header, "uid") ?? 0,
    gid: number(header, "gid") ?? 0,
    size,
    mtime: number(header, "mtime") ?? 0,
    type: text(header, "type"),
    linkName: text(header, "linkName"),
    user: text(header, "user"),
    group: text(header, "group"),
  };
}

/**
 * Reads the header of a regular file.
 *
 * @returns `undefined` for the block of zeros that ends an archive.
 * @throws {TarError} For anything else: damage, links, directories, devices.
 */
export function readTarHeader(header: Uint8Array): TarFile | undefined {
  const decoded = decodeTarHeader(header);
  if (!decoded) return undefined;
  const { type, size } = decoded;
  const name = new TextDecoder().decode(
    Uint8Array.from(decoded.name, (byte) => byte.charCodeAt(0)),
  );
  // Strict, so that every changed byte is noticed.
  const [start, length] = FIELDS.checksum;
  const sum = String.fromCharCode(...header.subarray(start, start + length));
  if (sum !== `${octal(checksumOf(header), 6)} `) throw new TarError("a header is damaged");
  if (type !== PLAIN_FILE) throw new TarError(`${JSON.stringify(name)} is not a regular file`);
  if (text(header, "prefix") !== "") throw new TarError(`${JSON.stringify(name)} has a path`);
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

/** Sum of all header bytes, with the checksum itself as spaces. */
function checksumOf(header: Uint8Array): number {
  const [start, length] = FIELDS.checksum;
  const space = 0x20;
  let sum = space * length;
  for (let at = 0; at < TAR_BLOCK_BYTES; at++) {
    if (at < start || at >= start + length) sum += header[at]!;
  }
  return sum;
}

/** Text of a field, with a character for each byte. */
function text(header: Uint8Array, field: Field): string {
  const [start, length] = FIELDS[field];
  let end = start;
  while (end < start + length && header[end] !== 0) end++;
  return String.fromCharCode(...header.subarray(start, end));
}

const bytesOf = (name: string): string => String.fromCharCode(...encoder.encode(name));

/** Digits in base 8; or binary, if the first bit is set. */
function number(header: Uint8Array, field: Field): number | undefined {
  const [start, length] = FIELDS[field];
  if (header[start]! >= 0x80) return binary(header.subarray(start, start + length));
  const digits = text(header, field).trim();
  return /^[0-7]{1,12}$/.test(digits) ? parseInt(digits, 8) : undefined;
}

/** A whole number in two's complement, big-endian, whose first bit only marks it. */
function binary(bytes: Uint8Array): number | undefined {
  const isNegative = (bytes[0]! & 0x40) !== 0;
  let value = isNegative ? -1n : 0n;
  for (const [at, byte] of bytes.entries()) {
    value = value << 8n | BigInt(at === 0 ? (isNegative ? byte : byte & 0x7f) : byte);
  }
  const found = Number(value);
  return Number.isSafeInteger(found) ? found : undefined;
}
