/**
 * The log of containers on one host, as a part of a stream of several hosts. The host is read only as
 * fast as the client reads: one frame waits here, the others in the window of the link's stream.
 *
 * @module
 */

import { asAppError, type ErrorCode } from "../../errors.ts";
import { encode, type StreamChunk } from "../../stream/chunks.ts";
import { sleep } from "../../waiting.ts";
import { type Frame, readFrames } from "../copies/frames.ts";
import type { PassedResponse } from "../passing/pass.ts";
import { isHostId } from "./cursor.ts";

/** Why lines of a host are missing. */
export const MISSING_REASONS = ["away", "refused", "gone"] as const;
export type MissingReason = (typeof MISSING_REASONS)[number];

/** Pauses until a host is asked again, in milliseconds: at first, and at most. */
const RETRY_MS = 2_000;
const RETRY_MAX_MS = 30_000;

/** Interval of checks whether containers have come or gone, in milliseconds. */
const CHECK_MS = 5_000;

/** Longest frame of a log, in characters: many clients may each hold one of many hosts. */
const FRAME_MAX = 256 * 1024;

/** Types of frames that are passed on. */
const TYPES = ["log", "gap", "restarted", "end"];

/** Containers of one host. */
export interface HostLog {
  name: string;
  hostId: string;
  /** Names or ids, as the client gave them. */
  containers: readonly string[];
  /** Those that the host has now; all of them while that is not known. */
  present: () => readonly string[];
  /** Sends the request. @param lastId Id of the last frame. */
  open: (
    containers: readonly string[],
    lastId: string | undefined,
    signal: AbortSignal,
  ) => Promise<PassedResponse>;
}

/** A frame for the client. `lastId` is the position of the host from then on. */
export interface HostFrame {
  chunk: StreamChunk;
  lastId: string | undefined;
}

export interface LogSource {
  readonly name: string;
  /** The frame that waits, which is taken; `undefined` without one. */
  take(): HostFrame | undefined;
  /** Whether nothing follows. */
  readonly isOver: boolean;
  readonly running: Promise<void>;
}

/** A host answers with another status than that of a stream. */
class StatusError extends Error {
  constructor(readonly status: number) {
    super(`The host answered ${status}`);
  }
}

/**
 * @param options.lastId Where the client continues.
 * @param options.onFrame Called when a frame waits, and at the end.
 */
export function createLogSource(
  host: HostLog,
  { lastId, signal, onFrame }: {
    lastId: string | undefined;
    signal: AbortSignal;
    onFrame: () => void;
  },
): LogSource {
  let slot: HostFrame | undefined;
  let taken = Promise.withResolvers<void>();
  let isOver = false;
  /** JSON of the missing containers that the client knows of. */
  let told = "";
  signal.addEventListener("abort", () => taken.resolve(), { once: true });

  const running = run().catch(() => {}).finally(() => {
    isOver = true;
    onFrame();
  });
  return {
    name: host.name,
    running,
    get isOver() {
      return isOver && slot === undefined;
    },
    take() {
      const frame = slot;
      slot = undefined;
      taken.resolve();
      return frame;
    },
  };

  async function put(chunk: StreamChunk): Promise<void> {
    taken = Promise.withResolvers();
    if (signal.aborted) return;
    slot = { chunk, lastId };
    onFrame();
    await taken.promise;
  }

  async function run(): Promise<void> {
    for (let failures = 0; !signal.aborted;) {
      const present = host.present();
      const gone = host.containers.filter((each) => !present.includes(each));
      try {
        if (present.length === 0) await tell([{ containers: gone, reason: "gone" }]);
        else await follow(present, gone, () => failures = 0);
      } catch (error) {
        if (signal.aborted) return;
        const reason = reasonOf(error);
        const others = gone.length > 0 ? [{ containers: gone, reason: "gone" as const }] : [];
        await tell([{ containers: present, reason }, ...others]);
        failures++;
      }
      const rangeMs = Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** failures);
      await sleep(RETRY_MS / 2 + Math.random() * rangeMs / 2, signal);
    }
  }

  /** Passes on the frames of the host, until its stream ends or it has other containers. */
  async function follow(
    present: readonly string[],
    gone: readonly string[],
    onOpen: () => void,
  ): Promise<void> {
    const changed = new AbortController();
    const stopped = AbortSignal.any([signal, changed.signal]);
    const { head, body, end } = await host.open(present, lastId, stopped);
    try {
      if (head.status !== 200 || !body) throw new StatusError(head.status);
      onOpen();
      await tell(gone.length > 0 ? [{ containers: gone, reason: "gone" }] : []);
      void watch(present, changed, stopped);
      for await (const frame of readFrames(body, { spend: () => {} }, FRAME_MAX)) {
        const chunk = chunkOf(host.name, frame);
        if (!chunk) continue;
        if (isHostId(frame.id)) lastId = frame.id;
        await put(chunk);
      }
    } catch (error) {
      if (!changed.signal.aborted) throw error;
    } finally {
      changed.abort();
      end();
    }
  }

  /** Ends a stream whose containers are others now. */
  async function watch(
    present: readonly string[],
    changed: AbortController,
    stopped: AbortSignal,
  ): Promise<void> {
    while (!stopped.aborted) {
      await sleep(CHECK_MS, stopped);
      if (host.present().join() !== present.join()) changed.abort();
    }
  }

  /** Tells the client which containers are missing, unless it knows. */
  async function tell(
    missing: readonly { containers: readonly string[]; reason: MissingReason }[],
  ): Promise<void> {
    const now = JSON.stringify(missing);
    if (now === told || told === "" && missing.length === 0) return;
    told = now;
    await put(encode("missing", { host: host.name, missing }));
  }
}

/** Reasons by status of the host, and by what kept the hub from asking it. */
function reasonOf(error: unknown): MissingReason {
  const status = error instanceof StatusError ? error.status : undefined;
  if (status === 404) return "gone";
  if (status !== undefined) return status === 429 || status >= 500 ? "away" : "refused";
  const code: ErrorCode | undefined = asAppError(error)?.code;
  return code === "bad_gateway" || code === "forbidden" ? "refused" : "away";
}

/** A frame of the host with its name; `undefined` for what is none. */
function chunkOf(host: string, { event, data }: Frame): StreamChunk | undefined {
  if (!TYPES.includes(event)) return undefined;
  const given: unknown = JSON.parse(data);
  const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
  if (Array.isArray(given)) {
    return encode(event, given.filter(isObject).map((each) => ({ ...each, host })));
  }
  return isObject(given) ? encode(event, { ...given, host }) : undefined;
}
