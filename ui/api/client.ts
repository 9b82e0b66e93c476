/** Calls the API with the types of its document. @module */

import { apiUrl, HOST } from "../state/root.ts";
import {
  accessToken,
  endSession,
  hasEnded,
  needsFactor,
  refreshToken,
  signedInAgain,
} from "../state/session.ts";
import type { Operations } from "./types.ts";

type Operation = keyof Operations;

/** Path parameters, query and body of an operation, as far as it has them. */
export type InputOf<Name extends Operation> = Omit<Operations[Name], "result">;

export type ResultOf<Name extends Operation> = Operations[Name]["result"];

interface Options {
  signal?: AbortSignal;
  host?: string | undefined;
}

/** The service refused a request, or it cannot be reached. The message is a sentence for the user. */
export class ApiError extends Error {
  /** @param status 0 if there was no response. */
  constructor(
    readonly status: number,
    message: string,
    /** Problems by field, e.g. `body.name`. */
    readonly issues: readonly { path: string; message: string }[] = [],
    /** Changes since it was read, as a unified diff. */
    readonly diff?: string,
  ) {
    super(message);
  }
}

export const UNREACHABLE = "Longshore cannot be reached";

/** The refusal of a request that changes something, without a session. */
export const ENDED = "Your session had ended, so nothing was changed; try again";

/**
 * Calls an operation: `api("POST /api/containers/{id}/stop", { path: { id }, query: { t: 30 } })`.
 *
 * @param options.host Name of a host of the fleet that is asked instead of the one that the document shows.
 * @throws {ApiError} For every response that is not a success, and without a connection.
 */
export async function api<Name extends Operation>(
  name: Name,
  ...[input, { signal, host } = {}]: Record<never, never> extends InputOf<Name>
    ? [input?: InputOf<Name>, options?: Options]
    : [input: InputOf<Name>, options?: Options]
): Promise<ResultOf<Name>> {
  const { path, query, body } = (input ?? {}) as {
    path?: Record<string, string>;
    query?: Record<string, unknown>;
    body?: unknown;
  };
  const [method, pattern] = name.split(" ") as [string, string];
  const url = apiUrl(
    pattern.slice(1).replace(/\{(\w+)\}/g, (_, key) => encodeURIComponent(path![key]!)),
    host,
  );
  for (const [key, value] of Object.entries(query ?? {})) {
    if (value !== undefined) url.searchParams.set(key, String(value));
  }
  const response = await send(url, {
    method,
    signal: signal ?? null,
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
    }),
  });
  return await resultOf(response) as ResultOf<Name>;
}

/**
 * Sends an authorized request. When the session has ended, a read waits until the user has signed in
 * again; everything else has changed nothing, and is left to the user.
 */
export async function send(url: URL, init: RequestInit = {}): Promise<Response> {
  const response = await sendOnce(url, init);
  if (response) return response;
  const isRead = (init.method ?? "GET") === "GET";
  if (!isRead || !hasEnded.peek()) {
    throw new ApiError(401, ENDED);
  }
  await signedInAgain(init.signal);
  return await send(url, init);
}

/** A token that has just been revoked is renewed once. @returns `undefined` without a session. */
async function sendOnce(url: URL, init: RequestInit): Promise<Response | undefined> {
  for (const getToken of [accessToken, refreshToken]) {
    const token = await getToken().catch(asApiError);
    if (token === undefined) return undefined;
    const response = await fetchWith(token, url, init);
    if (response.status !== 401) return response;
    await response.body?.cancel();
  }
  endSession();
  return undefined;
}

/** The error of a session that cannot be renewed now. */
function asApiError(error: Error): never {
  throw error instanceof TypeError
    ? new ApiError(0, UNREACHABLE)
    : new ApiError(503, error.message);
}

async function fetchWith(token: string, url: URL, init: RequestInit) {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${token}`);
  try {
    return await fetch(url, { ...init, headers, credentials: "omit", redirect: "error" });
  } catch (error) {
    throw error instanceof DOMException && error.name === "AbortError"
      ? error
      : new ApiError(0, UNREACHABLE);
  }
}

async function resultOf(response: Response): Promise<unknown> {
  if (!response.ok) throw await refusalOf(response);
  return await bodyOf(response);
}

/** The error of a response that is not a success. */
export async function refusalOf(response: Response): Promise<ApiError> {
  const { status } = response;
  const body = await bodyOf(response);
  if (body?.code === "mfa_enrolment_required") needsFactor.value = true;
  const [, unknown] = UNKNOWN_PATH.exec(HOST && body?.error || "") ?? [];
  if (unknown !== undefined) return new ApiError(LACKING, await lackOf(unknown));
  return new ApiError(
    status,
    body?.error ?? `Unexpected answer: status ${status}`,
    body?.errors,
    body?.diff,
  );
}

const UNKNOWN_PATH = /^No such path: (\/api\/.*)/;

/** Status of the error when the host of the page does not have the endpoint. */
export const LACKING = 501;

/** The version of a host of the fleet can be older than that of this server, whose pages these are. */
async function lackOf(path: string): Promise<string> {
  const { hosts } = await api("GET /api/fleet/hosts");
  const version = hosts.find(({ name }) => name === HOST)?.version;
  return `This page needs ${path}, which host ${HOST} does not have; it runs version ${version}`;
}

// deno-lint-ignore no-explicit-any
async function bodyOf(response: Response): Promise<any> {
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  return isJson ? await response.json() : await response.text();
}
