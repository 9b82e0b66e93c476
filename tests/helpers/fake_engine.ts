/**
 * Container engines for tests, each behind a real Unix socket: one answers from a table, the other
 * is scripted byte by byte.
 *
 * @module
 */

import {
  connectEngine,
  type Engine,
  type EngineOptions,
  type EngineResponse,
  type HijackedConnection,
  type RequestOptions,
} from "../../engine/client.ts";
import type { Method } from "../../engine/calls.ts";

/** The client, which tests also use for calls that no engine knows. */
export interface AnyCallEngine extends Engine {
  request(method: Method, path: string, options?: RequestOptions): Promise<EngineResponse>;
  send(method: Method, path: string, options?: RequestOptions): Promise<EngineResponse>;
  json<T>(method: Method, path: string, options?: RequestOptions): Promise<T>;
  upgrade(path: string, options?: RequestOptions): Promise<HijackedConnection>;
}

/** A client for an engine on a socket. */
export const connectAny = (socketPath: string, options?: EngineOptions) =>
  connectEngine(socketPath, options) as AnyCallEngine;

/** A request, as a function of the table receives it. */
export interface FakeRequest {
  method: string;
  /** The API version of the request, e.g. "1.41". */
  version: string | undefined;
  /** The path without version and query. */
  path: string;
  query: URLSearchParams;
  headers: Headers;
  /** Parsed JSON; undefined without a body or for another type. */
  // deno-lint-ignore no-explicit-any
  body: any;
  /** The body as text. */
  text: string;
  /** The segments that match `*` in the table's key. */
  parts: string[];
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
}

/** After an upgrade, the body is sent unchanged. */
export type FakeAnswer = (request: FakeRequest) => Response | Promise<Response>;

export interface FakeEngine extends AsyncDisposable {
  engine: AnyCallEngine;
  socketPath: string;
  /** Requests so far without pings, as `"POST /containers/c1/stop?t=10"`. */
  requests: string[];
  /** Number of pings so far. */
  pings: number;
  /** The table; may be changed at any time. */
  answers: Record<string, FakeAnswer>;
  /** The API version that the engine reports; may be changed at any time. */
  apiVersion: string;
  /** Number of open connections. */
  readonly open: number;
  /** Stops the engine: closes its connections and removes its socket. */
  down(): Promise<void>;
  /** Starts it again at the same path. */
  up(): void;
}

export interface FakeOptions extends EngineOptions {
  /** The API version that the engine reports; default "1.41". */
  apiVersion?: string;
  /** More headers of ping responses, e.g. `{ "libpod-api-version": "4.3.1" }`. */
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
  let server: Server | undefined;

  const serve = async (connection: RawConnection) => {
    for (let text = await connection.request(); text; text = await connection.request()) {
      const gone = new AbortController();
      connection.gone.then(() => gone.abort());
      const isUpgrade = /^upgrade: tcp\r$/im.test(text);
      await sendResponse(connection, await answered(text, gone.signal), isUpgrade);
      if (isUpgrade) return;
    }
  };

  const answered = async (text: string, signal: AbortSignal): Promise<Response> => {
    const [method = "", target = ""] = text.split(" ", 2);
    const { pathname, search, searchParams } = new URL(target, "http://engine");
    const [, version, path = ""] = /^(?:\/v(\d+\.\d+))?(\/.*)$/.exec(pathname) ?? [];
    if (path === "/_ping") {
      fake.pings++;
      return new Response("OK", { headers: { "api-version": fake.apiVersion, ...pingHeaders } });
    }
    fake.requests.push(`${method} ${path}${search}`);
    const found = lookUp(fake.answers, method, path);
    if (!found && method === "HEAD") return new Response(null, { status: 404 });
    if (!found) return Response.json({ message: `No such thing: ${path}` }, { status: 404 });
    const content = text.slice(text.indexOf("\r\n\r\n") + 4);
    const isJson = content !== "" && /^content-type: application\/json\r$/im.test(text);
    const body = isJson ? JSON.parse(content) : undefined;
    try {
      return await found.answer({
        method,
        version,
        path,
        query: searchParams,
        headers: headersOf(text),
        body,
        text: content,
        parts: found.parts,
        signal,
      });
    } catch (error) {
      return Response.json({ message: String(error) }, { status: 500 });
    }
  };

  const fake: FakeEngine = {
    engine: connectAny(socketPath, options),
    socketPath,
    requests: [],
    pings: 0,
    answers,
    apiVersion,
    get open() {
      return server?.open ?? 0;
    },
    up() {
      server = listen(socketPath, serve);
    },
    async down() {
      await server?.close();
      server = undefined;
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

async function sendResponse(
  connection: RawConnection,
  response: Response,
  isUpgrade: boolean,
): Promise<void> {
  const { status, headers, body } = response;
  const isSwitched = isUpgrade && status === 200;
  let head = isSwitched
    ? "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n"
    : `HTTP/1.1 ${status} ${response.statusText}\r\n`;
  for (const [name, value] of headers) head += `${name}: ${value}\r\n`;
  if (!isSwitched) head += body ? "transfer-encoding: chunked\r\n" : "content-length: 0\r\n";
  await connection.write(`${head}\r\n`);
  if (!body) return;

  const reader = body.getReader();
  const left = connection.gone.then(() => ({ done: true, value: undefined }) as const);
  for (;;) {
    const { done, value } = await Promise.race([reader.read(), left]);
    if (done) break;
    if (!isSwitched) await connection.write(`${value.length.toString(16)}\r\n`);
    await connection.write(value);
    if (!isSwitched) await connection.write("\r\n");
  }
  if (!isSwitched) await connection.write("0\r\n\r\n").catch(() => {});
  await reader.cancel();
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

export interface RawEngine extends AsyncDisposable {
  engine: AnyCallEngine;
  socketPath: string;
  /** Connections so far. */
  readonly accepted: number;
  /** Number of open connections. */
  readonly open: number;
  /** Requests so far without pings, as `"POST /containers/c1/stop"`. */
  requests: string[];
}

/** One connection, from the engine's side. */
export interface RawConnection {
  /** Number of the connection, from 1. */
  number: number;
  /** Head and decoded body of the next request as text; undefined when the client has ended. */
  request(): Promise<string | undefined>;
  /** The next bytes; undefined when the client has ended. */
  read(): Promise<string | undefined>;
  write(text: string | Uint8Array): Promise<void>;
  close(): void;
  /** Reads and discards data until the client has ended the connection. */
  ended(): Promise<void>;
  /** Resolves when the client has ended the connection; what it sends is kept. */
  readonly gone: Promise<void>;
}

const PING_ANSWER = "HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\nContent-Length: 2\r\n\r\nOK";

/**
 * An engine that handles each connection with `play`, then closes it.
 * Pings are answered without it (unless `pings` is false), on connections of any age.
 */
export function rawEngine(
  play: (connection: RawConnection) => void | Promise<void>,
  { pings = true, ...options }: EngineOptions & { pings?: boolean } = {},
): RawEngine {
  const directory = Deno.makeTempDirSync({ prefix: "engine-" });
  const socketPath = `${directory}/engine.sock`;
  const requests: string[] = [];

  const server = listen(socketPath, async (connection) => {
    const request = async () => {
      for (;;) {
        const text = await connection.request();
        if (text === undefined) return undefined;
        const [method, target = ""] = text.split(" ", 2);
        const path = target.replace(/^\/v\d+\.\d+(?=\/)/, "");
        if (pings && path === "/_ping") {
          await connection.write(PING_ANSWER);
          continue;
        }
        requests.push(`${method} ${path}`);
        return text;
      }
    };
    await play({ ...connection, request });
  });

  const engine = connectAny(socketPath, options);
  return {
    engine,
    socketPath,
    requests,
    get accepted() {
      return server.accepted;
    },
    get open() {
      return server.open;
    },
    async [Symbol.asyncDispose]() {
      engine.close();
      await server.close();
      await Deno.remove(directory, { recursive: true });
    },
  };
}

interface Server {
  readonly accepted: number;
  readonly open: number;
  /** Closes the connections, too, and removes the socket. */
  close(): Promise<void>;
}

/** Listens on a socket; a connection is closed when `serve` is done with it. */
function listen(
  socketPath: string,
  serve: (connection: RawConnection) => Promise<void>,
): Server {
  const listener = Deno.listen({ transport: "unix", path: socketPath });
  const open = new Set<RawConnection>();
  const serving: Promise<void>[] = [];
  let accepted = 0;

  const served = async (connection: RawConnection) => {
    try {
      await serve(connection);
    } catch {
      // The client disconnected during a write, which tests do on purpose.
    } finally {
      connection.close();
      await connection.gone;
      open.delete(connection);
    }
  };
  const accepting = (async () => {
    for await (const conn of listener) {
      const connection = rawConnection(conn, ++accepted);
      open.add(connection);
      serving.push(served(connection));
    }
  })();
  return {
    get accepted() {
      return accepted;
    },
    get open() {
      return open.size;
    },
    async close() {
      listener.close();
      await accepting;
      for (const connection of open) connection.close();
      await Promise.all(serving);
    },
  };
}

function headersOf(request: string): Headers {
  const [, ...lines] = request.slice(0, request.indexOf("\r\n\r\n")).split("\r\n");
  return new Headers(lines.map((line): [string, string] => {
    const [name = "", ...value] = line.split(": ");
    return [name, value.join(": ")];
  }));
}

const encoder = new TextEncoder();

// One character per byte, so that lengths can be counted.
const latin1 = new TextDecoder("latin1");
const decoded = (binary: string) =>
  new TextDecoder().decode(Uint8Array.from(binary, (character) => character.charCodeAt(0)));

/** Limit of unread characters. */
const PENDING_MAX = 1024 * 1024;

function rawConnection(conn: Deno.UnixConn, number: number): RawConnection {
  const gone = Promise.withResolvers<void>();
  let pending = "";
  let isOpen = true;
  let hasEnded = false;
  let arrived = Promise.withResolvers<void>();
  let taken = Promise.withResolvers<void>();

  // Reads continuously, because only a read detects that the client disconnected.
  (async () => {
    const buffer = new Uint8Array(64 * 1024);
    for (;;) {
      const count = await conn.read(buffer).catch(() => null);
      if (count === null) break;
      pending += latin1.decode(buffer.subarray(0, count));
      arrived.resolve();
      arrived = Promise.withResolvers();
      while (pending.length > PENDING_MAX && isOpen) await taken.promise;
    }
    hasEnded = true;
    arrived.resolve();
    gone.resolve();
  })();

  const take = (length: number) => {
    const text = decoded(pending.slice(0, length));
    pending = pending.slice(length);
    taken.resolve();
    taken = Promise.withResolvers();
    return text;
  };

  const connection: RawConnection = {
    number,
    gone: gone.promise,
    async request() {
      for (;;) {
        const end = pending.indexOf("\r\n\r\n") + 4;
        const head = pending.slice(0, end);
        const chunks = /^transfer-encoding: chunked\r$/im.test(head) && readChunks(pending, end);
        if (chunks) {
          take(chunks.end);
          return head + decoded(chunks.content);
        }
        const isChunked = chunks === undefined;
        const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
        if (!isChunked && end >= 4 && pending.length >= end + length) return take(end + length);
        if (hasEnded) return undefined;
        await arrived.promise;
      }
    },
    async read() {
      while (pending === "") {
        if (hasEnded) return undefined;
        await arrived.promise;
      }
      return take(pending.length);
    },
    async write(text) {
      const bytes = typeof text === "string" ? encoder.encode(text) : text;
      for (let sent = 0; sent < bytes.length;) sent += await conn.write(bytes.subarray(sent));
    },
    close() {
      if (!isOpen) return;
      isOpen = false;
      conn.close();
      taken.resolve();
    },
    async ended() {
      while (await connection.read() !== undefined);
    },
  };
  return connection;
}

/** The chunks from `start` on and where they end; undefined until the last one has arrived. */
function readChunks(text: string, start: number): { content: string; end: number } | undefined {
  let content = "";
  for (let at = start;;) {
    const lineEnd = text.indexOf("\r\n", at);
    if (lineEnd < 0) return undefined;
    const size = parseInt(text.slice(at, lineEnd), 16);
    at = lineEnd + 2 + size + 2;
    if (text.length < at) return undefined;
    if (size === 0) return { content, end: at };
    content += text.slice(lineEnd + 2, lineEnd + 2 + size);
  }
}

/** Leaves a socket without a listener, as a killed engine does. */
export function leaveSocket(path: string): void {
  // The runtime would remove the socket under its original name.
  const listener = Deno.listen({ transport: "unix", path: `${path}.new` });
  Deno.renameSync(`${path}.new`, path);
  listener.close();
}

/** A response with a JSON body of known length. */
export function jsonAnswer(body: unknown, status = "200 OK"): string {
  const text = JSON.stringify(body);
  return `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${encoder.encode(text).length}\r\n\r\n${text}`;
}
