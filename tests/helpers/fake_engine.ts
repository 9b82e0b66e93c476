/**
 * Container engines for tests, each behind a real Unix socket: one that answers from a table, and
 * one that is played byte by byte.
 *
 * @module
 */

import { connectEngine, type Engine, type EngineOptions } from "../../engine/client.ts";

/** What an answer of the table is made from. */
export interface FakeRequest {
  method: string;
  /** The API version that was spoken, e.g. "1.41". */
  version: string | undefined;
  /** Without the version and the query. */
  path: string;
  query: URLSearchParams;
  /** Parsed JSON; undefined where there is none. */
  // deno-lint-ignore no-explicit-any
  body: any;
  /** What the `*` of the table's key stand for. */
  parts: string[];
  /** Aborted when the client goes away. */
  signal: AbortSignal;
}

export type FakeAnswer = (request: FakeRequest) => Response | Promise<Response>;

export interface FakeEngine extends AsyncDisposable {
  engine: Engine;
  socketPath: string;
  /** Requests so far but pings, as `"POST /containers/c1/stop?t=10"`. */
  requests: string[];
  /** The table; may be changed at any time. */
  answers: Record<string, FakeAnswer>;
  /** What the engine says that it speaks; may be changed at any time. */
  apiVersion: string;
  /** Ends the engine and takes its socket away, as when it is stopped. */
  down(): Promise<void>;
  /** Starts it again at the same place. */
  up(): void;
}

export interface FakeOptions extends EngineOptions {
  /** What the engine says that it speaks; default "1.41". */
  apiVersion?: string;
  /** More headers of its pings, e.g. `{ "libpod-api-version": "4.3.1" }`. */
  pingHeaders?: Record<string, string>;
}

/**
 * @param answers By `"METHOD /path"`, where `*` stands for one segment; anything else is answered
 * as the engine does, with 404. Pings are answered without it.
 */
export function fakeEngine(
  answers: Record<string, FakeAnswer> = {},
  { apiVersion = "1.41", pingHeaders = {}, ...options }: FakeOptions = {},
): FakeEngine {
  const directory = Deno.makeTempDirSync({ prefix: "engine-" });
  const socketPath = `${directory}/engine.sock`;
  const requests: string[] = [];

  const answer = async (request: Request, { completed }: Deno.ServeHandlerInfo) => {
    const gone = new AbortController();
    completed.catch(() => gone.abort());
    const { pathname, search, searchParams } = new URL(request.url);
    const [, version, path = ""] = /^(?:\/v(\d+\.\d+))?(\/.*)$/.exec(pathname) ?? [];
    const text = await request.text();
    if (path === "/_ping") {
      return new Response("OK", { headers: { "api-version": fake.apiVersion, ...pingHeaders } });
    }
    requests.push(`${request.method} ${path}${search}`);
    const found = lookUp(fake.answers, request.method, path);
    if (!found) return Response.json({ message: `No such thing: ${path}` }, { status: 404 });
    return await found.answer({
      method: request.method,
      version,
      path,
      query: searchParams,
      body: text ? JSON.parse(text) : undefined,
      parts: found.parts,
      signal: gone.signal,
    });
  };

  let stop: AbortController | undefined;
  let server: Deno.HttpServer<Deno.UnixAddr> | undefined;
  const fake: FakeEngine = {
    engine: connectEngine(socketPath, options),
    socketPath,
    requests,
    answers,
    apiVersion,
    up() {
      stop = new AbortController();
      server = Deno.serve(
        {
          path: socketPath,
          signal: stop.signal,
          onListen: () => {},
          onError: (error) => Response.json({ message: String(error) }, { status: 500 }),
        },
        answer,
      );
    },
    async down() {
      stop?.abort();
      await server?.finished;
      await Deno.remove(socketPath).catch(() => {});
    },
    async [Symbol.asyncDispose]() {
      fake.engine.close();
      await fake.down();
      await Deno.remove(directory, { recursive: true });
    },
  };
  fake.up();
  return fake;
}

function lookUp(
  answers: Record<string, FakeAnswer>,
  method: string,
  path: string,
): { answer: FakeAnswer; parts: string[] } | undefined {
  const exact = answers[`${method} ${path}`];
  if (exact) return { answer: exact, parts: [] };
  for (const [key, answer] of Object.entries(answers)) {
    if (!key.includes("*")) continue;
    const pattern = key.split("*").map((part) => part.replace(/[.?+^$[\]\\(){}|]/g, "\\$&"));
    const match = new RegExp(`^${pattern.join("([^/]+)")}$`).exec(`${method} ${path}`);
    if (match) return { answer, parts: match.slice(1).map(decodeURIComponent) };
  }
  return undefined;
}

/** A frame of multiplexed output, as the engine sends it. */
export function outputFrame(stream: "stdout" | "stderr", text: string): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(text);
  const frame = new Uint8Array(8 + bytes.length);
  frame[0] = stream === "stderr" ? 2 : 1;
  new DataView(frame.buffer).setUint32(4, bytes.length);
  frame.set(bytes, 8);
  return frame;
}

/** One connection of a raw engine. */
export interface RawConnection {
  /** Counted from 1. */
  number: number;
  /** Head and body of the next request as text; undefined when the client has ended. */
  request(): Promise<string | undefined>;
  /** What comes next, whatever it is; undefined when the client has ended. */
  read(): Promise<string | undefined>;
  write(text: string | Uint8Array): Promise<void>;
  close(): void;
  /** Resolves when the client has ended the connection. */
  ended(): Promise<void>;
}

export interface RawEngine extends AsyncDisposable {
  engine: Engine;
  socketPath: string;
  /** Connections so far. */
  readonly accepted: number;
  /** Connections that neither side has closed. */
  readonly open: number;
  /** Requests so far but pings, as `"POST /containers/c1/stop"`. */
  requests: string[];
}

const encoder = new TextEncoder();

// One character per byte, so that lengths can be counted.
const latin1 = new TextDecoder("latin1");
const decoded = (binary: string) =>
  new TextDecoder().decode(Uint8Array.from(binary, (character) => character.charCodeAt(0)));

export const PING_ANSWER = "HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nContent-Length: 2\r\n\r\nOK";

/**
 * An engine that does what `play` does with each connection; at its end the connection is closed.
 * Pings are answered without it (unless `pings` is false), on connections of any age.
 */
export function rawEngine(
  play: (connection: RawConnection) => void | Promise<void>,
  { pings = true, ...options }: EngineOptions & { pings?: boolean } = {},
): RawEngine {
  const directory = Deno.makeTempDirSync({ prefix: "engine-" });
  const socketPath = `${directory}/engine.sock`;
  const listener = Deno.listen({ transport: "unix", path: socketPath });
  const requests: string[] = [];
  const open = new Set<Deno.UnixConn>();
  const plays: Promise<void>[] = [];
  let accepted = 0;

  const serve = async (conn: Deno.UnixConn) => {
    let pending = "";
    const close = () => {
      if (open.delete(conn)) conn.close();
    };
    const more = async () => {
      const buffer = new Uint8Array(64 * 1024);
      const count = await conn.read(buffer).catch(() => null);
      if (count === null) return false;
      pending += latin1.decode(buffer.subarray(0, count));
      return true;
    };
    const connection: RawConnection = {
      number: ++accepted,
      async request() {
        for (;;) {
          const end = pending.indexOf("\r\n\r\n") + 4;
          const length = Number(/^content-length: (\d+)/im.exec(pending.slice(0, end))?.[1] ?? 0);
          if (end < 4 || pending.length < end + length) {
            if (!await more()) return undefined;
            continue;
          }
          const text = decoded(pending.slice(0, end + length));
          pending = pending.slice(end + length);
          const [method, target = ""] = text.split(" ", 2);
          const path = target.replace(/^\/v\d+\.\d+(?=\/)/, "");
          if (pings && path === "/_ping") {
            await connection.write(PING_ANSWER);
            continue;
          }
          requests.push(`${method} ${path}`);
          return text;
        }
      },
      async read() {
        while (pending === "") if (!await more()) return undefined;
        const text = decoded(pending);
        pending = "";
        return text;
      },
      async write(text) {
        const bytes = typeof text === "string" ? encoder.encode(text) : text;
        for (let sent = 0; sent < bytes.length;) sent += await conn.write(bytes.subarray(sent));
      },
      close,
      async ended() {
        while (await more());
      },
    };
    try {
      await play(connection);
    } catch {
      // The client went away while it was being written to, which tests do on purpose.
    } finally {
      close();
    }
  };
  const accepting = (async () => {
    for await (const conn of listener) {
      open.add(conn);
      plays.push(serve(conn));
    }
  })();

  const engine = connectEngine(socketPath, options);
  return {
    engine,
    socketPath,
    requests,
    get accepted() {
      return accepted;
    },
    get open() {
      return open.size;
    },
    async [Symbol.asyncDispose]() {
      engine.close();
      listener.close();
      await accepting;
      for (const conn of open) conn.close();
      open.clear();
      await Promise.all(plays);
      await Deno.remove(directory, { recursive: true });
    },
  };
}

/** Leaves a socket that nobody listens to, as an engine does that was killed. */
export function leaveSocket(path: string): void {
  // The runtime would remove it under its own name.
  const listener = Deno.listen({ transport: "unix", path: `${path}.new` });
  Deno.renameSync(`${path}.new`, path);
  listener.close();
}

/** An answer with a JSON body of known length. */
export function jsonAnswer(body: unknown, status = "200 OK"): string {
  const text = JSON.stringify(body);
  return `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${encoder.encode(text).length}\r\n\r\n${text}`;
}

/** Waits until `holds`, since what the other process side does cannot be awaited. */
export async function until(holds: () => boolean, what = "the condition"): Promise<void> {
  const deadline = performance.now() + 5_000;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`Waited 5 s for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
