/**
 * Repository behind restic's REST protocol, e.g. `rest-server` or `rclone serve restic`.
 * Source: https://restic.readthedocs.io/en/stable/REST_backend.html
 *
 * @module
 */

import { Buffer } from "node:buffer";
import * as z from "zod";
import type { OutboundResponse } from "../../outbound/http.ts";
import { basicAuthorization } from "../../outbound/url_credentials.ts";
import { type FileKind, type Storage, StorageError, type StoredFile } from "../restic/storage.ts";
import { isFileName } from "./layout.ts";
import {
  describeStatus,
  FILE_MAX,
  readRange,
  requestTarget,
  SHORT_ANSWER_MAX,
  sizeOf,
  type StorageDeps,
  type TargetRequest,
} from "./requests.ts";
import { sha256Of } from "./sha256.ts";

export interface RestSettings {
  /** Address of the repository. */
  url: string;
  /** Without one, no credentials are sent. */
  username: string | null;
  userPassword: string | null;
  /** PEM: trusted besides the public authorities. */
  caCertificate: string | null;
}

/** Largest list, in bytes: some 600,000 files. */
const LIST_MAX = 64 * 1024 * 1024;

/** Asks for sizes; servers that know only version 1 ignore it, and send names. */
const LIST_TYPE = "application/vnd.x.restic.rest.v2";

const Listing = z.union([
  z.array(z.object({ name: z.string(), size: z.int().nonnegative() })),
  z.array(z.string()),
  z.null().transform(() => []), // an empty list of rest-server
]);

interface Server {
  deps: StorageDeps;
  settings: RestSettings;
  /** Ends with a slash. */
  base: URL;
}

interface ServerRequest {
  method: Exclude<TargetRequest["method"], "PUT">;
  /** Relative to the repository. */
  path: string;
  headers?: Record<string, string>;
  body?: Uint8Array;
  /** Default: answers whose body does not matter. */
  bodyMax?: number;
  /** Further statuses that do not count as failures. */
  accepts?: readonly number[];
}

export function createRestStorage(deps: StorageDeps, settings: RestSettings): Storage {
  const base = new URL(settings.url);
  if (!base.pathname.endsWith("/")) base.pathname += "/";
  const server: Server = { deps, settings, base };
  return {
    list: (kind, signal) =>
      kind === "config" ? listConfig(server, signal) : listFiles(server, kind, signal),
    read: (kind, name, signal, range) =>
      readRange(
        range,
        base.host,
        (reading) => askServer(server, { ...reading, path: pathOf(kind, name) }, signal),
      ),
    write: (kind, name, bytes, signal) => writeFile(server, { kind, name }, bytes, signal),
    async remove(kind, name, signal) {
      await askServer(
        server,
        { method: "DELETE", path: pathOf(kind, name), accepts: [404] },
        signal,
      );
    },
  };
}

/** The server adds directories by itself. */
const pathOf = (kind: FileKind, name: string) => kind === "config" ? kind : `${kind}/${name}`;

async function* listConfig(server: Server, signal: AbortSignal): AsyncGenerator<StoredFile> {
  const head = await askServer(server, { method: "HEAD", path: "config", accepts: [404] }, signal);
  if (head.status !== 404) yield { name: "config", size: sizeOf(head, server.base.host) };
}

async function* listFiles(
  server: Server,
  kind: FileKind,
  signal: AbortSignal,
): AsyncGenerator<StoredFile> {
  const answer = await askServer(server, {
    method: "GET",
    path: `${kind}/`,
    headers: { accept: LIST_TYPE },
    bodyMax: LIST_MAX,
    accepts: [404], // the directory does not exist yet
  }, signal);
  if (answer.status === 404) return;
  for (const file of parseListing(answer, server)) {
    if (typeof file !== "string") {
      if (isFileName(file.name)) yield file;
    } else if (isFileName(file)) {
      const size = await readSize(server, pathOf(kind, file), signal);
      if (size !== undefined) yield { name: file, size };
    }
  }
}

function parseListing(answer: OutboundResponse, { base }: Server) {
  try {
    const parsed = Listing.safeParse(answer.json());
    if (parsed.success) return parsed.data;
  } catch {
    // The parser's message would quote the answer.
  }
  throw new StorageError(
    "failed",
    `${base.host} does not answer with a list of files; check that it speaks restic's REST protocol`,
  );
}

/** @returns `undefined` for a file that was removed after it was listed. */
async function readSize(
  server: Server,
  path: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const head = await askServer(server, { method: "HEAD", path, accepts: [404] }, signal);
  return head.status === 404 ? undefined : sizeOf(head, server.base.host);
}

/**
 * Some servers replace a file of the name, others refuse it with 403 or 409. A file whose name is
 * the hash of its content may be replaced: the bytes are the same, or were damaged.
 */
async function writeFile(
  server: Server,
  { kind, name }: { kind: FileKind; name: string },
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<void> {
  const path = pathOf(kind, name);
  const isOnlyNew = (await sha256Of(bytes)).toHex() !== name;
  if (isOnlyNew && await isStored(server, path, bytes, signal)) return;
  if (kind === "config") await createRepository(server, signal);
  const answer = await askServer(server, {
    method: "POST",
    path,
    headers: { "content-type": "application/octet-stream" },
    body: bytes,
    accepts: [403, 409],
  }, signal);
  if (answer.status < 400 || await isStored(server, path, bytes, signal)) return;
  throw toFailure(server, "POST", answer);
}

async function createRepository(server: Server, signal: AbortSignal): Promise<void> {
  await askServer(server, { method: "POST", path: "?create=true" }, signal);
}

/**
 * Whether the file is there with the same bytes.
 *
 * @throws {StorageError} `exists` if it has other bytes.
 */
async function isStored(
  server: Server,
  path: string,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<boolean> {
  const answer = await askServer(
    server,
    { method: "GET", path, bodyMax: FILE_MAX, accepts: [404] },
    signal,
  );
  if (answer.status === 404) return false;
  if (Buffer.compare(answer.body, bytes) === 0) return true;
  throw new StorageError("exists", `${server.base.host} already has ${path} with other content`);
}

/** @throws {StorageError} For a status that is neither 2xx nor accepted. */
async function askServer(
  server: Server,
  { method, path, headers = {}, body, bodyMax = 0, accepts = [] }: ServerRequest,
  signal: AbortSignal,
): Promise<OutboundResponse> {
  const { deps, settings: { username, userPassword, caCertificate }, base } = server;
  const answer = await requestTarget(deps, {
    url: new URL(path, base),
    method,
    headers: {
      ...headers,
      ...(username !== null &&
        { authorization: basicAuthorization(username, userPassword ?? "") }),
    },
    body,
    bodyMax: Math.max(bodyMax, SHORT_ANSWER_MAX),
    caCertificate,
  }, signal);
  if (answer.status >= 200 && answer.status < 300 || accepts.includes(answer.status)) return answer;
  throw toFailure(server, method, answer);
}

function toFailure(
  { base: { host }, settings: { username } }: Server,
  method: ServerRequest["method"],
  answer: OutboundResponse,
): StorageError {
  if (answer.status === 401) {
    const remedy = username === null ? "set" : "correct";
    const message = `${host} refuses the user; ${remedy} username and userPassword`;
    return new StorageError("forbidden", message);
  }
  if (method === "DELETE" && [403, 405, 501].includes(answer.status)) {
    return new StorageError(
      "forbidden",
      `${host} refuses to delete, because it is append-only; delete there, or allow it`,
    );
  }
  if (answer.status === 403) {
    const message =
      `${host} refuses access to the repository; check the path and the user's rights`;
    return new StorageError("forbidden", message);
  }
  if (answer.status === 404) {
    const message = `${host} does not have the file; check the path of the location`;
    return new StorageError("not_found", message);
  }
  return describeStatus(answer, host);
}
