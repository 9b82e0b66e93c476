/**
 * The clients of `GET /api/stream` and their frames (Server-Sent Events, WHATWG HTML 9.2).
 *
 * There are two kinds of frames. A *state* (metrics, containers) replaces the previous one of its
 * type; an *event* is kept for clients that reconnect. All frames are in one list, `held`, in the
 * order of their ids, and a client is little more than its position in that list. It gets the frames
 * after its position when it has read the previous ones, so a slow client needs no memory of its
 * own: it misses states, but gets the events that are still held.
 *
 * Every frame is serialized and encoded once; all clients share the bytes.
 *
 * @module
 */

import { AppError } from "../errors.ts";
import { yieldToEventLoop } from "../event_loop.ts";
import {
  COMMENT,
  cut,
  encode,
  idLine,
  join,
  lengthOf,
  retryLine,
  type StreamChunk,
} from "./chunks.ts";

/** The request of a new client. */
export interface StreamRequest {
  /** Requested types of frames. */
  types: ReadonlySet<string>;
  /** The last id that it received before it lost its connection. */
  lastEventId?: number | undefined;
  /** Whether the client is still authorized. Called in each round; its stream ends if not. */
  isValid: () => boolean;
}

export interface StreamHub {
  /** Number of connected clients. */
  readonly count: number;
  /**
   * Connects a client. It gets the reconnection time, the events that it missed and the current
   * states, then all new frames.
   *
   * @throws {AppError} `unavailable` if there are too many clients, or the service is stopping.
   */
  open(request: StreamRequest): ReadableStream<StreamChunk>;
  /** Sends an event to the clients of its type, and keeps it for clients that reconnect. */
  publish(type: string, data: unknown): void;
  /** Returns the last version that was passed to `setState`. */
  stateVersion(type: string): string | undefined;
  /**
   * Sets the state for new clients; the others get it with the next `broadcast`. States are sent in
   * the order in which their types were first set.
   *
   * @param version Identifies the state, for `stateVersion`; may be `undefined`.
   * @param data Sent as JSON; `undefined` to send nothing of this type.
   * @param options.onlyChanges Whether a broadcast skips it while its data is unchanged.
   */
  setState(
    type: string,
    version: string | undefined,
    data: unknown,
    options?: { onlyChanges?: boolean },
  ): void;
  /**
   * Sends the states to all clients, and a comment to those without a frame, so that proxies keep
   * the connection open. Resolves when all clients have been processed.
   */
  broadcast(): Promise<void>;
  /** Ends all streams and refuses new ones. */
  close(): void;
}

/** Delay after which a client reconnects, in milliseconds. */
const RETRY_MS = 5_000;

/** Maximum number of events that are kept for clients that reconnect. */
const EVENTS_HELD_MAX = 1_000;

/** Maximum number of frames that a client gets at a time. */
const PORTION_MAX = 100;

/** A client that has not read for this long is disconnected, in milliseconds. */
const STALL_MAX_MS = 45_000;

/** Number of clients that are served before the event loop runs. */
const SLICE = 100;

/**
 * The runtime keeps a buffer per connection, as large as the largest chunk so far. Frames are
 * therefore sent in pieces, with a turn of the event loop between them. Each piece costs time, so the
 * more clients there are, the fewer pieces each gets.
 */
const PIECES_MAX = 12;
const PIECES_OF_ALL_MAX = 10_000;
const PIECE_BYTES_MIN = 4_096;

/** Maximum number of joined portions that clients share in one round; usually there are few. */
const SHARED_MAX = 64;

/** An encoded frame with its id. */
interface HeldFrame {
  id: number;
  type: string;
  isEvent: boolean;
  /** With and without the line of its id. */
  bytes: StreamChunk;
  content: StreamChunk;
}

/** The current state of a type, without an id; no bytes if there is nothing to send. */
interface State {
  version: string | undefined;
  bytes: StreamChunk | undefined;
  onlyChanges: boolean;
}

interface Client {
  types: ReadonlySet<string>;
  /** Equal for clients with the same types. */
  typesKey: string;
  /** The id of the last frame that it got. */
  position: number;
  /** Whether it still needs the states, which follow the events that it missed. */
  isNew: boolean;
  /** The rest of the current portion, and the size of its pieces. */
  rest: StreamChunk[];
  pieceBytes: number;
  isValid: () => boolean;
  controller: ReadableStreamDefaultController<StreamChunk>;
  /** Since when it has not read. */
  stalledSince: number | undefined;
}

const RETRY = retryLine(RETRY_MS);

/** Type of the comment that keeps a connection open. */
const HEARTBEAT = "heartbeat";

/**
 * Creates the process's hub.
 *
 * Ids start at the time of the start (in microseconds) and increase by one with each frame. An id
 * from before a restart is therefore lower than all new ones, and its client gets everything that is
 * held. An unknown id is ignored.
 */
export function createStreamHub(
  { now, clientsMax }: { now: () => Date; clientsMax: number },
): StreamHub {
  const clients = new Set<Client>();
  const states = new Map<string, State>();
  let held: HeldFrame[] = [];
  const shared = new Map<string, StreamChunk>();
  let eventsHeld = 0;
  let lastId = now().getTime() * 1_000;
  let closed = false;
  /** Clients that are served in this round, and those that continue in the next turn. */
  const waiting = new Set<Client>();
  const paused = new Set<Client>();
  let round: Promise<void> | undefined;
  let turn: ReturnType<typeof setTimeout> | undefined;

  return {
    get count() {
      return clients.size;
    },

    open({ types, lastEventId, isValid }) {
      if (closed) throw new AppError("unavailable", "The service is stopping");
      if (clients.size >= clientsMax) {
        throw new AppError(
          "unavailable",
          `Limit of ${clientsMax} stream clients reached (MAX_SSE_CLIENTS)`,
        );
      }
      let client: Client;
      return new ReadableStream<StreamChunk>({
        start(controller) {
          client = {
            types,
            typesKey: [...types].sort().join(),
            position: lastEventId !== undefined && lastEventId <= lastId ? lastEventId : lastId,
            isNew: true,
            rest: [],
            pieceBytes: 0,
            isValid,
            controller,
            stalledSince: undefined,
          };
          clients.add(client);
          controller.enqueue(RETRY);
        },
        pull: () => onRead(client),
        cancel: () => forget(client),
      }, { highWaterMark: 1 });
    },

    publish(type, data) {
      hold({ type, isEvent: true, content: encode(type, data) });
      if (++eventsHeld > EVENTS_HELD_MAX) {
        held.splice(held.findIndex(({ isEvent }) => isEvent), 1);
        eventsHeld--;
      }
      void serve(clients);
    },

    stateVersion: (type) => states.get(type)?.version,

    setState(type, version, data, { onlyChanges = false } = {}) {
      const before = states.get(type)?.bytes;
      const bytes = data === undefined ? undefined : encode(type, data);
      // Unchanged data keeps its bytes, by which `broadcast()` recognizes it.
      const isSame = before && bytes && isEqual(before, bytes);
      states.set(type, { version, bytes: isSame ? before : bytes, onlyChanges });
    },

    broadcast() {
      // A frame that is not sent again stays for the clients that have not read it yet.
      held = held.filter((frame) => frame.isEvent || isCurrent(frame));
      const kept = new Set(held.map(({ content }) => content));
      shared.clear();
      for (const [type, { bytes }] of states) {
        if (bytes && !kept.has(bytes)) hold({ type, isEvent: false, content: bytes });
      }
      hold({ type: HEARTBEAT, isEvent: false, content: COMMENT });
      return serve(clients);
    },

    close() {
      closed = true;
      for (const client of clients) end(client);
      clearTimeout(turn);
    },
  };

  function hold({ type, isEvent, content }: Omit<HeldFrame, "id" | "bytes">): void {
    const id = ++lastId;
    held.push({ id, type, isEvent, content, bytes: join([idLine(id), content]) });
    shared.clear();
  }

  function isCurrent({ type, content }: HeldFrame): boolean {
    const state = states.get(type);
    return state !== undefined && state.onlyChanges && state.bytes === content;
  }

  /** Serves clients in turn; resolves when none is waiting. */
  function serve(these: Iterable<Client>): Promise<void> {
    for (const client of these) waiting.add(client);
    return round ??= serveWaiting();
  }

  async function serveWaiting(): Promise<void> {
    // `round` has to be set before the first client is served, because serving may call `serve()`.
    await Promise.resolve();
    while (waiting.size > 0) {
      for (const client of firstOf(waiting, SLICE)) {
        waiting.delete(client);
        if (client.isValid()) give(client);
        else end(client);
      }
      if (waiting.size > 0) await yieldToEventLoop();
    }
    round = undefined;
  }

  /** Called when the client has read everything that was enqueued. */
  function onRead(client: Client): void {
    if (client.rest.length > 0) {
      // The next piece follows after a turn, in which the runtime sends this one.
      if (paused.size === 0) turn = setTimeout(onTurn);
      paused.add(client);
    } else if (client.isNew || client.position < (held.at(-1)?.id ?? 0)) {
      void serve([client]);
    }
  }

  function onTurn(): void {
    const these = [...paused];
    paused.clear();
    void serve(these);
  }

  /** Enqueues the next piece for a client, if it has read the last one. */
  function give(client: Client): void {
    if (!hasRoom(client)) return;
    if (client.rest.length === 0) {
      client.rest = nextPortion(client);
      const share = Math.floor(PIECES_OF_ALL_MAX / clients.size);
      const pieces = Math.max(1, Math.min(PIECES_MAX, share));
      client.pieceBytes = Math.max(PIECE_BYTES_MIN, Math.ceil(lengthOf(client.rest) / pieces));
    }
    for (const piece of cut(client.rest, client.pieceBytes)) client.controller.enqueue(piece);
  }

  /** Returns the client's next portion, which may be empty, and moves its position. */
  function nextPortion(client: Client): StreamChunk[] {
    const due = framesAfter(client);
    if (due.length > 0) {
      client.position = due.at(-1)!.id;
      return shareable(client, due);
    }
    if (!client.isNew) {
      client.position = lastId;
      return [];
    }
    client.isNew = false;
    const chunks: StreamChunk[] = [];
    for (const [type, { bytes }] of states) {
      // A new id, so that ids increase for this client; the frame itself is shared.
      if (bytes && client.types.has(type)) chunks.push(idLine(++lastId), bytes);
    }
    client.position = lastId;
    return chunks;
  }

  /** Whether the client has read the last piece. A client that stalls for too long is disconnected. */
  function hasRoom(client: Client): boolean {
    if ((client.controller.desiredSize ?? 0) > 0) {
      client.stalledSince = undefined;
      return true;
    }
    const at = now().getTime();
    client.stalledSince ??= at;
    if (at - client.stalledSince >= STALL_MAX_MS) end(client);
    return false;
  }

  /** Returns the frames after the client's position, lowest id first; usually these are few. */
  function framesAfter({ position, types, isNew }: Client): HeldFrame[] {
    const first = held.findLastIndex(({ id }) => id <= position) + 1;
    const rest = held.slice(first).filter(({ isEvent }) => isEvent || !isNew);
    const due = rest.filter(({ type }) => types.has(type)).slice(0, PORTION_MAX);
    return due.length > 0 ? due : rest.filter(({ type }) => type === HEARTBEAT);
  }

  /** Returns the same bytes, in one piece, to clients that get the same frames. */
  function shareable({ typesKey, isNew }: Client, due: HeldFrame[]): StreamChunk[] {
    const key = `${isNew} ${due[0]!.id} ${typesKey}`;
    const known = shared.get(key);
    if (known) return [known];
    const pieces = due.map(({ bytes }) => bytes);
    if (shared.size >= SHARED_MAX) return pieces;
    const joined = join(pieces);
    shared.set(key, joined);
    return [joined];
  }

  function end(client: Client): void {
    forget(client);
    client.controller.close();
  }

  function forget(client: Client): void {
    clients.delete(client);
    waiting.delete(client);
    paused.delete(client);
  }
}

function isEqual(left: StreamChunk, right: StreamChunk): boolean {
  return left.length === right.length && left.every((byte, at) => byte === right[at]);
}

function firstOf<Item>(items: Iterable<Item>, count: number): Item[] {
  const first: Item[] = [];
  for (const item of items) {
    if (first.push(item) === count) break;
  }
  return first;
}
