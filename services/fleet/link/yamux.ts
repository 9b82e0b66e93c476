/**
 * Streams over one link, by the yamux specification
 * (https://github.com/hashicorp/yamux/blob/master/spec.md). A message of the link is exactly one
 * frame:
 *
 *     byte 0      version, 0
 *     byte 1      type: 0 data, 1 window update, 2 ping, 3 go away
 *     bytes 2-3   flags: 1 SYN, 2 ACK, 4 FIN, 8 RST
 *     bytes 4-7   id of the stream, 0 for the session; odd ids are opened by the client
 *     bytes 8-11  length of the data, added credit in bytes, value of a ping, or reason of the end
 *     then        the data
 *
 * All numbers have the high byte first. Packages for this give credit for bytes that were not read,
 * or limit neither streams nor windows, so that a peer could fill the memory.
 *
 * @module
 */

import { type Bytes, concat } from "./noise.ts";
import type { LinkStream } from "./stream.ts";

const TYPE = { data: 0, window: 1, ping: 2, goAway: 3 } as const;
const FLAG = { syn: 1, ack: 2, fin: 4, rst: 8 } as const;
const FLAGS_ALL = 15;

export const HEADER_BYTES = 12;

/** Credit of a new stream in each direction, in bytes. */
export const WINDOW_BYTES = 256 * 1024;

/** Limit of bytes of all streams that were received and not read. */
export const UNREAD_MAX = 32 * 1024 * 1024;

/** Maximum credit that a peer may give, in bytes. */
const CREDIT_MAX = 16 * 1024 * 1024;

/** Data of a frame that is sent, in bytes: short enough that other streams get their turn. */
const DATA_BYTES = 32 * 1024;

/** Limit of open streams. */
export const STREAMS_MAX = 1_000;

/** Limit of pieces of a stream that were received and not read; more are joined to one. */
export const PIECES_MAX = 64;

/** Limit of answers that the peer has not read. */
const ANSWERS_MAX = 4 * STREAMS_MAX;

/** A frame that a correct peer does not send; the link ends with this reason. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

export interface Session {
  /** Processes a frame of the peer. @throws {ProtocolError} */
  receive(frame: Bytes): void;
  /** @throws {Error} If the session has ended or has too many streams. */
  open(signal?: AbortSignal): LinkStream;
  /** Ends all streams. */
  end(reason: string): void;
  /** Number of open streams. */
  readonly size: number;
}

interface SessionOptions {
  /** Whether this side has dialed. */
  isClient: boolean;
  /** Sends a frame. Resolves when the connection takes the next one; rejects when it has ended. */
  send: (frame: Bytes) => Promise<void>;
  /** Takes a stream that the peer has opened. Without it, the peer may not open any. */
  accept?: ((stream: LinkStream) => void) | undefined;
}

export function createSession({ isClient, send, accept }: SessionOptions): Session {
  const streams = new Map<number, Stream>();
  let nextId = isClient ? 1 : 2;
  let lastPeerId = 0;
  let answers = 0;
  let unread = 0;
  let ended: string | undefined;

  const isOwn = (id: number) => (id % 2 === 1) === isClient;

  /** Sends a frame that nothing waits for. A failure ends the session otherwise. */
  function answer(frame: Bytes): void {
    answers++;
    send(frame).then(() => void answers--, () => {});
  }

  function createStream(id: number): Stream {
    const count = (bytes: number) => void (unread += bytes);
    const stream = new Stream(id, { send, answer, count, remove: () => void streams.delete(id) });
    streams.set(id, stream);
    return stream;
  }

  function acceptStream(id: number): Stream {
    if (!accept) throw new ProtocolError("This side accepts no streams");
    if (isOwn(id) || id <= lastPeerId) throw new ProtocolError(`Stream ${id} cannot be opened`);
    if (streams.size >= STREAMS_MAX) {
      throw new ProtocolError(`Limit of ${STREAMS_MAX} streams exceeded`);
    }
    lastPeerId = id;
    return createStream(id);
  }

  function findStream(id: number): Stream | undefined {
    const stream = streams.get(id);
    // The peer may not know yet that this side has closed the stream.
    const wasOpen = isOwn(id) ? id < nextId : id <= lastPeerId;
    if (!stream && !wasOpen) throw new ProtocolError(`Stream ${id} is not open`);
    return stream;
  }

  /**
   * Closes the streams that hold the most, whose readers do not read. Their windows alone would allow
   * 250 MiB.
   */
  function limitUnread(): void {
    while (unread > UNREAD_MAX) {
      const held = [...streams.values()].reduce((most, each) =>
        each.held > most.held ? each : most
      );
      held.close();
    }
  }

  function receiveOfStream(frame: Frame): void {
    const { type, flags, id, length, data } = frame;
    const isNew = (flags & FLAG.syn) !== 0;
    if (isNew && streams.has(id)) throw new ProtocolError(`Stream ${id} is already open`);
    const stream = isNew ? acceptStream(id) : findStream(id);
    if (isNew) answer(encodeFrame(TYPE.window, FLAG.ack, id, 0));
    if (stream) {
      if (type === TYPE.data) stream.receiveData(data);
      else stream.receiveCredit(length);
      limitUnread();
      if (flags & FLAG.rst) stream.reset();
      else if (flags & FLAG.fin) stream.receiveEnd();
    }
    if (isNew) accept!(stream!);
  }

  return {
    receive(bytes) {
      if (ended !== undefined) return;
      const frame = decodeFrame(bytes);
      if (answers > ANSWERS_MAX) throw new ProtocolError("The peer does not read answers");
      if (frame.type === TYPE.data || frame.type === TYPE.window) return receiveOfStream(frame);
      if (frame.type === TYPE.goAway) throw new ProtocolError("The peer has ended the session");
      // Each ping is answered; this side sends none, because beats measure more.
      if (frame.flags !== FLAG.syn) throw new ProtocolError("A ping was answered but not sent");
      answer(encodeFrame(TYPE.ping, FLAG.ack, 0, frame.length));
    },

    open(signal) {
      signal?.throwIfAborted();
      if (ended !== undefined) throw linkEnded(ended);
      if (streams.size >= STREAMS_MAX) throw new Error(`Limit of ${STREAMS_MAX} streams reached`);
      const id = nextId;
      nextId += 2;
      if (id > 0xffff_fffd) throw new Error("The link has no more numbers of streams");
      const stream = createStream(id);
      answer(encodeFrame(TYPE.window, FLAG.syn, id, 0));
      return stream;
    },

    end(reason) {
      ended ??= reason;
      for (const stream of streams.values()) stream.fail(linkEnded(ended));
      streams.clear();
    },

    get size() {
      return streams.size;
    },
  };
}

const linkEnded = (reason: string) =>
  new Deno.errors.ConnectionReset(`The link has ended: ${reason}`);

interface StreamOptions {
  send: (frame: Bytes) => Promise<void>;
  answer: (frame: Bytes) => void;
  /** Counts bytes that were received, or were read. */
  count: (bytes: number) => void;
  /** Forgets the stream after its end. */
  remove: () => void;
}

class Stream implements LinkStream {
  readonly id: number;
  readonly #options: StreamOptions;
  /** Bytes that the peer still takes, and that this side still takes. */
  #sendCredit = WINDOW_BYTES;
  #receiveCredit = WINDOW_BYTES;
  #received: Bytes[] = [];
  /** Bytes that were received and not read. */
  held = 0;
  /** Bytes that were read and that the peer may send again. */
  #read = 0;
  #hasEnded = { own: false, peer: false };
  #failure: Error | undefined;
  #wakeReader = () => {};
  #wakeWriter = () => {};

  constructor(id: number, options: StreamOptions) {
    this.id = id;
    this.#options = options;
  }

  async read(into: Uint8Array): Promise<number | null> {
    while (this.#received.length === 0) {
      if (this.#failure) throw this.#failure;
      if (this.#hasEnded.peer) return null;
      await new Promise<void>((resolve) => this.#wakeReader = resolve);
    }
    const [first] = this.#received as [Bytes];
    const length = Math.min(into.length, first.length);
    into.set(first.subarray(0, length));
    if (length < first.length) this.#received[0] = first.subarray(length);
    else this.#received.shift();
    this.#hold(-length);
    this.#returnCredit(length);
    return length;
  }

  async write(bytes: Uint8Array): Promise<number> {
    for (let at = 0; at < bytes.length;) {
      while (this.#sendCredit === 0 && !this.#failure && !this.#hasEnded.own) {
        await new Promise<void>((resolve) => this.#wakeWriter = resolve);
      }
      this.#assertWritable();
      const data = bytes.subarray(at, at + Math.min(this.#sendCredit, DATA_BYTES));
      this.#sendCredit -= data.length;
      at += data.length;
      await this.#options.send(encodeFrame(TYPE.data, 0, this.id, data.length, data));
    }
    this.#assertWritable();
    return bytes.length;
  }

  async closeWrite(): Promise<void> {
    if (this.#failure || this.#hasEnded.own) return;
    this.#hasEnded.own = true;
    this.#wakeWriter();
    if (this.#hasEnded.peer) this.#options.remove();
    await this.#options.send(encodeFrame(TYPE.data, FLAG.fin, this.id, 0));
  }

  close(): void {
    if (this.#failure) return;
    const isOver = this.#hasEnded.own && this.#hasEnded.peer;
    this.fail(new Deno.errors.BadResource("The stream was closed"));
    if (isOver) return;
    this.#options.remove();
    this.#options.answer(encodeFrame(TYPE.window, FLAG.rst, this.id, 0));
  }

  receiveData(data: Bytes): void {
    if (data.length === 0) return;
    if (this.#hasEnded.peer) throw new ProtocolError(`Stream ${this.id}: data after its end`);
    this.#receiveCredit -= data.length;
    if (this.#receiveCredit < 0) throw new ProtocolError(`Stream ${this.id}: window exceeded`);
    if (this.#failure) return;
    this.#received.push(data);
    // Many short pieces need far more memory than their bytes, and time at each read.
    if (this.#received.length > PIECES_MAX) this.#received = [concat(...this.#received)];
    this.#hold(data.length);
    this.#wakeReader();
  }

  receiveCredit(bytes: number): void {
    this.#sendCredit += bytes;
    if (this.#sendCredit > CREDIT_MAX) {
      throw new ProtocolError(`Stream ${this.id}: credit is limited to ${CREDIT_MAX} bytes`);
    }
    if (bytes > 0) this.#wakeWriter();
  }

  receiveEnd(): void {
    if (this.#hasEnded.peer) throw new ProtocolError(`Stream ${this.id} has ended twice`);
    this.#hasEnded.peer = true;
    if (this.#hasEnded.own) this.#options.remove();
    this.#wakeReader();
  }

  /** The peer has closed the stream. What it sent before its end can still be read. */
  reset(): void {
    this.#options.remove();
    if (this.#hasEnded.peer) {
      this.#hasEnded.own = true;
      return this.#wakeWriter();
    }
    this.fail(new Deno.errors.ConnectionReset("The peer closed the stream"));
  }

  fail(error: Error): void {
    this.#failure ??= error;
    this.#received = [];
    this.#hold(-this.held);
    this.#wakeReader();
    this.#wakeWriter();
  }

  #hold(bytes: number): void {
    this.held += bytes;
    this.#options.count(bytes);
  }

  /** In portions, so that a slow reader does not cause a frame for each read. */
  #returnCredit(bytes: number): void {
    this.#read += bytes;
    if (this.#read < WINDOW_BYTES / 2 || this.#hasEnded.peer) return;
    this.#receiveCredit += this.#read;
    this.#options.answer(encodeFrame(TYPE.window, 0, this.id, this.#read));
    this.#read = 0;
  }

  #assertWritable(): void {
    if (this.#failure) throw this.#failure;
    if (this.#hasEnded.own) throw new Deno.errors.BrokenPipe("The stream was closed for writing");
  }
}

interface Frame {
  type: number;
  flags: number;
  id: number;
  length: number;
  data: Bytes;
}

function encodeFrame(
  type: number,
  flags: number,
  id: number,
  length: number,
  data?: Uint8Array,
): Bytes {
  const header = new Uint8Array(HEADER_BYTES);
  const view = new DataView(header.buffer);
  view.setUint8(1, type);
  view.setUint16(2, flags);
  view.setUint32(4, id);
  view.setUint32(8, length);
  return data ? concat(header, data) : header;
}

/** @throws {ProtocolError} */
function decodeFrame(bytes: Bytes): Frame {
  if (bytes.length < HEADER_BYTES) throw new ProtocolError("A frame is too short");
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const version = view.getUint8(0);
  const [type, flags] = [view.getUint8(1), view.getUint16(2)];
  const [id, length] = [view.getUint32(4), view.getUint32(8)];
  const data = bytes.subarray(HEADER_BYTES);
  if (version !== 0) throw new ProtocolError(`Unknown version ${version} of a frame`);
  if (type > TYPE.goAway) throw new ProtocolError(`Unknown type ${type} of a frame`);
  if (flags & ~FLAGS_ALL) throw new ProtocolError(`Unknown flags ${flags} of a frame`);
  const isOfSession = type === TYPE.ping || type === TYPE.goAway;
  if (isOfSession !== (id === 0)) throw new ProtocolError("A frame is for a wrong stream");
  if (data.length !== (type === TYPE.data ? length : 0)) {
    throw new ProtocolError("The length of a frame is wrong");
  }
  return { type, flags, id, length, data };
}
