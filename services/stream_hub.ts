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

import { AppError } from "./errors.ts";

export type StreamChunk = Uint8Array<ArrayBuffer>;

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
   */
  setState(type: string, version: string | undefined, data: unknown): void;
  /** Sends the states to all; resolves when every client has been looked after. */
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
const SLICE = 500;

/** Different portions of one round that are put together for sharing; there are few as a rule. */
const SHARED_MAX = 64;

/** A frame that lies ready, with its id. */
interface HeldFrame {
  id: number;
  type: string;
  isEvent: boolean;
  bytes: StreamChunk;
}

/** The current state of a type, without an id; no bytes where there is nothing to show. */
interface State {
  version: string | undefined;
  bytes: StreamChunk | undefined;
}

interface Client {
  types: ReadonlySet<string>;
  /** Equal for clients who want the same types. */
  typesKey: string;
  /** The id of the last frame that it was given. */
  position: number;
  /** It is shown the states once it has the events that it missed. */
  isNew: boolean;
  stillValid: () => boolean;
  controller: ReadableStreamDefaultController<StreamChunk>;
  /** Since when it has not taken what it was given. */
  stalledSince: number | undefined;
}

const encoder = new TextEncoder();
const RETRY = encoder.encode(`retry: ${RETRY_MS}\n\n`);

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
  let round: Promise<void> | undefined;
  let roundAgain = false;

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
            stillValid,
            controller,
            stalledSince: undefined,
          };
          clients.add(client);
          controller.enqueue(RETRY);
        },
        pull: () => give(client),
        cancel: () => void clients.delete(client),
      }, { highWaterMark: 1 });
    },

    publish(type, data) {
      hold({ type, isEvent: true, bytes: encode(type, data) });
      if (++eventsHeld > EVENTS_HELD_MAX) {
        held.splice(held.findIndex(({ isEvent }) => isEvent), 1);
        eventsHeld--;
      }
      void giveAll();
    },

    stateVersion: (type) => states.get(type)?.version,

    setState(type, version, data) {
      states.set(type, { version, bytes: data === undefined ? undefined : encode(type, data) });
    },

    broadcast() {
      held = held.filter(({ isEvent }) => isEvent);
      shared.clear();
      for (const [type, { bytes }] of states) if (bytes) hold({ type, isEvent: false, bytes });
      return giveAll();
    },

    close() {
      closed = true;
      for (const client of clients) end(client);
    },
  };

  function hold({ type, isEvent, bytes }: Omit<HeldFrame, "id">): void {
    const id = ++lastId;
    held.push({ id, type, isEvent, bytes: join([idLine(id), bytes]) });
    shared.clear();
  }

  /** Looks after every client; one call that comes during a round has another one follow. */
  function giveAll(): Promise<void> {
    roundAgain = true;
    return round ??= (async () => {
      while (roundAgain) {
        roundAgain = false;
        let looked = 0;
        for (const client of clients) {
          if (!client.stillValid()) end(client);
          else give(client);
          // Thousands of clients must not keep a request waiting.
          if (++looked % SLICE === 0) await new Promise((resolve) => setTimeout(resolve));
        }
      }
    })().finally(() => round = undefined);
  }

  /** Gives a client the next portion of what it is owed, if it has taken the last one. */
  function give(client: Client): void {
    if (!clients.has(client)) return;
    if (!hasRoom(client)) return;
    const due = framesAfter(client);
    if (due.length > 0) {
      client.position = due.at(-1)!.id;
      for (const chunk of portion(client, due)) client.controller.enqueue(chunk);
    } else if (client.isNew) {
      client.isNew = false;
      for (const [type, { bytes }] of states) {
        if (!bytes || !client.types.has(type)) continue;
        // Ids of its own, so that they rise for this client; the frame itself is shared.
        client.controller.enqueue(idLine(++lastId));
        client.controller.enqueue(bytes);
      }
      client.position = lastId;
    }
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
    return held.slice(first)
      .filter(({ type, isEvent }) => types.has(type) && (isEvent || !isNew))
      .slice(0, PORTION_MAX);
  }

  /** Clients who are owed the same get the same bytes, in one piece. */
  function portion({ typesKey, isNew }: Client, due: HeldFrame[]): StreamChunk[] {
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
    clients.delete(client);
    client.controller.close();
  }
}

/** A frame without its id line. JSON has no line breaks, so one line of data is all there is. */
function encode(type: string, data: unknown): StreamChunk {
  return encoder.encode(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
}

function idLine(id: number): StreamChunk {
  return encoder.encode(`id: ${id}\n`);
}

function join(pieces: readonly StreamChunk[]): StreamChunk {
  const joined = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let offset = 0;
  for (const piece of pieces) {
    joined.set(piece, offset);
    offset += piece.length;
  }
  return joined;
}
