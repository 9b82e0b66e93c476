/**
 * The clients of `GET /api/stream` (Server-Sent Events, WHATWG HTML 9.2). A client gets the frames
 * after its position when it has read the previous ones.
 *
 * @module
 */

import { createShares, type Holder } from "../access/shares.ts";
import { AppError } from "../errors.ts";
import { yieldToEventLoop } from "../waiting.ts";
import { cut, lengthOf, retryLine, type StreamChunk } from "./chunks.ts";
import { type Compression, createCompression } from "./compression.ts";
import { createHeldFrames, type Reader, type StreamView } from "./held_frames.ts";

/** The request of a new client. */
export interface StreamRequest {
  holder: Holder;
  types: ReadonlySet<string>;
  /** The last id that it received before it lost its connection. */
  lastEventId?: number | undefined;
  /** View of the frames for the client; everything without it. */
  view?: StreamView | undefined;
  /** Whether the client is still authorized. Called in each round; its stream ends if not. */
  isValid: () => boolean;
  /** Whether the stream is compressed with gzip. */
  isCompressed?: boolean;
}

export type StreamHub = ReturnType<typeof createStreamHub>;

/** Delay after which a client reconnects, in milliseconds. */
const RETRY_MS = 5_000;

/** A client that has not read for this long is disconnected, in milliseconds. */
const STALL_MAX_MS = 45_000;

/** Number of clients that are served before the event loop runs. */
const SLICE = 100;

/**
 * The runtime keeps a buffer per connection, twice as large as the largest chunk so far. Frames are
 * therefore sent in pieces, with a turn of the event loop between them. Each piece costs time, so the
 * more clients share a round, the fewer pieces each gets.
 */
const PIECES_MAX = 48;
const PIECES_OF_ALL_MAX = 20_000;
const PIECE_BYTES_MIN = 1_024;

interface Client {
  /** Gives its share back. */
  release: () => void;
  reader: Reader;
  compression: Compression | undefined;
  /** The rest of the current portion, and the size of its pieces. */
  rest: StreamChunk[];
  pieceBytes: number;
  isValid: () => boolean;
  controller: ReadableStreamDefaultController<StreamChunk>;
  /** Since when it has not read. */
  stalledSince: number | undefined;
}

const RETRY = retryLine(RETRY_MS);

export function createStreamHub(
  { now, clientsMax }: { now: () => Date; clientsMax: number },
) {
  const frames = createHeldFrames(now);
  const clients = new Set<Client>();
  const shares = createShares({
    what: "stream clients",
    max: clientsMax,
    hint: " (MAX_SSE_CLIENTS)",
  });
  /** Clients that are served in this round, and those that continue in the next turn. */
  const waiting = new Set<Client>();
  const paused = new Set<Client>();
  let closed = false;
  let round: Promise<void> | undefined;
  let turn: ReturnType<typeof setTimeout> | undefined;

  return {
    /** Number of connected clients. */
    get count() {
      return clients.size;
    },

    /**
     * Connects a client. It gets the reconnection time, the events that it missed and the current
     * states, then all new frames.
     *
     * @throws {AppError} `unavailable` if there are too many clients, or the service is stopping;
     * `too_many_requests` above the share of the account or token.
     */
    open(
      { holder, types, lastEventId, view, isValid, isCompressed = false }: StreamRequest,
    ): ReadableStream<StreamChunk> {
      if (closed) throw new AppError("unavailable", "The service is stopping");
      const release = shares.take(holder);
      let client: Client;
      return new ReadableStream<StreamChunk>({
        start(controller) {
          client = {
            release,
            reader: frames.createReader({ types, view, lastEventId }),
            compression: isCompressed ? createCompression() : undefined,
            rest: [],
            pieceBytes: 0,
            isValid,
            controller,
            stalledSince: undefined,
          };
          clients.add(client);
          if (client.compression) controller.enqueue(client.compression.header);
          for (const chunk of compressed(client, [RETRY])) controller.enqueue(chunk);
        },
        pull: () => onRead(client),
        cancel: () => forget(client),
      }, { highWaterMark: 1 });
    },

    /**
     * Sends an event to the clients of its type, and keeps it for clients that reconnect.
     *
     * @param name The type that the frame names.
     */
    publish(type: string, data: unknown, name = type): void {
      frames.addEvent(type, data, name);
      void serve(clients);
    },

    /** Ends the streams of clients that are no longer authorized. */
    endUnauthorized(): void {
      for (const client of clients) {
        if (!client.isValid()) end(client);
      }
    },

    stateVersion: frames.stateVersion,
    setState: frames.setState,

    /**
     * Sends the states to all clients, and a comment to those without a frame, so that proxies keep
     * the connection open. Resolves when all clients have been processed.
     */
    broadcast(): Promise<void> {
      frames.renewStates();
      return serve(clients);
    },

    /** Ends all streams and refuses new ones. */
    close(): void {
      closed = true;
      for (const client of clients) end(client);
    },
  };

  /** Serves clients in turn; resolves when none is waiting. */
  function serve(these: Iterable<Client>): Promise<void> {
    for (const client of these) waiting.add(client);
    return round ??= serveWaiting();
  }

  async function serveWaiting(): Promise<void> {
    // `round` has to be set before the first client is served, because serving may call `serve()`.
    await Promise.resolve();
    try {
      while (waiting.size > 0) {
        for (const client of waiting.values().take(SLICE).toArray()) {
          waiting.delete(client);
          if (client.isValid()) give(client);
          else end(client);
        }
        if (waiting.size > 0) await yieldToEventLoop();
      }
    } finally {
      // The check of a client reads the database and can fail; the next round starts again.
      round = undefined;
    }
  }

  /** Called when the client has read everything that was enqueued. */
  function onRead(client: Client): void {
    // The end of a compressed stream is read after the client was forgotten.
    if (!clients.has(client)) return;
    if (client.rest.length > 0) {
      // The next piece follows after a turn, in which the runtime sends this one.
      if (paused.size === 0) turn = setTimeout(onTurn);
      paused.add(client);
    } else if (frames.hasNext(client.reader)) {
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
      const pieces = piecesFor(client);
      client.rest = compressed(client, frames.nextPortion(client.reader));
      client.pieceBytes = Math.max(PIECE_BYTES_MIN, Math.ceil(lengthOf(client.rest) / pieces));
    }
    for (const piece of cut(client.rest, client.pieceBytes)) {
      // The server may notice during `enqueue()` that the client has left.
      if (clients.has(client)) client.controller.enqueue(piece);
    }
  }

  /** Returns the number of pieces of a portion. New clients do not come in a round with all others. */
  function piecesFor({ reader }: Client): number {
    if (reader.isNew) return PIECES_MAX;
    const share = Math.floor(PIECES_OF_ALL_MAX / clients.size);
    return Math.max(1, Math.min(PIECES_MAX, share));
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

  function end(client: Client): void {
    forget(client);
    const { compression, controller, rest } = client;
    if (compression && rest.length === 0) controller.enqueue(compression.end());
    controller.close();
  }

  function forget(client: Client): void {
    client.release();
    clients.delete(client);
    waiting.delete(client);
    if (paused.delete(client) && paused.size === 0) clearTimeout(turn);
  }
}

const compressed = ({ compression }: Client, chunks: StreamChunk[]): StreamChunk[] =>
  compression?.compress(chunks) ?? chunks;
