/**
 * The clients of `GET /api/stream`, and what they are sent (Server-Sent Events, WHATWG HTML 9.2).
 *
 * There are two sorts of frames. A *state* (metrics, containers) replaces the one before of its
 * type; an *event* is kept for clients that come back. All of them lie in one list, `held`, in the
 * order of their ids, and a client is little more than its position in it: it is given what lies
 * behind its position whenever it has taken what it was given before. One that does not read is
 * therefore owed more and more, but never sent more, and owes the server no memory. What it
 * missed of the states it will never see; the events it gets as long as they are held.
 *
 * Every frame is serialised and encoded once; all clients share the bytes.
 *
 * @module
 */

import { AppError } from "../errors.ts";
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

/** What a new client asks for. */
export interface StreamRequest {
  /** Types of frames that it wants. */
  types: ReadonlySet<string>;
  /** The last id that it saw before it lost its connection. */
  lastEventId?: number | undefined;
  /** Asked at every round: whether it may still listen. Its stream ends when not. */
  stillValid: () => boolean;
}

export interface StreamHub {
  /** Clients that are connected. */
  readonly count: number;
  /**
   * Connects a client. It is given the reconnection time, the events that it missed, and the
   * states as they are; then what comes.
   *
   * @throws {AppError} `unavailable` when there are too many, or at the stop of the service.
   */
  open(request: StreamRequest): ReadableStream<StreamChunk>;
  /** Sends an event to all who want its type, and keeps it for those who come back. */
  publish(type: string, data: unknown): void;
  /** What `setState` was told last. */
  stateVersion(type: string): string | undefined;
  /**
   * Takes the state that new clients are shown; the others see it at the next `broadcast`. States
   * are sent in the order in which their types came first.
   *
   * @param version Names the state, for `stateVersion`; `undefined` for one that has no name.
   * @param data Sent as JSON; `undefined` when there is nothing to show of this type.
   * @param options.onlyChanges Whether a broadcast leaves it out while its data stays the same.
   */
  setState(
    type: string,
    version: string | undefined,
    data: unknown,
    options?: { onlyChanges?: boolean },
  ): void;
  /**
   * Sends the states to all clients, and a comment to those that would get nothing, so that proxies
   * keep the connection. Resolves when all clients have been processed.
   */
  broadcast(): Promise<void>;
  /** Ends all streams; new ones are refused from now on. */
  close(): void;
}

/** How soon a client that lost its connection comes back, in milliseconds. */
const RETRY_MS = 5_000;

/** Most events that are kept for clients who come back. */
const EVENTS_HELD_MAX = 1_000;

/** Most frames that a client is given at a time. */
const PORTION_MAX = 100;

/** A client that has taken nothing for this long loses its connection, in milliseconds. */
const STALL_MAX_MS = 45_000;

/** Clients that are looked after before other work has its turn. */
const SLICE = 100;

/**
 * The runtime keeps a buffer for each connection, as large as the most that it was given at once.
 * What is to be sent is therefore cut into pieces with a turn between them. Each piece costs time,
 * so there are fewer of them for a client, and in the end only one, the more clients there are.
 */
const PIECES_MAX = 12;
const PIECES_OF_ALL_MAX = 10_000;
const PIECE_BYTES_MIN = 4_096;

/** Different portions of one round that are put together for sharing; there are few as a rule. */
const SHARED_MAX = 64;

/** A frame that lies ready, with its id. */
interface HeldFrame {
  id: number;
  type: string;
  isEvent: boolean;
  /** With and without the line of its id. */
  bytes: StreamChunk;
  content: StreamChunk;
}

/** The current state of a type, without an id; no bytes where there is nothing to show. */
interface State {
  version: string | undefined;
  bytes: StreamChunk | undefined;
  onlyChanges: boolean;
}

interface Client {
  types: ReadonlySet<string>;
  /** Equal for clients who want the same types. */
  typesKey: string;
  /** The id of the last frame that it was given. */
  position: number;
  /** It is shown the states once it has the events that it missed. */
  isNew: boolean;
  /** What it is being given and has not been handed yet, and how much at a time. */
  rest: StreamChunk[];
  pieceBytes: number;
  stillValid: () => boolean;
  controller: ReadableStreamDefaultController<StreamChunk>;
  /** Since when it has not taken what it was given. */
  stalledSince: number | undefined;
}

const RETRY = retryLine(RETRY_MS);

/** Type of the comment that keeps a connection open. */
const HEARTBEAT = "heartbeat";

/**
 * Makes the process's hub.
 *
 * Ids begin with the time of the start (in microseconds), and rise by one with each frame: an id
 * from before a restart is lower than all of the new ones, so its client is given everything that
 * is held. An id that was never given out counts as none.
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
  /** Clients that are about to be looked after, and those who are a turn later. */
  const waiting = new Set<Client>();
  const paused = new Set<Client>();
  let round: Promise<void> | undefined;
  let turn: ReturnType<typeof setTimeout> | undefined;

  return {
    get count() {
      return clients.size;
    },

    open({ types, lastEventId, stillValid }) {
      if (closed) throw new AppError("unavailable", "The service is stopping");
      if (clients.size >= clientsMax) {
        throw new AppError("unavailable", `All ${clientsMax} places on the stream are taken`);
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
            stillValid,
            controller,
            stalledSince: undefined,
          };
          clients.add(client);
          controller.enqueue(RETRY);
        },
        pull: () => onTaken(client),
        cancel: () => forget(client),
      }, { highWaterMark: 1 });
    },

    publish(type, data) {
      hold({ type, isEvent: true, content: encode(type, data) });
      if (++eventsHeld > EVENTS_HELD_MAX) {
        held.splice(held.findIndex(({ isEvent }) => isEvent), 1);
        eventsHeld--;
      }
      void lookAfter(clients);
    },

    stateVersion: (type) => states.get(type)?.version,

    setState(type, version, data, { onlyChanges = false } = {}) {
      const before = states.get(type)?.bytes;
      const bytes = data === undefined ? undefined : encode(type, data);
      // Data that has not changed keeps its bytes, by which `broadcast()` recognises it.
      const isSame = before && bytes && isEqual(before, bytes);
      states.set(type, { version, bytes: isSame ? before : bytes, onlyChanges });
    },

    broadcast() {
      // A frame that is not sent again stays for the clients that have not taken it yet.
      held = held.filter((frame) => frame.isEvent || isCurrent(frame));
      const stays = new Set(held.map(({ content }) => content));
      shared.clear();
      for (const [type, { bytes }] of states) {
        if (bytes && !stays.has(bytes)) hold({ type, isEvent: false, content: bytes });
      }
      hold({ type: HEARTBEAT, isEvent: false, content: COMMENT });
      return lookAfter(clients);
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

  /** Has clients looked after, in turn; resolves when nobody is waiting any more. */
  function lookAfter(these: Iterable<Client>): Promise<void> {
    for (const client of these) waiting.add(client);
    return round ??= lookAfterAll();
  }

  async function lookAfterAll(): Promise<void> {
    // Not at once: `round` has to be known to whoever asks for more while being looked after.
    await Promise.resolve();
    while (waiting.size > 0) {
      for (const client of firstOf(waiting, SLICE)) {
        waiting.delete(client);
        if (client.stillValid()) give(client);
        else end(client);
      }
      if (waiting.size > 0) await new Promise((resolve) => setTimeout(resolve));
    }
    round = undefined;
  }

  /** Called when the client has taken all that it was handed. */
  function onTaken(client: Client): void {
    if (client.rest.length > 0) {
      // The next piece follows after a turn, in which the runtime sends this one.
      if (paused.size === 0) turn = setTimeout(onTurn);
      paused.add(client);
    } else if (client.isNew || client.position < (held.at(-1)?.id ?? 0)) {
      void lookAfter([client]);
    }
  }

  function onTurn(): void {
    const these = [...paused];
    paused.clear();
    void lookAfter(these);
  }

  /** Gives a client the next piece of what it is owed, if it has taken the last one. */
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

  /** What the client is to be given next, and takes it as given; nothing where nothing is owed. */
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
      // Ids of its own, so that they rise for this client; the frame itself is shared.
      if (bytes && client.types.has(type)) chunks.push(idLine(++lastId), bytes);
    }
    client.position = lastId;
    return chunks;
  }

  /** Whether the client has taken what it was given. One that has not for too long is let go. */
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

  /** What the client is owed, lowest id first; most clients are owed only the last few frames. */
  function framesAfter({ position, types, isNew }: Client): HeldFrame[] {
    const first = held.findLastIndex(({ id }) => id <= position) + 1;
    const rest = held.slice(first).filter(({ isEvent }) => isEvent || !isNew);
    const due = rest.filter(({ type }) => types.has(type)).slice(0, PORTION_MAX);
    return due.length > 0 ? due : rest.filter(({ type }) => type === HEARTBEAT);
  }

  /** Clients who are owed the same get the same bytes, in one piece. */
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
