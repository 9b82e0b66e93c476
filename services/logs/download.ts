/** Downloads the log of a container as text. @module */

import { containerLogs } from "../../engine/containers.ts";
import type { Caller } from "../access/caller.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import { readStream } from "../stream/read_stream.ts";
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

/** Approximate size of a chunk, in bytes. */
const CHUNK_BYTES = 64 * 1024;

const LINE_FEED = 10;

/**
 * The whole log, or a part of it, as the container wrote it: standard output and standard error in
 * the order of the engine. Read from the engine only as fast as the client reads.
 *
 * @throws {AppError} `invalid` for a time; `not_found`; `forbidden` for the service's own container
 * unless the caller is an admin; `conflict` if the log cannot be read; `too_many_requests` above
 * the caller's share; `unavailable` if all downloads are taken.
 */
export async function downloadContainerLog(
  deps: Pick<Deps, "engine" | "inventory" | "limiters" | "now" | "self">,
  caller: Caller,
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

  const tty = container.Config.Tty ?? false;
  const release = deps.limiters.logDownloads.take(caller);
  const stop = new AbortController();
  const end = () => {
    stop.abort();
    release();
  };
  try {
    const frames = await containerLogs(deps.engine, container.Id, {
      ...range,
      timestamps,
      tty,
      signal: stop.signal,
    });
    const read = chunkReader(frames[Symbol.asyncIterator](), { timestamps, tty });
    return { name, text: readStream(read, end) };
  } catch (error) {
    end();
    throw asReadFailure(error);
  }
}

/** Reads the log in chunks of about {@linkcode CHUNK_BYTES}. */
function chunkReader(
  frames: AsyncIterator<LogFrame>,
  { timestamps, tty }: { timestamps: boolean; tty: boolean },
): () => Promise<Uint8Array<ArrayBuffer> | undefined> {
  /** Streams whose last frame did not end its line; the next one begins with another time. */
  const open = new Set<LogFrame["stream"]>();
  return async () => {
    const pieces: Uint8Array[] = [];
    for (let size = 0; size < CHUNK_BYTES;) {
      const { done, value } = await frames.next();
      if (done) break;
      const { stream, bytes } = value;
      const isRest = timestamps && !tty && open.has(stream);
      pieces.push(isRest ? bytes.subarray(leadingStamp(bytes).length) : bytes);
      size += bytes.length;
      if (bytes.at(-1) === LINE_FEED) open.delete(stream);
      else open.add(stream);
    }
    return pieces.length === 0 ? undefined : await new Blob(pieces as BlobPart[]).bytes();
  };
}
