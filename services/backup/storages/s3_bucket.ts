/** Requests to a bucket, signed, and what its errors mean. @module */

import * as z from "zod";
import { type AwsCredentials, signAwsRequest } from "../../outbound/aws_signature.ts";
import type { OutboundResponse } from "../../outbound/http.ts";
import { parseXml } from "../../outbound/xml.ts";
import { trimEnd } from "../../text/trim_end.ts";
import { StorageError, type StorageReason } from "../restic/storage.ts";
import {
  describeStatus,
  requestTarget,
  SHORT_ANSWER_MAX,
  type StorageDeps,
  type TargetRequest,
} from "./requests.ts";

export interface S3Settings extends AwsCredentials {
  /** Scheme, host and port. */
  endpoint: string;
  bucket: string;
  /** Path of the repository in the bucket without a slash at either side; empty for the bucket. */
  prefix: string;
  /** PEM: trusted besides the public authorities. */
  caCertificate: string | null;
}

/** A bucket with what its requests need. */
export interface Bucket {
  deps: StorageDeps;
  settings: S3Settings;
  /** URL that keys are appended to. */
  base: URL;
  /** In messages. */
  host: string;
  /** Beginning of the repository's keys: empty, or ends with a slash. */
  prefix: string;
}

interface BucketRequest {
  method: Exclude<TargetRequest["method"], "POST">;
  /** Path in the repository; none for a list. */
  key?: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: { bytes: Uint8Array; sha256: Uint8Array };
  /** Default: answers whose body does not matter. */
  bodyMax?: number;
  /** Further statuses that do not count as failures. */
  accepts?: readonly number[];
}

/**
 * Hosts that take the bucket as a part of their name. All other servers know it as the first part of
 * the path, and most of them only so.
 */
const NAMED_HOSTS = /(^|\.)(amazonaws\.com(\.cn)?|aliyuncs\.com)$/;

const EMPTY_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/** Permissions by method, as Amazon names them. */
const PERMISSIONS = {
  GET: "s3:GetObject and s3:ListBucket",
  HEAD: "s3:GetObject and s3:ListBucket",
  PUT: "s3:PutObject",
  DELETE: "s3:DeleteObject; a bucket may be append-only",
};

/** Meaning of the error codes of the protocol. */
const ERRORS: Record<string, [StorageReason, string]> = {
  BadDigest: ["damaged", "the bytes were changed on the way; check the network"],
  ExpiredToken: ["forbidden", "the credentials have expired; enter others"],
  InsufficientStorage: ["full", "no room is left; free some, or raise the quota"],
  InvalidAccessKeyId: ["forbidden", "the access key is unknown; correct accessKeyId"],
  InvalidBucketName: ["failed", "the bucket's name is not valid; correct the location"],
  InvalidDigest: ["damaged", "the bytes were changed on the way; check the network"],
  NoSuchBucket: ["failed", "the bucket does not exist; create it, or correct the location"],
  NoSuchKey: ["not_found", "the object does not exist"],
  QuotaExceeded: ["full", "the quota is used up; free room, or raise it"],
  RequestTimeTooSkewed: ["forbidden", "the clock of this host or of the server is wrong; set it"],
  SignatureDoesNotMatch: [
    "forbidden",
    "the signature is not valid; correct secretAccessKey and region",
  ],
  XAmzContentChecksumMismatch: [
    "damaged",
    "the bytes were changed on the way; check the network",
  ],
  XMinioStorageFull: ["full", "the server's disks are full; free room"],
};

/** Codes and statuses of a request that went to another region than the bucket's. */
const REGION_CODES = new Set([
  "AuthorizationHeaderMalformed",
  "IllegalLocationConstraintException",
  "PermanentRedirect",
]);

const ErrorDocument = z.object({
  Error: z.object({ Code: z.string(), Region: z.string().optional() }),
});

export function toBucket(deps: StorageDeps, settings: S3Settings): Bucket {
  const { endpoint, bucket, prefix } = settings;
  const base = new URL(endpoint);
  const { host } = base;
  // A dot would leave the wildcard of the server's certificate.
  if (NAMED_HOSTS.test(base.hostname) && !bucket.includes(".")) {
    base.hostname = `${bucket}.${base.hostname}`;
  } else base.pathname = `/${bucket}`;
  return { deps, settings, base, host, prefix: prefix === "" ? "" : `${prefix}/` };
}

/**
 * Sends a signed request.
 *
 * @throws {StorageError} For a status that is neither 2xx nor accepted.
 */
export async function askBucket(
  bucket: Bucket,
  request: BucketRequest,
  signal: AbortSignal,
): Promise<OutboundResponse> {
  const { method, accepts = [] } = request;
  const answer = await sendSigned(bucket, request, signal);
  const isFine = answer.status >= 200 && answer.status < 300 || accepts.includes(answer.status);
  if (isFine && !await isMissingBucket(answer)) return answer;
  // An answer to HEAD has no body that would say why.
  const isSilent = method === "HEAD" && answer.status !== 404;
  const reason = isSilent
    ? await sendSigned(bucket, { ...request, method: "GET" }, signal)
    : answer;
  throw await toFailure(bucket, method, reason.status >= 300 ? reason : answer);
}

async function sendSigned(
  { deps, settings, base, prefix }: Bucket,
  { method, key, query, headers = {}, body, bodyMax = SHORT_ANSWER_MAX }: BucketRequest,
  signal: AbortSignal,
): Promise<OutboundResponse> {
  const url = new URL(base);
  if (key !== undefined) url.pathname = `${trimEnd(url.pathname, "/")}/${prefix}${key}`;
  url.search = new URLSearchParams(query).toString();
  const signed = await signAwsRequest({
    url: url.href,
    method,
    headers: { ...headers, "x-amz-content-sha256": body?.sha256.toHex() ?? EMPTY_SHA256 },
    service: "s3",
    now: deps.now(),
  }, settings);
  return await requestTarget(deps, {
    url,
    method,
    headers: signed,
    body: body?.bytes,
    bodyMax: Math.max(bodyMax, SHORT_ANSWER_MAX),
    caCertificate: settings.caCertificate,
  }, signal);
}

/** A missing bucket must not look like one without the file. */
const isMissingBucket = async (answer: OutboundResponse) =>
  answer.status === 404 && (await readError(answer))?.Code === "NoSuchBucket";

async function toFailure(
  { host, settings: { bucket } }: Bucket,
  method: BucketRequest["method"],
  answer: OutboundResponse,
): Promise<StorageError> {
  const failure = (reason: StorageReason, problem: string) =>
    new StorageError(reason, `${host}, bucket ${bucket}: ${problem}`);
  const error = await readError(answer);
  const code = error?.Code ?? "";
  if (REGION_CODES.has(code) || answer.status === 301) {
    const region = shortWord(answer.headers["x-amz-bucket-region"] ?? error?.Region);
    return failure(
      "failed",
      `the bucket is in another region; set region${region && ` to ${region}`}`,
    );
  }
  const [reason, problem] = Object.hasOwn(ERRORS, code) ? ERRORS[code]! : [];
  if (reason && problem) return failure(reason, problem);
  if (answer.status === 403 || answer.status === 401) {
    return failure("forbidden", `access denied; allow the access key ${PERMISSIONS[method]}`);
  }
  if (answer.status === 404) return failure("not_found", "the object does not exist");
  const known = describeStatus(answer, host);
  const word = shortWord(code);
  return word === "" ? known : new StorageError(known.reason, `${known.message} (${word})`);
}

async function readError(answer: OutboundResponse) {
  if (answer.body.length === 0 || answer.body.length > SHORT_ANSWER_MAX) return undefined;
  return ErrorDocument.safeParse(await parseXml(answer.text(), [])).data?.Error;
}

/** Text of the server that may be shown; empty otherwise. */
const shortWord = (text: string | undefined) => /^[\w-]{1,60}$/.test(text ?? "") ? text! : "";
