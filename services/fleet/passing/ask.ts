/** Requests of this hub to a host that it reads the whole answer of, on behalf of a caller. @module */

import type { Caller } from "../../access/caller.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { readStream } from "../../stream/read_stream.ts";
import { DIGESTED_MAX } from "../notes/note.ts";
import type { PassedBody } from "./exchange.ts";
import { type PassedResponse, passOn, toCallerError } from "./pass.ts";
import type { PassingHost } from "./sides.ts";

/** Largest answer, in characters. */
const ANSWER_MAX = 4 * 1024 * 1024;

const encoder = new TextEncoder();

/** On whose behalf hosts are asked, for as long as `isAllowed`. */
export interface Asker {
  caller: Caller;
  /** Permissions that custom roles give the caller at the host. */
  permissions: readonly string[];
  isAllowed(): boolean;
}

export interface Asked {
  method: string;
  /** Path and query at the host. */
  target: string;
  /** Sent as JSON. */
  body?: unknown;
  /** Called before something is sent to the host. */
  onSend?: () => void;
  signal: AbortSignal;
}

/** @throws {AppError} As {@linkcode passOn} and {@linkcode readAnswer}. */
export async function askHost(
  deps: Pick<Deps, "db" | "passing" | "now">,
  host: PassingHost,
  asker: Asker,
  asked: Asked,
): Promise<{ status: number; body: unknown }> {
  const passed = await sendToHost(deps, host, asker, asked);
  return { status: passed.head.status, body: await readAnswer(host, passed) };
}

/**
 * Reads the JSON of an answer, and ends it.
 *
 * @returns `undefined` for an empty one.
 * @throws {AppError} `bad_gateway` if it is too long or no JSON; `unavailable` if the link ends.
 */
export async function readAnswer(
  host: PassingHost,
  { body, end }: Pick<PassedResponse, "body" | "end">,
): Promise<unknown> {
  try {
    let text = "";
    const decoder = new TextDecoder();
    for await (const piece of body ?? []) {
      text += decoder.decode(piece, { stream: true });
      if (text.length > ANSWER_MAX) {
        throw new AppError("bad_gateway", `The answer of host ${host.name} is too long`);
      }
    }
    return text === "" ? undefined : parse(host, text);
  } catch (error) {
    throw toCallerError(host, error);
  } finally {
    end();
  }
}

/** Sends a request, whose answer the caller reads and ends. @throws {AppError} As {@linkcode passOn}. */
export function sendToHost(
  deps: Pick<Deps, "db" | "passing" | "now">,
  host: PassingHost,
  { caller, permissions, isAllowed }: Asker,
  { method, target, body, onSend, signal }: Asked,
): Promise<PassedResponse> {
  return passOn(deps, host, {
    method,
    target,
    headers: new Headers({ "content-type": "application/json" }),
    ...(body !== undefined && {
      readBody: () => Promise.resolve(toBody(encoder.encode(JSON.stringify(body)))),
    }),
    caller,
    permissions,
    requestId: crypto.randomUUID(),
    signal,
    isAllowed,
    ...(onSend && { onSend }),
  });
}

/** A body that is too large for a digest is named by its stream. */
function toBody(bytes: Uint8Array<ArrayBuffer>): PassedBody {
  if (bytes.length <= DIGESTED_MAX) return { bytes };
  let isSent = false;
  const stream = readStream(() => {
    const piece = isSent ? undefined : bytes;
    isSent = true;
    return Promise.resolve(piece);
  }, () => {});
  return { stream, length: bytes.length };
}

function parse({ name }: PassingHost, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new AppError("bad_gateway", `Host ${name} sent an invalid answer`);
  }
}
