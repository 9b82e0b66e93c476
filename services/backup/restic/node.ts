/**
 * Nodes of trees (design document, "Trees and Data"): the JSON of a file, a directory or another entry
 * of a directory, with the fields in restic's order. Times are RFC 3339, modes have the bits of Go's
 * `os.FileMode` (https://pkg.go.dev/io/fs#FileMode).
 *
 * @module
 */

import type { ByteString, EntryType, Xattr } from "./entry.ts";
import { bytesOf } from "./entry_directory.ts";
import { fromUtf8, latin1, quote, toBytes, unquote } from "./go_quote.ts";
import { type Id, isId } from "./id.ts";
import { type Fields, type Shape, shapeOf } from "./json_shape.ts";
import { NAME_BYTES_MAX } from "./limits.ts";
import { damaged, shown } from "./repository_error.ts";
import { formatTime, parseTime } from "./time.ts";

/** Node of a tree. */
export interface Node {
  name: ByteString;
  type: EntryType;
  /** POSIX, without the type. */
  mode: number;
  /** Nanoseconds since 1970. */
  mtime: bigint;
  ctime: bigint;
  uid: number;
  gid: number;
  user: string;
  group: string;
  /** 0: unknown. */
  inode: bigint;
  deviceId: bigint;
  size: number;
  /** Number of hard links; 0: unknown. */
  links: number;
  linkTarget: ByteString | undefined;
  xattrs: Xattr[];
  /** `st_rdev` */
  device: number;
  /** Data blobs of a file. */
  content: Id[] | undefined;
  /** Tree of a directory. */
  subtree: Id | undefined;
}

const TYPE_BITS: Record<EntryType, number> = {
  file: 0,
  dir: 2 ** 31,
  symlink: 2 ** 27,
  dev: 2 ** 26,
  chardev: 2 ** 26 + 2 ** 21,
  fifo: 2 ** 25,
  socket: 2 ** 24,
};

/** Bits of POSIX by those of Go. */
const MODE_BITS = [[0o4000, 2 ** 23], [0o2000, 2 ** 22], [0o1000, 2 ** 20]] as const;

const UINT32_MAX = 0xffffffff;

/** Value of the JSON that restic writes for a node, without line breaks. */
export function encodeNode(node: Node): string {
  const { linkTarget = "" } = node;
  const targetText = fromUtf8(linkTarget);
  return goJson({
    name: quote(node.name),
    type: node.type,
    mode: goMode(node) || undefined,
    mtime: formatTime(node.mtime),
    atime: formatTime(node.mtime),
    ctime: formatTime(node.ctime),
    uid: node.uid,
    gid: node.gid,
    user: node.user || undefined,
    group: node.group || undefined,
    inode: number(node.inode),
    device_id: number(node.deviceId),
    size: node.size || undefined,
    links: node.links || undefined,
    linktarget: (targetText ?? new TextDecoder().decode(toBytes(linkTarget))) || undefined,
    linktarget_raw: targetText === undefined ? toBytes(linkTarget).toBase64() : undefined,
    extended_attributes: node.xattrs.length === 0
      ? undefined
      : node.xattrs.map(({ name, value }) => ({ name, value: value.toBase64() })),
    device: node.device || undefined,
    content: node.content ?? null,
    subtree: node.subtree,
  });
}

/** Missing in TypeScript's types. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

/** Integers of 64 bits keep their digits. */
const number = (value: bigint) => value === 0n ? undefined : rawJSON(String(value));

/** JSON as Go writes it, which escapes characters of HTML and two line separators. */
const goJson = (value: unknown) =>
  JSON.stringify(value).replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

function goMode({ type, mode }: Pick<Node, "type" | "mode">): number {
  let bits = TYPE_BITS[type] + (mode & 0o777);
  for (const [posix, go] of MODE_BITS) if (mode & posix) bits += go;
  return bits;
}

/**
 * Reads a node of foreign JSON.
 *
 * @param title Names the tree in messages.
 * @throws {RepositoryError} `damaged`, also for a name that would lead out of its directory.
 */
export function decodeNode(json: string, title: string): Node {
  const shape = shapeOf(title);
  const fields = shape.object(parse(json, title), "a node");
  const name = unquote(shape.text(fields.name, "name"));
  assertName(name, title);
  const type = fields.type as EntryType;
  if (TYPE_BITS[type] === undefined) throw damaged(title, `${shown(name)} has an unknown type`);
  return {
    name,
    type,
    mode: posixMode(shape.count(fields.mode, "mode", UINT32_MAX)),
    mtime: time(fields.mtime, shape, title),
    ctime: time(fields.ctime, shape, title),
    uid: shape.count(fields.uid, "uid", UINT32_MAX),
    gid: shape.count(fields.gid, "gid", UINT32_MAX),
    user: shape.text(fields.user ?? "", "user"),
    group: shape.text(fields.group ?? "", "group"),
    inode: bigint(fields.inode, title),
    deviceId: bigint(fields.device_id, title),
    size: Number(bigint(fields.size, title)),
    links: shape.count(Number(bigint(fields.links, title)), "links"),
    linkTarget: type === "symlink" ? linkTarget(fields, shape) : undefined,
    xattrs: shape.array(fields.extended_attributes ?? [], "extended_attributes").map((value) => {
      const xattr = shape.object(value, "an extended attribute");
      return {
        name: shape.text(xattr.name, "name"),
        value: shape.bytes(xattr.value ?? "", "value"),
      };
    }),
    device: shape.count(Number(bigint(fields.device, title)), "device"),
    content: type === "file" ? content(fields, shape, title) : undefined,
    subtree: type === "dir" ? shape.id(fields.subtree, "subtree") : undefined,
  };
}

/** Integers of more than 53 bits, which become `bigint`, are rare, and looking for them is slow. */
function parse(json: string, title: string): unknown {
  try {
    return /:\d{16}/.test(json) ? JSON.parse(json, reviveBigint) : JSON.parse(json);
  } catch (error) {
    throw damaged(title, "a node is not valid JSON", error);
  }
}

function reviveBigint(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const { source = "" } = context ?? {};
  return /^\d{1,20}$/.test(source) ? BigInt(source) : value;
}

function assertName(name: ByteString | undefined, title: string): asserts name is ByteString {
  if (name === undefined) throw damaged(title, "a name is not quoted correctly");
  const isValid = name !== "" && name !== "." && name !== ".." && !/[/\0]/.test(name);
  if (!isValid) throw damaged(title, `the name "${shown(name)}" would lead out of its directory`);
  if (name.length > NAME_BYTES_MAX) throw damaged(title, "a name is too long");
}

function posixMode(goBits: number): number {
  let mode = goBits & 0o777;
  for (const [posix, go] of MODE_BITS) if (goBits & go) mode |= posix;
  return mode;
}

function time(value: unknown, shape: Shape, title: string): bigint {
  const parsed = value === undefined ? 0n : parseTime(shape.text(value, "a time"));
  if (parsed === undefined) throw damaged(title, "a time is not RFC 3339");
  return parsed;
}

function bigint(value: unknown, title: string): bigint {
  if (value === undefined) return 0n;
  if (typeof value === "bigint") return value;
  if (Number.isSafeInteger(value) && (value as number) >= 0) return BigInt(value as number);
  throw damaged(title, "a number is impossible");
}

function linkTarget(fields: Fields, shape: Shape): ByteString {
  return fields.linktarget_raw === undefined
    ? bytesOf(shape.text(fields.linktarget ?? "", "linktarget"))
    : latin1(shape.bytes(fields.linktarget_raw, "linktarget_raw"));
}

function content(fields: Fields, shape: Shape, title: string): Id[] {
  const ids = shape.array(fields.content ?? [], "content");
  if (!ids.every(isId)) throw damaged(title, "content has something else than IDs");
  return ids;
}
