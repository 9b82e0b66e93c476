/**
 * A Unix socket in front of an engine, on which a test sees every call of the program and can hold
 * it: before the engine gets it, or after the engine answered and before the program knows.
 *
 * @module
 */

/** A call of the program to the engine. */
export interface EngineCall {
  method: string;
  /** Without the version and the query, e.g. `/containers/web/stop`. */
  path: string;
}

export type Moment = "before" | "after";

/**
 * Called for each call, twice. The call goes on when it returns.
 *
 * @throws {Error} To lose the connection there.
 */
export type Observer = (call: EngineCall, moment: Moment) => void | Promise<void>;

/** Called for each part of a request or response that follows the first one. Otherwise as an {@linkcode Observer}. */
export type TransferObserver = (call: EngineCall) => void | Promise<void>;

export interface EngineProxy extends AsyncDisposable {
  socketPath: string;
  /** Replaces the observers; at first nothing is observed. */
  observe(observer: Observer, onTransfer?: TransferObserver): void;
}

const HEAD_END = new TextEncoder().encode("\r\n\r\n");
const LAST_CHUNK = new TextEncoder().encode("0\r\n\r\n");

/** Starts a proxy in a directory that exists; its path counts for the length limit of sockets. */
export function startEngineProxy(enginePath: string, directory: string): EngineProxy {
  const socketPath = `${directory}/proxy-${crypto.randomUUID().slice(0, 8)}.sock`;
  const listener = Deno.listen({ transport: "unix", path: socketPath });
  const open = new Set<Deno.Conn>();
  let observer: Observer = () => {};
  let transferObserver: TransferObserver = () => {};

  const serve = async (client: Deno.Conn) => {
    open.add(client);
    let engine: Deno.Conn | undefined;
    try {
      engine = await Deno.connect({ transport: "unix", path: enginePath });
      open.add(engine);
      await relay(client, engine, {
        onCall: (call, moment) => observer(call, moment),
        onTransfer: (call) => transferObserver(call),
      });
    } catch {
      // Either end was lost, or the observer wants it to be; then so is the other end.
    } finally {
      for (const each of [client, engine]) {
        if (each && open.delete(each)) each.close();
      }
    }
  };
  const served: Promise<void>[] = [];
  const accepting = (async () => {
    for await (const client of listener) served.push(serve(client));
  })();

  return {
    socketPath,
    observe(given, onTransfer = () => {}) {
      observer = given;
      transferObserver = onTransfer;
    },
    async [Symbol.asyncDispose]() {
      listener.close();
      for (const each of open) {
        open.delete(each);
        each.close();
      }
      await accepting;
      await Promise.all(served);
    },
  };
}

/** Copies both directions; ends when either end closes. */
async function relay(
  client: Deno.Conn,
  engine: Deno.Conn,
  { onCall, onTransfer }: { onCall: Observer; onTransfer: TransferObserver },
): Promise<void> {
  /** Calls without a response so far; the client sends one at a time. */
  const unanswered: EngineCall[] = [];
  let sent: EngineCall | undefined;
  const requests = forEachRequest(client, async (bytes, call) => {
    if (call) {
      await onCall(call, "before");
      unanswered.push(call);
      sent = call;
    } else if (sent) await onTransfer(sent);
    await writeAll(engine, bytes);
  });
  const responses = (async () => {
    let answered: EngineCall | undefined;
    for await (const bytes of received(engine)) {
      const call = unanswered.shift();
      if (call) await onCall(answered = call, "after");
      else if (answered) await onTransfer(answered);
      await writeAll(client, bytes);
    }
  })();
  try {
    await Promise.race([requests, responses]);
  } finally {
    // The caller closes both ends, which ends the other direction, too.
    Promise.allSettled([requests, responses]);
  }
}

/**
 * Passes what the client sends on to `forward`, in parts; the first part of each request comes with
 * its call. After a request to switch protocols the rest belongs to it.
 */
async function forEachRequest(
  client: Deno.Conn,
  forward: (bytes: Uint8Array<ArrayBuffer>, call?: EngineCall) => Promise<void>,
): Promise<void> {
  let pending = new Uint8Array();
  let body: Body | undefined;
  for await (const bytes of received(client)) {
    pending = join(pending, bytes);
    while (pending.length > 0) {
      if (body) {
        const length = body.take(pending);
        await forward(pending.slice(0, length));
        pending = pending.slice(length);
        if (body.isComplete()) body = undefined;
        continue;
      }
      const end = indexOf(pending, HEAD_END);
      if (end < 0) break;
      const length = end + HEAD_END.length;
      const head = new TextDecoder().decode(pending.slice(0, end));
      await forward(pending.slice(0, length), readCall(head));
      pending = pending.slice(length);
      body = readBody(head);
    }
  }
}

/** The body of a request, of which `take()` says how much of the given bytes belongs to it. */
interface Body {
  take(bytes: Uint8Array): number;
  isComplete(): boolean;
}

function readCall(head: string): EngineCall {
  const [method = "", target = ""] = head.split(" ", 2);
  const [path = ""] = target.split("?");
  return { method, path: path.replace(/^\/v\d+\.\d+/, "") };
}

function readBody(head: string): Body | undefined {
  if (/^upgrade:/im.test(head)) return { take: ({ length }) => length, isComplete: () => false };
  if (/^transfer-encoding: *chunked/im.test(head)) {
    let tail = new Uint8Array();
    return {
      take(bytes) {
        tail = join(tail, bytes).slice(-LAST_CHUNK.length);
        return bytes.length;
      },
      isComplete: () => indexOf(tail, LAST_CHUNK) === 0,
    };
  }
  let left = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
  if (left === 0) return undefined;
  return {
    take({ length }) {
      const taken = Math.min(left, length);
      left -= taken;
      return taken;
    },
    isComplete: () => left === 0,
  };
}

/** Bytes that a connection receives until its other end closes it. */
async function* received(connection: Deno.Conn): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const buffer = new Uint8Array(64 * 1024);
  for (let length; (length = await connection.read(buffer));) yield buffer.slice(0, length);
}

async function writeAll(to: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await to.write(bytes.subarray(at));
}

function join(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
}

function indexOf(bytes: Uint8Array, wanted: Uint8Array): number {
  for (let at = 0; at + wanted.length <= bytes.length; at++) {
    if (wanted.every((byte, offset) => bytes[at + offset] === byte)) return at;
  }
  return -1;
}
