/**
 * Passes requests on to a host of this hub: each with a signed note, on a stream of its own. A host
 * that is away, slow or sends garbage delays nothing but its own responses.
 *
 * @module
 */

import { selectUser } from "../../../db/users.ts";
import { EngineProtocolError } from "../../../engine/errors.ts";
import type { Caller, UserRole } from "../../access/caller.ts";
import { scopeAtHost, seesHost } from "../../access/host_scope.ts";
import { randomText } from "../../builtins.ts";
import { withTimeLimit } from "../../deadline.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound } from "../../errors.ts";
import type { HostViewer } from "../hosts/visible.ts";
import type { Link, LinkStream } from "../link/stream.ts";
import { digestOf, REFUSAL_HEADER, sealNote, type SignedNote } from "../notes/note.ts";
import { NOTE_REFUSALS, type NoteRefusal } from "../notes/verify.ts";
import { exchangeOver, type PassedBody, type StreamResponse } from "./exchange.ts";
import type { Passage, PassingHost } from "./sides.ts";
import { toMember } from "./headers.ts";

/** Longest wait for a stream, in milliseconds: the link may be about to be given up. */
const OPEN_MS = 10_000;

/** Longest wait for the head of a response, in milliseconds: a rebuild pulls its image first. */
const HEAD_MS = 15 * 60_000;

/** Validity of a note, in milliseconds: the measured offset of the clocks may be wrong by 10 s. */
const VALIDITY_MS = 20_000;

const NONCE_BYTES = 16;

/** A request to pass on. */
export interface PassedRequest {
  method: string;
  /** Path and query at the host. */
  target: string;
  headers: Headers;
  /** Reads the body, once it is known that the request can be passed on; missing without one. */
  readBody?: () => Promise<PassedBody | null>;
  caller: Caller;
  /** Permissions that custom roles give the caller. */
  permissions: readonly string[];
  requestId: string;
  /** Aborts when the client has left. */
  signal: AbortSignal;
  isUpgrade?: boolean;
  /** Longest wait for the head of the response, in milliseconds; default: 15 minutes. */
  headMs?: number;
  /** As of the exchange. */
  stallMaxMs?: number | undefined;
  /** Whether the caller may keep it open; default: as long as their token is valid. */
  isAllowed?: () => boolean;
  /** Called before something is sent to the host. */
  onSend?: () => void;
}

/** A request that is being passed on. */
interface Passing {
  /** Closes the stream. May be called again. */
  end: () => void;
  /** Aborts when the caller may no longer keep it open. */
  signal: AbortSignal;
}

export type PassedResponse = StreamResponse & Passing;

/** The host refused the note of a request. */
export class NoteRefusedError extends AppError {
  override readonly name = "NoteRefusedError";

  /** @param refusal As the host sent it; a later version may have others than {@linkcode NoteRefusal}. */
  constructor(message: string, readonly refusal: string) {
    super("bad_gateway", message);
  }
}

/** A stream for a request, whose note is signed. */
interface OpenedPassage extends Passing {
  stream: LinkStream;
  body: PassedBody | null;
  /** Headers for the host, the note among them. */
  headers: Record<string, string>;
}

type PassDeps = Pick<Deps, "db" | "passing" | "now">;

/** @throws {AppError} `not_found` for an unknown host, and for one that the caller does not see. */
export function findHost(
  { passing }: Pick<Deps, "passing">,
  viewer: HostViewer,
  ref: string,
): PassingHost {
  const host = passing.hub()?.findHost(ref);
  if (!host || !seesHost(viewer, host)) throw notFound("Host", ref);
  return host;
}

/**
 * Sends the request to the host, and returns the beginning of its response.
 *
 * @throws {AppError} `unavailable` if the host is away or does not answer; `bad_gateway` if it refuses
 * the note or answers with something else than HTTP; `too_many_requests` above a share.
 */
export async function passOn(
  deps: PassDeps,
  host: PassingHost,
  request: PassedRequest,
): Promise<PassedResponse> {
  const { method, target, isUpgrade, headMs = HEAD_MS, stallMaxMs } = request;
  const { stream, body, headers, end, signal } = await openPassage(deps, host, request);
  try {
    request.onSend?.();
    const response = await withTimeLimit({
      timeoutMs: headMs,
      timeoutError: () => new AppError("unavailable", `Host ${host.name} did not answer in time`),
    }, () => exchangeOver(stream, { method, target, headers, body, isUpgrade, stallMaxMs }, end));
    assertNoteAccepted(host, response);
    assertPassable(host, response);
    return { ...response, end, signal };
  } catch (error) {
    end();
    throw toCallerError(host, error);
  }
}

/** Takes a place among the requests to the host, then reads the body, opens a stream and signs the note. */
async function openPassage(
  deps: PassDeps,
  host: PassingHost,
  request: PassedRequest,
): Promise<OpenedPassage> {
  const { passing } = deps;
  const link = passing.hub()!.link(host.id);
  if (!link) throw new AppError("unavailable", `Host ${host.name} ${host.state}`);
  const passage = passing.passages.begin(request.caller, host, request.isAllowed);
  try {
    const body = await request.readBody?.() ?? null;
    return await openStreamFor(deps, { host, link, passage, request, body });
  } catch (error) {
    passage.end();
    throw error;
  }
}

async function openStreamFor(
  { db, passing, now }: PassDeps,
  { host, link, passage, request, body }: {
    host: PassingHost;
    link: Link;
    passage: Passage;
    request: PassedRequest;
    body: PassedBody | null;
  },
): Promise<OpenedPassage> {
  const hub = passing.hub()!;
  const { caller, headers, requestId, isUpgrade } = request;
  let end = passage.end;
  try {
    const stream = await openStream(link, host, request.signal);
    end = endOf(passage, stream, request.signal);
    const content = isUpgrade || body && "stream" in body
      ? { digest: null, stream: String(stream.id) }
      : { digest: await digestOf(body?.bytes ?? new Uint8Array()), stream: null };
    const note = await sealNote((bytes) => hub.sign(bytes, host.id), {
      ...noteOf(request, selectUser(db, caller.userId)?.email),
      hub: await hub.key(host.id),
      host: link.peer,
      ...content,
      exp: now().getTime() + Math.round(link.clock.offset) + VALIDITY_MS,
      nonce: randomText(NONCE_BYTES),
    });
    const { signal } = passage;
    return { stream, body, headers: toMember(headers, { note, requestId }), end, signal };
  } catch (error) {
    end();
    throw toCallerError(host, error);
  }
}

function noteOf(
  { method, target, caller, permissions }: PassedRequest,
  email: string | undefined,
): Pick<
  SignedNote,
  "user" | "name" | "role" | "permissions" | "scope" | "method" | "path"
> {
  const { userId, role, apiToken } = caller;
  const owner = email ?? caller.hub?.user ?? "API key";
  return {
    user: userId,
    name: apiToken ? `${owner} (${apiToken.name})` : owner,
    role: role as UserRole,
    permissions,
    scope: scopeAtHost(caller) ?? null,
    method,
    path: target,
  };
}

async function openStream(
  link: Link,
  { name }: PassingHost,
  signal: AbortSignal,
): Promise<LinkStream> {
  return await withTimeLimit({
    timeoutMs: OPEN_MS,
    timeoutError: () => new AppError("unavailable", `The link to host ${name} does not answer`),
    signal,
  }, (limit) => link.open(limit));
}

/** Ends the passage with the response, the client or the rights of the caller. */
function endOf(passage: Passage, stream: LinkStream, client: AbortSignal): () => void {
  let isEnded = false;
  const end = () => {
    if (isEnded) return;
    isEnded = true;
    client.removeEventListener("abort", end);
    stream.close();
    passage.end();
  };
  client.addEventListener("abort", end, { once: true });
  passage.signal.addEventListener("abort", end, { once: true });
  if (client.aborted || passage.signal.aborted) end();
  return end;
}

/** The host answers 401 with the reason: not one that the client could act on by logging in. */
function assertNoteAccepted({ name }: PassingHost, { head }: Pick<StreamResponse, "head">): void {
  const refusal = head.headers.get(REFUSAL_HEADER);
  if (refusal === undefined) return;
  const reason = Object.hasOwn(NOTE_REFUSALS, refusal)
    ? NOTE_REFUSALS[refusal as NoteRefusal]
    : "The note is not accepted";
  throw new NoteRefusedError(`Host ${name} refused the request: ${reason}`, refusal);
}

/**
 * Refuses an answer that no endpoint gives, and one that a client would act on: a redirect, which
 * repeats a request with its credentials, and a 401, which ends the session at the hub.
 */
function assertPassable({ name }: PassingHost, { head: { status } }: StreamResponse): void {
  const isRedirect = status >= 300 && status < 400 && status !== 304;
  if (!isRedirect && status !== 401 && status !== 205 && status < 600) return;
  throw new AppError("bad_gateway", `Host ${name} answered ${status}`);
}

/** The errors of a host: a link that ends, and what is not HTTP. */
export function toCallerError({ name }: PassingHost, error: unknown): AppError {
  if (error instanceof AppError) return error;
  return error instanceof EngineProtocolError
    ? new AppError("bad_gateway", `Host ${name} sent an invalid response`, { cause: error })
    : new AppError("unavailable", `The link to host ${name} has ended`, { cause: error });
}
