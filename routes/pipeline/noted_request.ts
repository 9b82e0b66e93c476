/**
 * Requests on the private socket of a member. They come from its hub, and only here a note counts.
 *
 * @module
 */

import type { Deps } from "../../services/deps.ts";
import { callerOfNote } from "../../services/fleet/notes/caller.ts";
import {
  DIGESTED_MAX,
  METRICS_PATH,
  NOTE_HEADER,
  REFUSAL_HEADER,
  type SignedNote,
  STREAM_HEADER,
} from "../../services/fleet/notes/note.ts";
import {
  isBodyOf,
  NOTE_REFUSALS,
  type NoteRefusal,
  verifyNote,
} from "../../services/fleet/notes/verify.ts";
import { ThrottledError } from "../../services/errors.ts";
import { createLimiter } from "../../services/limiter.ts";
import { pacedReader, streamReader } from "./body_pace.ts";
import { type Noted, respondJson } from "./exchange.ts";
import { GrowingBytes } from "./growing_bytes.ts";
import { targetOf } from "./request_url.ts";

/** Methods that the runtime takes as they are: it changes lower-case ones, and throws at TRACE. */
const METHOD = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/;

/** Bodies that are in memory at the same time, each of at most 1 MiB, and requests that wait. */
const BODIES = { what: "bodies of a hub", running: 32, waiting: 256 };

/** Longest silence of the hub within a body, in milliseconds. */
const IDLE_MS = 30_000;

/** Creates the function that checks the note of a request and has it answered as its caller. */
export function createNotedRequests(
  deps: Pick<Deps, "anonymousLog" | "config" | "passing" | "now">,
  answer: (request: Request, noted: Noted) => Promise<Response>,
): (request: Request) => Promise<Response> {
  const { anonymousLog, config, passing, now } = deps;
  const limitBodies = createLimiter(BODIES);

  return async function answerNoted(received) {
    const member = passing.member();
    if (!member) return refuse("missing");
    if (!METHOD.test(received.method)) return refuseMethod(received.method);
    const request = withPlainUrl(received);
    const { headers, method } = request;
    const path = targetOf(request);
    if (!path.startsWith("/api/") && path !== METRICS_PATH) return refuse("other_path");
    const note = await verifyNote({ nonces: passing.nonces, now }, await member.parties(), {
      ...{ method, path },
      note: headers.get(NOTE_HEADER),
      stream: headers.get(STREAM_HEADER),
    });
    if (typeof note === "string") return refuse(note);
    const noted = { caller: callerOfNote(config, member.hubName, note), received };
    if (note.digest === null || request.body === null) {
      const isEmpty = note.digest === null || await isBodyOf(note, new Uint8Array());
      return isEmpty ? await answer(request, noted) : refuse("other_body");
    }
    return await answerWithBody(request, note, noted);
  };

  async function answerWithBody(request: Request, note: SignedNote, noted: Noted) {
    let checked: Request | undefined;
    try {
      checked = await limitBodies(() => checkBody(request, note));
    } catch (error) {
      return refuse(error instanceof ThrottledError ? "busy" : "other_body");
    }
    return checked ? await answer(checked, noted) : refuse("other_body");
  }

  function refuse(refusal: NoteRefusal): Response {
    const address = "hub";
    anonymousLog.warn("request of the hub refused", { address, reason: refusal });
    const exchange = { requestId: crypto.randomUUID(), address, headers: {} };
    const error = NOTE_REFUSALS[refusal];
    return respondJson(exchange, 401, { error, code: refusal }, { [REFUSAL_HEADER]: refusal });
  }
}

function refuseMethod(method: string): Response {
  const exchange = { requestId: crypto.randomUUID(), address: "hub", headers: {} };
  return respondJson(exchange, 405, { error: `${method} is not allowed` });
}

/** The runtime gives the URLs of Unix sockets a scheme of their own, `http+unix:`. */
const withPlainUrl = (request: Request) =>
  new Request(request.url.replace(/^http\+unix:/, "http:"), request);

/** Reads the body; `undefined` if it is not the one that the note names. */
async function checkBody(request: Request, note: SignedNote): Promise<Request | undefined> {
  const pace = { idleMaxMs: IDLE_MS, patienceMs: IDLE_MS };
  const reader = pacedReader(streamReader(request.body!), pace);
  const read = new GrowingBytes();
  for (let piece = await reader.read(); piece; piece = await reader.read()) {
    read.append(piece);
    if (read.size > DIGESTED_MAX) {
      void reader.cancel().catch(() => {});
      return undefined;
    }
  }
  const body = read.bytes();
  if (!await isBodyOf(note, body)) return undefined;
  const { method, headers, url } = request;
  return new Request(url, { method, headers, body });
}
