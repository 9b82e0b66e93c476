/**
 * Downloads the log of a container as text.
 *
 * @module
 */

import { type ContainerInspect, containerLogs } from "../../../engine/containers.ts";
import type { Caller } from "../../auth/caller.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { assertMayInspect } from "../containers/own_container.ts";
import { asContainer, inspectContainer } from "../containers/reads.ts";
import type { LogFrame } from "./lines.ts";
import { leadingStamp } from "./stamp.ts";
import { asReadFailure } from "./logs.ts";
import { parseStart } from "./start_time.ts";

interface DownloadQuery {
  /** ISO 8601, Unix seconds, or a duration until now such as `15m`. */
  since?: string | undefined;
  until?: string | undefined;
  /** Begins each line with its RFC 3339 time and a space. */
  timestamps: boolean;
}

interface LogDownload {
  /** Name of the container. */
  name: string;
  text: ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** A client that has not read for this long is disconnected, in milliseconds. */
const STALL_MAX_MS = 60_000;

/** Approximate size of a chunk, in bytes. */
const CHUNK_BYTES = 64 * 1024;

const LINE_FEED = 10;

/**
 * The whole log, or a part of it, as the container wrote it: standard output and standard error in
 * the order of the engine. Read from the engine only as fast as the client reads.
 *
 * @throws {AppError} `invalid` for a time; `not_found`; `forbidden` for the service's own container
 * unless the caller is an admin; `conflict` if the log cannot be read; `too_many_requests`.
 */
export async function downloadContainerLog(
  deps: Pick<Deps, "engine" | "limiters" | "now" | "self">,
  caller: Pick<Caller, "role">,
  ref: string,
  { since, until, timestamps }: DownloadQuery,
): Promise<LogDownload> {
  const at = deps.now();
  const range = {
    since: since === undefined ? undefined : parseStart(since, at),
    until: until === undefined ? undefined : parseStart(until, at, "until"),
  };
  if (range.since && range.until && Number(range.since) > Number(range.until)) {
    throw new AppError("invalid", "query.until: must be after since");
  }
  const container = await inspectContainer(deps, ref);
  const { name } = asContainer(deps, container);
  assertMayInspect(asContainer(deps, container), caller);

  const opened = Promise.withResolvers<LogDownload>();
  const { promise: isDone, resolve: finish } = Promise.withResolvers<void>();
  deps.limiters.logDownloads(async () => {
    const frames = await openLog(deps, container, { ...range, timestamps });
    opened.resolve({ name, text: textStream(frames, timestamps, finish) });
    await isDone;
  }).catch(opened.reject);
  return await opened.promise;
}

interface OpenedLog {
  frames: AsyncIterator<LogFrame>;
  tty: boolean;
  close: () => void;
}

async function openLog(
  { engine }: Pick<Deps, "engine">,
  { Id, Config }: ContainerInspect,
  range: { since: string | undefined; until: string | undefined; timestamps: boolean },
): Promise<OpenedLog> {
  const stop = new AbortController();
  const tty = Config.Tty ?? false;
  try {
    const frames = await containerLogs(engine, Id, { ...range, tty, signal: stop.signal });
    return { frames: frames[Symbol.asyncIterator](), tty, close: () => stop.abort() };
  } catch (error) {
    throw asReadFailure(error);
  }
}

function textStream(
  { frames, tty, close }: OpenedLog,
  timestamps: boolean,
  finish: () => void,
): LogDownload["text"] {
  /** Streams whose last frame did not end its line; the next one begins with another time. */
  const open = new Set<LogFrame["stream"]>();
  let stall: ReturnType<typeof setTimeout> | undefined;
  const end = () => {
    clearTimeout(stall);
    close();
    finish();
  };

  return new ReadableStream({
    async pull(controller) {
      clearTimeout(stall);
      const pieces: Uint8Array[] = [];
      try {
        for (let size = 0; size < CHUNK_BYTES;) {
          const { done, value } = await frames.next();
          if (done) {
            end();
            if (pieces.length > 0) controller.enqueue(joined(pieces));
            return controller.close();
          }
          const { stream, bytes } = value;
          const isRest = timestamps && !tty && open.has(stream);
          pieces.push(isRest ? bytes.subarray(leadingStamp(bytes).length) : bytes);
          size += bytes.length;
          if (bytes.at(-1) === LINE_FEED) open.delete(stream);
          else open.add(stream);
        }
      } catch (error) {
        end();
        throw error;
      }
      controller.enqueue(joined(pieces));
      stall = setTimeout(() => {
        end();
        controller.error(new Error("the client has not read for a minute"));
      }, STALL_MAX_MS);
    },
    cancel: end,
  }, { highWaterMark: 0 });
}

function joined(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let offset = 0;
  for (const piece of pieces) {
    bytes.set(piece, offset);
    offset += piece.length;
  }
  return bytes;
}
