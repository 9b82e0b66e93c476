/**
 * Calls between two threads. Arguments and results are cloned; a function or a stream among them is
 * replaced by a key, by which the other side calls it or requests its items.
 *
 * Streams are sent in batches, the next one while the last one is used: a message for each small file
 * would take longer than its content. Bytes of a stream are moved to the other side.
 *
 * @module
 */

import { free } from "./buffers.ts";
import { RepositoryError, type RepositoryReason } from "./repository_error.ts";
import { StorageError, type StorageReason } from "./storage.ts";

/** Limits of a batch. */
const BATCH_ITEMS_MAX = 256;
const BATCH_BYTES_MAX = 1024 * 1024;

/** End of the connection between the threads. */
export interface Port {
  send(message: Message, transfer: ArrayBuffer[]): void;
  listen(receive: (message: Message) => void): void;
}

/** Methods that the other side can call. */
export type Methods = Record<
  string,
  // deno-lint-ignore no-explicit-any
  (args: any[], signal: AbortSignal) => unknown
>;

export type Message =
  | { kind: "call"; id: number; method: string; args: unknown[] }
  | { kind: "result"; id: number; value: unknown }
  | { kind: "failure"; id: number; error: WireError }
  | { kind: "abort"; id: number };

interface WireError {
  name: string;
  reason: string | undefined;
  message: string;
  stack: string | undefined;
}

/** Item of a stream after which the producer waits for the consumer's answer. */
interface Question {
  isAsked?: boolean;
}

interface Batch {
  items: unknown[];
  isDone: boolean;
}

/** Stands for a function or a stream of the sender. */
interface Remote {
  remote: "function" | "stream";
  key: number;
}

type Generator = AsyncGenerator<unknown, void, unknown>;

export type Peer = ReturnType<typeof createPeer>;

/** @param methods Methods for the other side. */
export function createPeer(port: Port, methods: Methods) {
  const calls = new Map<number, PromiseWithResolvers<unknown>>();
  const running = new Map<number, AbortController>();
  const offered = new Map<number, Generator | ((...args: unknown[]) => unknown)>();
  let nextId = 1;
  let failure: Error | undefined;

  const offer = (value: unknown, keys: number[]): unknown => {
    if (typeof value === "function" || isStream(value)) {
      const key = nextId++;
      keys.push(key);
      offered.set(key, value as Generator);
      return { remote: typeof value === "function" ? "function" : "stream", key } satisfies Remote;
    }
    if (!isPlainObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, offer(inner, keys)]),
    );
  };
  const accept = (value: unknown): unknown => {
    if (!isPlainObject(value)) return value;
    if (isRemote(value)) {
      const { remote, key } = value;
      if (remote === "stream") return readStream(key);
      return (...args: unknown[]) => void call("invoke", [key, args]).catch(() => {});
    }
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, accept(inner)]));
  };

  async function* readStream(key: number): Generator {
    let isDone = false;
    try {
      let batch = call("next", [key, undefined]) as Promise<Batch>;
      while (!isDone) {
        const { items, ...end } = await batch;
        isDone = end.isDone;
        const hasQuestion = (items.at(-1) as Question | undefined)?.isAsked === true;
        if (!isDone && !hasQuestion) {
          batch = call("next", [key, undefined]) as Promise<Batch>;
          // A failure is thrown when the items before it are used.
          batch.catch(() => {});
        }
        let answer: unknown;
        for (const item of items) answer = yield item;
        if (!isDone && hasQuestion) batch = call("next", [key, answer]) as Promise<Batch>;
      }
    } finally {
      await call("return", [key]).catch(() => {});
    }
  }

  const ownMethods: Methods = {
    invoke: ([key, args]) => (offered.get(key) as (...args: unknown[]) => unknown)?.(...args),
    next: ([key, answer]) => nextBatch(offered.get(key) as Generator | undefined, answer),
    async return([key]) {
      const stream = offered.get(key) as Generator | undefined;
      offered.delete(key);
      running.delete(-key);
      await stream?.return();
    },
  };

  const answer = async (id: number, method: string, args: unknown[]) => {
    const controller = new AbortController();
    running.set(id, controller);
    try {
      const run = ownMethods[method] ?? methods[method];
      if (run === undefined) throw new TypeError(`Unknown method ${method}`);
      const value = await run(args.map(accept), controller.signal);
      // A stream can be aborted until it ends.
      if (isStream(value)) offered.set(-id, untilEnd(value, () => running.delete(id)));
      else running.delete(id);
      const result = isStream(value) ? { remote: "stream", key: -id } : value;
      const moved = method === "next" ? piecesOf(result as Batch) : transferable(result);
      port.send({ kind: "result", id, value: result }, moved);
      for (const arg of args) if (arg instanceof Uint8Array) free(arg);
    } catch (error) {
      running.delete(id);
      port.send({ kind: "failure", id, error: toWire(error) }, []);
    }
  };

  port.listen((message) => {
    const { kind, id } = message;
    if (kind === "call") return void answer(id, message.method, message.args);
    if (kind === "abort") return running.get(id)?.abort();
    const waiting = calls.get(id);
    calls.delete(id);
    if (kind === "result") waiting?.resolve(accept(message.value));
    else waiting?.reject(fromWire(message.error));
  });

  /**
   * Calls a method of the other side. Functions and streams among the arguments live until it returns.
   * An array of bytes that fills its buffer is moved, and freed when the method returns.
   */
  async function call(method: string, args: unknown[], signal?: AbortSignal): Promise<unknown> {
    signal?.throwIfAborted();
    if (failure !== undefined) throw failure;
    const id = nextId++;
    const keys: number[] = [];
    const waiting = Promise.withResolvers<unknown>();
    calls.set(id, waiting);
    const abort = () => port.send({ kind: "abort", id }, []);
    signal?.addEventListener("abort", abort, { once: true });
    const end = () => {
      signal?.removeEventListener("abort", abort);
      for (const key of keys) offered.delete(key);
    };
    try {
      const offers = args.map((arg) => offer(arg, keys));
      port.send({ kind: "call", id, method, args: offers }, offers.flatMap(transferable));
      const value = await waiting.promise;
      if (!isStream(value)) end();
      return isStream(value) ? untilEnd(value, end, signal) : value;
    } catch (error) {
      end();
      calls.delete(id);
      throw signal?.aborted ? signal.reason : error;
    }
  }

  return {
    call,
    /**
     * Fails all calls under way and later, because the other side has ended. What it was reading is
     * closed.
     */
    fail(error: Error): void {
      failure ??= error;
      for (const waiting of calls.values()) waiting.reject(error);
      calls.clear();
      for (const controller of running.values()) controller.abort(error);
      for (const stream of offered.values()) {
        // The failure of the call counts.
        if (isStream(stream)) stream.return().catch(() => {});
      }
      offered.clear();
    },
    /** Whether calls to the other side are under way. */
    get isBusy(): boolean {
      return calls.size > 0 || offered.size > 0;
    },
  };
}

async function nextBatch(stream: Generator | undefined, answer: unknown): Promise<Batch> {
  const items: unknown[] = [];
  let bytes = 0;
  let next = await stream?.next(answer);
  for (;;) {
    if (next === undefined || next.done) return { items, isDone: true };
    const item = withOwnBytes(next.value);
    items.push(item);
    bytes += bytesOf(item)?.byteLength ?? 0;
    const isAsked = (next.value as Question).isAsked === true;
    if (isAsked || items.length >= BATCH_ITEMS_MAX || bytes >= BATCH_BYTES_MAX) break;
    next = await stream?.next();
  }
  return { items, isDone: false };
}

const piecesOf = ({ items }: Batch): ArrayBuffer[] =>
  items.flatMap((item) => transferable(bytesOf(item)));

/** Bytes of an item: pieces come alone, or as parts of entries. */
const bytesOf = (item: unknown): Uint8Array | undefined =>
  item instanceof Uint8Array ? item : (item as { bytes?: Uint8Array } | undefined)?.bytes;

/** The item with bytes that fill their buffer: a clone of others would have all of the buffer. */
function withOwnBytes(item: unknown): unknown {
  const bytes = bytesOf(item);
  if (bytes === undefined || bytes.byteLength === bytes.buffer.byteLength) return item;
  const own = new Uint8Array(bytes);
  return item === bytes ? own : { ...item as object, bytes: own };
}

const isStream = (value: unknown): value is Generator =>
  typeof value === "object" && value !== null && Symbol.asyncIterator in value;

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;

const isRemote = (value: Record<string, unknown>): value is Record<string, unknown> & Remote =>
  (value.remote === "function" || value.remote === "stream") && typeof value.key === "number";

/** The stream, with work after its end. */
async function* untilEnd(
  stream: AsyncIterable<unknown>,
  end: () => void,
  signal?: AbortSignal,
): Generator {
  try {
    yield* stream;
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  } finally {
    end();
  }
}

/** The buffer of bytes that fill it. */
function transferable(value: unknown): ArrayBuffer[] {
  return value instanceof Uint8Array && value.buffer instanceof ArrayBuffer &&
      value.byteLength === value.buffer.byteLength
    ? [value.buffer]
    : [];
}

function toWire(error: unknown): WireError {
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  const reason = error instanceof RepositoryError || error instanceof StorageError
    ? error.reason
    : undefined;
  return { name, reason, message, stack };
}

function fromWire({ name, reason, message, stack }: WireError): Error {
  // The stack of the other thread is for the log.
  const cause = stack;
  if (name === "RepositoryError") {
    return new RepositoryError(reason as RepositoryReason, message, { cause });
  }
  if (name === "StorageError") return new StorageError(reason as StorageReason, message, { cause });
  return name === "AbortError" ? new DOMException(message, name) : new Error(message, { cause });
}
