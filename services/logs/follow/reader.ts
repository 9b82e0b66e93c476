/** One client of a log stream. @module */

import type { Deps } from "../../deps.ts";
import { createLimiter } from "../../limiter.ts";
import { retryLine, type StreamChunk } from "../../stream/chunks.ts";
import type { LogStreamRequest } from "../open_streams.ts";
import type { Container } from "../../containers/inventory.ts";
import { type Backlog, createBacklog } from "./backlog.ts";
import { cursorKey, decodeCursor } from "./cursor.ts";
import type { Follower } from "./follower.ts";
import type { ReadSlots } from "./read_slots.ts";
import { FROM_BEGINNING, type Start, subscribe } from "./subscription.ts";

/** Delay after which a client reconnects, in milliseconds. */
const RETRY_MS = 2_000;

/** Time without a frame after which a comment is sent, in milliseconds. */
const HEARTBEAT_MS = 15_000;

/** A client that has not read for this long is disconnected, in milliseconds. */
const STALL_MAX_MS = 60_000;

/** Maximum time between the creation of a container and its first mention, in milliseconds. */
const NEW_MARGIN_MS = 5 * 60_000;

/** Number of containers whose past lines are read at the same time. */
const PAST_READS_MAX = 4;

export interface LogReader {
  readonly stream: ReadableStream<StreamChunk>;
  endIfUnauthorized(): void;
  /** Ends the stream of an unauthorized or stalled client, and adds new containers. */
  tick(): void;
  close(): void;
}

/** The followers of all readers. */
export interface Followers {
  /**
   * Each follower must be released once.
   *
   * @throws {AppError} `unavailable` if there are too many.
   */
  acquire(container: Pick<Container, "id" | "name">): Follower;
  release(follower: Follower): void;
}

type ReaderDeps = Pick<Deps, "inventory" | "now" | "limiters">;

/**
 * @param options.followers The first ones, which are ready, and which the reader releases.
 * @param options.onClose Called once, when the client has left or its stream has ended.
 */
export function createReader(
  { inventory, limiters, now }: ReaderDeps,
  request: LogStreamRequest,
  { first, followers, slots, onClose }: {
    first: readonly Follower[];
    followers: Followers;
    slots: ReadSlots;
    onClose: () => void;
  },
): LogReader {
  const { filter, isComplete = false, select, containers, tail, since } = request;
  const openedAtMs = now().getTime();
  const cursor = request.lastEventId === undefined ? undefined : decodeCursor(request.lastEventId);
  const positions = new Map(containers.flatMap(({ id }) => {
    const position = cursor?.positions.get(cursorKey(id));
    return position === undefined ? [] : [[cursorKey(id), position]];
  }));
  const backlog: Backlog = createBacklog({
    now,
    filter,
    slices: limiters.searchSlices,
    positions,
    onReady: () => void send(),
  });
  const turns = createLimiter({ what: "logs", running: PAST_READS_MAX, waiting: Infinity });
  /** Containers of the stream; also those whose log cannot be read. */
  const members = new Map<string, { leave: () => void }>();
  let isClosed = false;
  let isSending = false;
  let sentAtMs = openedAtMs;
  let stalledSinceMs: number | undefined;
  let revision = inventory.revision;
  let controller!: ReadableStreamDefaultController<StreamChunk>;

  const stream = new ReadableStream<StreamChunk>({
    start(started) {
      controller = started;
      controller.enqueue(retryLine(RETRY_MS));
    },
    pull: () => void send(),
    cancel: release,
  }, { highWaterMark: 1 });

  for (const follower of first) {
    const createdAt = containers.find(({ id }) => id === follower.origin.id)?.createdAt ?? null;
    const isNew = cursor !== undefined && isSince(createdAt, cursor.at * 1000);
    join(follower, isNew ? FROM_BEGINNING : { range: { tail, since } });
  }
  return { stream, endIfUnauthorized, tick, close };

  function endIfUnauthorized(): void {
    if (!request.isValid()) close();
  }

  function tick(): void {
    endIfUnauthorized();
    if (isClosed) return;
    const atMs = now().getTime();
    if ((controller.desiredSize ?? 0) > 0) {
      stalledSinceMs = undefined;
      if (atMs - sentAtMs >= HEARTBEAT_MS) enqueue(encoder.encode(`${backlog.changedId()}:\n\n`));
    } else {
      stalledSinceMs ??= atMs;
      if (atMs - stalledSinceMs >= STALL_MAX_MS) return close();
    }
    if (select && inventory.live && inventory.revision !== revision) {
      revision = inventory.revision;
      updateMembers(select(inventory.list()));
    }
  }

  function updateMembers(selected: readonly Container[]): void {
    const ids = new Set(selected.map(({ id }) => id));
    for (const [id, { leave }] of members) {
      // A removed container leaves when its follower has noticed.
      if (!ids.has(id) && inventory.get(id)) leave();
    }
    for (const container of selected) {
      if (!members.has(container.id)) joinLater(container).catch(() => {});
    }
  }

  /** Adds a container when its follower is ready. */
  async function joinLater({ id, name, createdAt }: Container): Promise<void> {
    const follower = followers.acquire({ id, name });
    const leave = () => {
      members.delete(id);
      followers.release(follower);
    };
    const pending = { leave };
    members.set(id, pending);
    try {
      await follower.ready;
    } catch {
      if (members.get(id) !== pending) return;
      // `join()` reports the reason.
    }
    if (members.get(id) !== pending) return;
    join(follower, isSince(createdAt, openedAtMs) ? FROM_BEGINNING : { range: { tail, since } });
  }

  /** @param start Used if the client has no position in this log. */
  function join(follower: Follower, start: Start): void {
    const { id } = follower.origin;
    const position = backlog.position(id);
    let leave = () => {};
    // The follower may end while it is joined.
    const member = { leave: () => leave() };
    members.set(id, member);
    const unsubscribe = subscribe({
      follower,
      backlog,
      turns,
      slots,
      isComplete,
      start: position === undefined ? start : position ? { after: position } : FROM_BEGINNING,
      onEnd: (reason) => {
        // An unreadable log remains a member, so that it is not tried again.
        if (reason === "unreadable") members.set(id, { leave: () => members.delete(id) });
        else members.delete(id);
        followers.release(follower);
        void send();
      },
    });
    leave = () => {
      members.delete(id);
      unsubscribe();
      followers.release(follower);
    };
  }

  async function send(): Promise<void> {
    if (isSending || isClosed) return;
    isSending = true;
    try {
      while (!isClosed && (controller.desiredSize ?? 0) > 0) {
        const next = backlog.next();
        const frame = next instanceof Promise ? await next : next;
        if (frame) enqueue(frame);
        else if (next === undefined) {
          if (!select && members.size === 0) close();
          return;
        }
      }
    } finally {
      isSending = false;
    }
  }

  function enqueue(chunk: StreamChunk): void {
    if (isClosed) return;
    sentAtMs = now().getTime();
    controller.enqueue(chunk);
  }

  function close(): void {
    if (isClosed) return;
    // Lines that the filter left out have moved the position without a frame.
    const id = backlog.changedId();
    release();
    if (id) controller.enqueue(encoder.encode(`${id}:\n\n`));
    controller.close();
  }

  function release(): void {
    if (isClosed) return;
    isClosed = true;
    for (const { leave } of [...members.values()]) leave();
    backlog.close();
    onClose();
  }
}

const encoder = new TextEncoder();

/** Whether a container was created after a time at which it was not known. */
const isSince = (createdAt: string | null, ms: number) =>
  createdAt !== null && Date.parse(createdAt) > ms - NEW_MARGIN_MS;
