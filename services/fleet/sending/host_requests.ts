/** Requests of a job of this hub to its hosts, as the user who has started it. @module */

import type { Caller } from "../../access/caller.ts";
import { permissionsOfRoles } from "../../access/policy_rights.ts";
import type { Deps } from "../../deps.ts";
import { AppError, type ErrorCode } from "../../errors.ts";
import { readAnswer } from "../passing/ask.ts";
import type { PassedBody } from "../passing/exchange.ts";
import { type PassedResponse, passOn } from "../passing/pass.ts";
import type { PassingHost } from "../passing/sides.ts";

/** The user of a job, who is not stored with it. */
export interface JobUser {
  caller: Caller;
  requestId: string;
}

export interface HostRequest {
  method: "GET" | "POST";
  /** Path and query at the host. */
  target: string;
  /** As JSON, or a stream of the type. */
  body?: unknown;
  content?: { stream: ReadableStream<Uint8Array>; type: string };
  signal: AbortSignal;
  headMs?: number;
  stallMaxMs?: number;
}

/** Longest reason of a host in a message, in characters. */
const REASON_MAX = 500;

const CODES: Readonly<Record<number, ErrorCode>> = {
  400: "invalid",
  403: "forbidden",
  404: "not_found",
  409: "conflict",
  503: "unavailable",
};

/**
 * Sends a request, and returns the beginning of its response. The caller ends it.
 *
 * @throws {AppError} With the reason of a host that refuses it; as `passOn()`.
 */
export async function requestOfHost(
  deps: Deps,
  host: PassingHost,
  { caller, requestId }: JobUser,
  { method, target, body, content, signal, headMs, stallMaxMs }: HostRequest,
): Promise<PassedResponse> {
  const type = content?.type ?? (body === undefined ? undefined : "application/json");
  const passed = await passOn(deps, host, {
    method,
    target,
    headers: new Headers(type === undefined ? {} : { "content-type": type }),
    readBody: () =>
      Promise.resolve(content ? { stream: content.stream, length: null } : jsonBody(body)),
    caller,
    // Roles may have changed since the last request of the job.
    permissions: permissionsOfRoles(await deps.accessPolicy(), caller.userId, host),
    requestId,
    signal,
    ...(headMs !== undefined && { headMs }),
    stallMaxMs,
    // An access token ends after minutes; the login, the account and its role are checked anyway.
    isAllowed: () => caller.rights?.isAdmitted() !== false,
  });
  const { status } = passed.head;
  if (status < 400) return passed;
  const { error } = await readObject(host, passed).catch((): Answer => ({}));
  const reason = typeof error === "string" ? error.slice(0, REASON_MAX) : `status ${status}`;
  throw new AppError(CODES[status] ?? "bad_gateway", `Host ${host.name} answered: ${reason}`);
}

/** Fields of a JSON object of a host. */
export type Answer = Record<string, unknown>;

/** Sends a request, and reads its JSON. @throws {AppError} As {@linkcode requestOfHost}. */
export async function askHost(
  deps: Deps,
  host: PassingHost,
  user: JobUser,
  request: HostRequest,
): Promise<Answer> {
  return await readObject(host, await requestOfHost(deps, host, user, request));
}

const jsonBody = (body: unknown): PassedBody | null =>
  body === undefined ? null : { bytes: new TextEncoder().encode(JSON.stringify(body)) };

async function readObject(host: PassingHost, passed: PassedResponse): Promise<Answer> {
  const answer = await readAnswer(host, passed);
  if (typeof answer === "object" && answer !== null) return answer as Answer;
  throw new AppError("bad_gateway", `The answer of host ${host.name} is not an object`);
}
