/** The stream of a service's log (Server-Sent Events), of all tasks on every node. @module */

import { serviceLogs } from "../../../engine/swarm.ts";
import type { Caller } from "../../access/caller.ts";
import { withDeadline } from "../../deadline.ts";
import type { Deps } from "../../deps.ts";
import { COMMENT, encode, join, retryLine, type StreamChunk } from "../../stream/chunks.ts";
import { callerValidity } from "../../stream/validity.ts";
import { onManager } from "../../swarm/access.ts";
import { findService } from "../../swarm/reads.ts";
import { asReadFailure } from "../logs.ts";
import { parseStamp } from "../stamp.ts";
import { parseStart } from "../start_time.ts";
import { serviceEntries, type ServiceEntry } from "./entries.ts";
import { createNamer } from "./names.ts";
import { hasTerminal } from "./read.ts";

/** Selects the lines of a stream. */
export interface ServiceStreamQuery {
  /** Number of last lines of each task; default 200, or all with `since`. */
  tail?: number | undefined;
  /** ISO 8601, Unix seconds, or a duration until now such as `15m`. */
  since?: string | undefined;
  /** Id of the last frame that the client received: the time of its line. */
  lastEventId?: string | undefined;
}

type StreamDeps = Pick<
  Deps,
  "accounts" | "engine" | "inventory" | "jobs" | "limiters" | "now"
>;

const TAIL_DEFAULT = 200;

/** Delay after which a client reconnects, in milliseconds. */
const RETRY_MS = 2_000;

/** Interval of checks of the caller, in milliseconds. */
const CHECK_MS = 1_000;

/** Checks without a line after which a comment is sent. */
const HEARTBEAT_CHECKS = 15;

/**
 * Streams the lines of all tasks in the order of arrival; new tasks join. Read from the engine only as
 * fast as the client reads.
 *
 * @throws {AppError} `invalid` for a time; `not_found`; `conflict` if the log cannot be read, and on an
 * engine that does not manage a swarm; `unavailable` if there are too many streams;
 * `too_many_requests` above the share of the account or token.
 */
export async function streamServiceLogs(
  deps: StreamDeps,
  caller: Caller,
  ref: string,
  query: ServiceStreamQuery,
): Promise<ReadableStream<StreamChunk>> {
  const range = rangeOf(query, deps.now());
  const service = await onManager(deps, () => findService(deps, caller, ref));
  const isValid = callerValidity(deps, caller);
  const release = deps.limiters.serviceLogStreams.take(caller);
  const left = new AbortController();
  const leave = () => {
    release();
    left.abort();
  };
  try {
    const signal = AbortSignal.any([left.signal, deps.jobs.stopping]);
    const frames = await serviceLogs(deps.engine, service, { ...range, follow: true, signal });
    const entries = serviceEntries(frames, { tty: hasTerminal(service) });
    const nameOf = createNamer(deps, service);
    const toFrame = async (entry: ServiceEntry) => {
      const line = await nameOf(entry);
      return join([idOf(line.timestamp), encode("log", line)]);
    };
    return readableOf({ entries, toFrame, leave, isValid: () => isValid() && !signal.aborted });
  } catch (error) {
    leave();
    throw asReadFailure(error);
  }
}

function readableOf({ entries, toFrame, isValid, leave }: {
  entries: AsyncGenerator<ServiceEntry>;
  toFrame: (entry: ServiceEntry) => Promise<StreamChunk>;
  isValid: () => boolean;
  leave: () => void;
}): ReadableStream<StreamChunk> {
  let pending: Promise<IteratorResult<ServiceEntry>> | undefined;
  let quiet = 0;
  const pull = async (controller: ReadableStreamDefaultController<StreamChunk>) => {
    while (isValid()) {
      pending ??= entries.next();
      const next = await withDeadline(pending, CHECK_MS);
      if (next?.done) break;
      if (next) {
        pending = undefined;
        quiet = 0;
        return controller.enqueue(await toFrame(next.value));
      }
      if (++quiet % HEARTBEAT_CHECKS === 0) return controller.enqueue(COMMENT);
    }
    // The generator ends when the request to the engine is cancelled.
    pending?.catch(() => {});
    leave();
    controller.close();
  };
  return new ReadableStream<StreamChunk>({
    start: (controller) => controller.enqueue(retryLine(RETRY_MS)),
    async pull(controller) {
      try {
        await pull(controller);
      } catch {
        // The engine is away or stops; the client reconnects.
        leave();
        controller.close();
      }
    },
    cancel() {
      pending?.catch(() => {});
      leave();
    },
  }, { highWaterMark: 1 });
}

const encoder = new TextEncoder();

const idOf = (timestamp: string): StreamChunk => encoder.encode(`id: ${timestamp}\n`);

/** The lines after the last one that the client has received, or those that it asks for. */
function rangeOf({ tail, since, lastEventId }: ServiceStreamQuery, now: Date) {
  const last = lastEventId === undefined ? undefined : parseStamp(lastEventId);
  if (last) {
    const isCarry = last.nanos === 999_999_999;
    const nanos = String(isCarry ? 0 : last.nanos + 1).padStart(9, "0");
    return { since: `${last.seconds + (isCarry ? 1 : 0)}.${nanos}` };
  }
  return {
    tail: tail ?? (since === undefined ? TAIL_DEFAULT : undefined),
    since: since === undefined ? undefined : parseStart(since, now),
  };
}
