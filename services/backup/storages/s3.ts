/**
 * Repository in a bucket of Amazon S3 or of a server that speaks its protocol, in restic's default
 * layout. Source: https://docs.aws.amazon.com/AmazonS3/latest/API/
 *
 * @module
 */

import { Buffer } from "node:buffer";
import * as z from "zod";
import { nodeCrypto } from "../../builtins.ts";
import { yieldToEventLoop } from "../../waiting.ts";
import type { OutboundResponse } from "../../outbound/http.ts";
import { parseXml } from "../../outbound/xml.ts";
import { type FileKind, type Storage, StorageError, type StoredFile } from "../restic/storage.ts";
import { nameOf, pathOf } from "./layout.ts";
import { FILE_MAX, readRange, sizeOf, type StorageDeps } from "./requests.ts";
import { askBucket, type Bucket, type S3Settings, toBucket } from "./s3_bucket.ts";
import { sha256Of } from "./sha256.ts";

/** Objects of a page (the protocol's limit), its size in bytes, and pages of a list. */
const PAGE = 1_000;
const PAGE_MAX = 4 * 1024 * 1024;
const PAGES_MAX = 20_000;

const Listing = z.object({
  ListBucketResult: z.object({
    IsTruncated: z.enum(["true", "false"]).default("false"),
    NextContinuationToken: z.string().min(1).max(2_048).optional(),
    Contents: z.array(z.object({
      Key: z.string(),
      Size: z.string().regex(/^\d{1,15}$/).transform(Number),
    })).default([]),
  }),
});

/** Bytes that are hashed without a pause: some 8 ms. */
const MD5_STEP_BYTES = 4 * 1024 * 1024;

/** Names that are not the hash of the content are written only if they do not exist. */
const ONLY_NEW = { "if-none-match": "*" };

/** @param settings The bucket must exist. */
export function createS3Storage(deps: StorageDeps, settings: S3Settings): Storage {
  const bucket = toBucket(deps, settings);
  return {
    list: (kind, signal) =>
      kind === "config" ? listConfig(bucket, signal) : listFiles(bucket, kind, signal),
    read: (kind, name, signal, range) =>
      readRange(
        range,
        bucket.host,
        (reading) => askBucket(bucket, { ...reading, key: pathOf(kind, name) }, signal),
      ),
    write: (kind, name, bytes, signal) => writeObject(bucket, { kind, name }, bytes, signal),
    checksum: (kind, name, signal) => readChecksum(bucket, pathOf(kind, name), signal),
    async remove(kind, name, signal) {
      const key = pathOf(kind, name);
      await askBucket(bucket, { method: "DELETE", key, accepts: [404] }, signal);
    },
  };
}

async function* listConfig(bucket: Bucket, signal: AbortSignal): AsyncGenerator<StoredFile> {
  const head = await askBucket(bucket, { method: "HEAD", key: "config", accepts: [404] }, signal);
  if (head.status !== 404) yield { name: "config", size: sizeOf(head, bucket.host) };
}

async function* listFiles(
  bucket: Bucket,
  kind: FileKind,
  signal: AbortSignal,
): AsyncGenerator<StoredFile> {
  let token: string | undefined;
  for (let page = 0; page < PAGES_MAX; page++) {
    const answer = await askBucket(bucket, {
      method: "GET",
      query: {
        "list-type": "2",
        "max-keys": String(PAGE),
        prefix: `${bucket.prefix}${kind}/`,
        ...(token !== undefined && { "continuation-token": token }),
      },
      bodyMax: PAGE_MAX,
    }, signal);
    const listing = await parseListing(answer, bucket);
    for (const { Key, Size } of listing.Contents) {
      const name = nameOf(kind, Key.slice(bucket.prefix.length));
      if (name !== undefined && Key.startsWith(bucket.prefix)) yield { name, size: Size };
    }
    if (listing.IsTruncated === "false") return;
    // Without a new token the same page would come again and again.
    if (listing.NextContinuationToken === undefined || listing.NextContinuationToken === token) {
      break;
    }
    token = listing.NextContinuationToken;
  }
  throw new StorageError("failed", `${bucket.host} sends a list of objects that does not end`);
}

async function parseListing(answer: OutboundResponse, { host }: Bucket) {
  const parsed = Listing.safeParse(await parseXml(answer.text(), ["Contents"]));
  if (parsed.success) return parsed.data.ListBucketResult;
  const message = `${host} does not answer with a list of objects; check that it speaks S3`;
  throw new StorageError("failed", message);
}

/**
 * Sends the bytes with two checksums, which the server compares before it stores them. An object
 * whose name is the hash of its content may be replaced: the bytes are the same, or were damaged.
 */
async function writeObject(
  bucket: Bucket,
  { kind, name }: { kind: FileKind; name: string },
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<void> {
  const key = pathOf(kind, name);
  const sha256 = await sha256Of(bytes);
  const isOnlyNew = sha256.toHex() !== name;
  if (isOnlyNew && await isStored(bucket, key, bytes, signal)) return;
  const md5 = await md5Of(bytes);
  const put = {
    method: "PUT" as const,
    key,
    body: { bytes, sha256 },
    headers: {
      "content-md5": md5.toBase64(),
      "content-type": "application/octet-stream",
      "x-amz-checksum-sha256": sha256.toBase64(),
    },
  };
  const answer = await askBucket(bucket, {
    ...put,
    headers: { ...put.headers, ...(isOnlyNew && ONLY_NEW) },
    accepts: isOnlyNew ? [409, 412, 501] : [],
  }, signal);
  if (answer.status === 501) {
    // Servers without conditional writes: the check above is all that there is.
    await askBucket(bucket, put, signal);
  } else if (answer.status >= 400) {
    if (!await isStored(bucket, key, bytes, signal)) throw existing(key, bucket);
  } else if (!isConfirmed(answer, { md5, sha256 })) {
    await assertWritten(bucket, key, bytes, signal);
  }
}

/**
 * Whether the server names a checksum of what it stored, and it is right. Entity tags are MD5 unless
 * the server encrypts or splits objects, so that another one proves nothing.
 */
function isConfirmed(
  { headers }: OutboundResponse,
  { md5, sha256 }: Record<"md5" | "sha256", Uint8Array>,
): boolean {
  const checksum = headers["x-amz-checksum-sha256"];
  if (checksum !== undefined) return checksum === sha256.toBase64();
  return headers.etag?.replaceAll('"', "").toLowerCase() === md5.toHex();
}

/**
 * Whether the object is there with the same bytes.
 *
 * @throws {StorageError} `exists` if it has other bytes.
 */
async function isStored(
  bucket: Bucket,
  key: string,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<boolean> {
  const stored = await readIfThere(bucket, key, signal);
  if (stored && !isEqual(stored, bytes)) throw existing(key, bucket);
  return stored !== undefined;
}

/** @throws {StorageError} `damaged` unless the object has the bytes. */
async function assertWritten(
  bucket: Bucket,
  key: string,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<void> {
  const stored = await readIfThere(bucket, key, signal);
  if (stored && isEqual(stored, bytes)) return;
  throw new StorageError("damaged", `${bucket.host} did not store ${key} as it was sent`);
}

async function readIfThere(
  bucket: Bucket,
  key: string,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  const request = { method: "GET", key, bodyMax: FILE_MAX, accepts: [404] } as const;
  const { status, body } = await askBucket(bucket, request, signal);
  return status === 404 ? undefined : body;
}

const isEqual = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

const existing = (key: string, { host }: Bucket) =>
  new StorageError("exists", `${host} already has ${key} with other content`);

/** SHA-256 that the server keeps of an object; `undefined` without one. */
async function readChecksum(
  bucket: Bucket,
  key: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { headers } = await askBucket(bucket, {
    method: "HEAD",
    key,
    headers: { "x-amz-checksum-mode": "ENABLED" },
  }, signal);
  const checksum = headers["x-amz-checksum-sha256"] ?? "";
  return /^[A-Za-z0-9+/]{43}=$/.test(checksum)
    ? Uint8Array.fromBase64(checksum).toHex()
    : undefined;
}

/** MD5, which only the calling thread computes: a pack takes 30 ms, so the event loop runs meanwhile. */
async function md5Of(bytes: Uint8Array): Promise<Uint8Array> {
  const hash = nodeCrypto().createHash("md5");
  for (let at = 0; at < bytes.length; at += MD5_STEP_BYTES) {
    if (at > 0) await yieldToEventLoop();
    hash.update(bytes.subarray(at, at + MD5_STEP_BYTES));
  }
  return hash.digest();
}
