/** The HTTP client of the Git library: requests that pass the outbound guard. @module */

import { Buffer } from "node:buffer";
import type { HttpClient } from "isomorphic-git";
import { AppError } from "../../errors.ts";
import { OutboundError } from "../../outbound/error.ts";
import { outboundRequest, type OutboundResponse } from "../../outbound/http.ts";
import type { OutboundDeps } from "../../outbound/url.ts";
import { reachOf } from "../address.ts";

/** Access to a repository. */
export interface Remote {
  url: string;
  /** Value of the `authorization` header; `null` without credentials. */
  authorization: string | null;
  /** PEM. */
  caCertificate: string | null;
}

/** Largest list of refs, and largest pack, in bytes. */
export const REFS_BYTES_MAX = 8 * 1024 * 1024;
export const PACK_BYTES_MAX = 64 * 1024 * 1024;

/** Limits of the answers of a server. */
export interface AnswerOptions {
  signal?: AbortSignal | undefined;
  /** Of each answer; default: those of lists and packs. */
  bytesMax?: number;
  /** Takes from the answer to a `POST` what the library shall not get. */
  filter?: (body: Uint8Array) => Promise<Iterable<Uint8Array>>;
}

const REFS_MS = 30_000;
const PACK_MS = 300_000;

const REDIRECTS_MAX = 5;
const REFS_PATH = "/info/refs?service=git-upload-pack";

/**
 * Creates a client for one repository. A redirect of the list of refs also holds for the pack, as with
 * Git itself; credentials stay with the first origin.
 */
export function gitHttp(
  deps: OutboundDeps,
  remote: Remote,
  { signal, bytesMax, filter }: AnswerOptions,
): HttpClient {
  let base = remote.url;
  const origin = new URL(remote.url).origin;

  return {
    async request({ url, method = "GET", headers = {}, body }) {
      const target = base + url.slice(remote.url.length);
      const isOwn = new URL(target).origin === origin;
      const authorization = isOwn && remote.authorization !== null
        ? { authorization: remote.authorization }
        : {};
      const isPack = method === "POST";
      const response = await send(deps, remote, {
        url: target,
        method,
        headers: { ...headers, ...authorization },
        ...(body && { body: await joined(body) }),
        bodyMax: bytesMax ?? (isPack ? PACK_BYTES_MAX : REFS_BYTES_MAX),
        timeoutMs: isPack ? PACK_MS : REFS_MS,
        redirectsMax: isPack ? 0 : REDIRECTS_MAX,
        signal,
      });
      if (!isPack && response.url.endsWith(REFS_PATH)) {
        base = response.url.slice(0, -REFS_PATH.length);
      }
      const { body: answer } = response;
      return {
        url: response.url,
        method,
        headers: response.headers,
        body: each(isPack && filter ? await filter(answer) : [answer]),
        statusCode: response.status,
        statusMessage: `${response.status}`,
      };
    },
  };
}

async function send(
  deps: OutboundDeps,
  { url, caCertificate, authorization }: Remote,
  request: Omit<Parameters<typeof outboundRequest>[1], "reach" | "caCertificates">,
): Promise<OutboundResponse> {
  const { protocol } = new URL(request.url);
  const response = await outboundRequest(deps, {
    ...request,
    reach: reachOf({ protocol }),
    keepsTls: true,
    caCertificates: caCertificate ?? undefined,
  }).catch((error) => {
    throw describeFailure(error, request.bodyMax);
  });
  const { status } = response;
  if (status === 200) return response;
  throw failure(`${new URL(url).host} ${reasonOf(status, authorization !== null)}`);
}

function reasonOf(status: number, hasCredentials: boolean): string {
  if (status === 401) {
    return hasCredentials
      ? "does not accept the credentials (401)"
      : "needs credentials, or does not have this repository (401)";
  }
  if (status === 403) return "does not allow reading the repository (403)";
  if (status === 404) {
    return "does not have this repository, or does not show it without other credentials (404)";
  }
  return `answered with status ${status}`;
}

function describeFailure(error: unknown, bytesMax: number): unknown {
  if (!(error instanceof OutboundError)) return error;
  if (error.code !== "too_large") return failure(error.message, error);
  const what = bytesMax === PACK_BYTES_MAX ? "The repository" : "The list of refs";
  const size = `${bytesMax / 1024 / 1024} MiB`;
  return failure(`${what} is larger than ${size}, which is the limit`, error);
}

/** Whether an answer was longer than its limit. */
export const isTooLong = (error: unknown): boolean =>
  error instanceof AppError && error.cause instanceof OutboundError &&
  error.cause.code === "too_large";

/** The failure of a fetch, as a sentence. */
export const failure = (message: string, cause?: unknown) =>
  new AppError("bad_gateway", message, { cause });

async function joined(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return new Uint8Array(Buffer.concat(parts));
}

async function* each(parts: Iterable<Uint8Array>): AsyncIterableIterator<Uint8Array> {
  yield* parts;
}
