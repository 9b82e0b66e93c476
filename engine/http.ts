/** HTTP/1.1 over a connection to the engine: requests and heads of responses. @module */

import { ByteReader, EndOfSourceError } from "./byte_reader.ts";
import type { EngineConnection } from "./endpoint.ts";
import { EngineProtocolError } from "./errors.ts";

/** The status line and headers of a response. */
export interface Head {
  status: number;
  /** Names in lower case; values of repeated headers joined by a comma. */
  headers: ReadonlyMap<string, string>;
  /** Whether the connection may serve another request after the body. */
  keepsAlive: boolean;
}

/** Progress of a request on a connection that broke. */
export type Progress = "unsent" | "unanswered" | "answering";

/** The connection broke before the head of the response was read. */
export class BrokenConnectionError extends Error {
  override readonly name = "BrokenConnectionError";

  /**
   * @param progress `unsent`: no byte was sent, so the engine processed nothing; `unanswered`: it
   * may have processed the request.
   */
  constructor(readonly progress: Progress, options?: ErrorOptions) {
    super(`the connection broke (${progress})`, options);
  }
}

const HEADERS_MAX = 128;

/** Maximum number of interim responses (1xx) before the final one. */
const INTERIM_MAX = 16;

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VISIBLE = /^[\x21-\x7e]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;

const encoder = new TextEncoder();

/** A connection to the engine, and how it has been used. */
export class Connection {
  readonly reader: ByteReader;
  /** Responses that were read from it in full. */
  responses = 0;
  /** When it became idle, by the clock of the pool. */
  idleSince = 0;
  readonly #conn: EngineConnection;
  #isClosed = false;

  constructor(conn: EngineConnection) {
    this.#conn = conn;
    this.reader = new ByteReader(conn);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** @returns Number of bytes written. */
  write(bytes: Uint8Array): Promise<number> {
    return this.#conn.write(bytes);
  }

  async writeAll(bytes: Uint8Array): Promise<void> {
    for (let sent = 0; sent < bytes.length;) sent += await this.write(bytes.subarray(sent));
  }

  closeWrite(): Promise<void> {
    return this.#conn.closeWrite();
  }

  /** Closes the connection; pending reads and writes fail. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#conn.close();
  }
}

/**
 * Encodes a request.
 *
 * @param request.target Path and query, already encoded.
 * @throws {TypeError} For a target or header with characters that could break out of its line.
 */
export function encodeRequest(
  { method, target, headers = {}, body, length, chunked = false, upgrade = false }: {
    method: string;
    target: string;
    headers?: Record<string, string> | undefined;
    /** JSON text. */
    body?: string | undefined;
    /** Bytes of a body that follows as it is. */
    length?: number | undefined;
    /** The body follows in chunks. */
    chunked?: boolean;
    /** Requests a raw connection in both directions. */
    upgrade?: boolean;
  },
): Uint8Array {
  if (!VISIBLE.test(target)) throw new TypeError(`Not a request target: ${target}`);
  // Go servers, such as both engines, require a Host header but accept any value.
  let head = `${method} ${target} HTTP/1.1\r\nHost: engine\r\n`;
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name) || !HEADER_VALUE.test(value)) {
      throw new TypeError(`Not a header: ${name}`);
    }
    head += `${name}: ${value}\r\n`;
  }
  if (upgrade) head += "Connection: Upgrade\r\nUpgrade: tcp\r\n";
  if (chunked) return encoder.encode(`${head}Transfer-Encoding: chunked\r\n\r\n`);
  if (length !== undefined) return encoder.encode(`${head}Content-Length: ${length}\r\n\r\n`);
  if (body === undefined) {
    if (method !== "GET" && method !== "HEAD") head += "Content-Length: 0\r\n";
    return encoder.encode(`${head}\r\n`);
  }
  const content = encoder.encode(body);
  head += `Content-Type: application/json\r\nContent-Length: ${content.length}\r\n\r\n`;
  const bytes = new Uint8Array(head.length + content.length);
  encoder.encodeInto(head, bytes);
  bytes.set(content, head.length);
  return bytes;
}

/**
 * Sends a request and reads the head of the response, skipping interim responses.
 *
 * @param onSent Called before the response is awaited.
 * @throws {BrokenConnectionError}
 * @throws {EngineProtocolError} For a malformed or too large head.
 */
export async function exchange(
  connection: Connection,
  request: Uint8Array,
  onSent: () => void = () => {},
): Promise<Head> {
  await send(connection, request);
  onSent();
  const { reader } = connection;
  const receivedBefore = reader.received;
  try {
    for (let interim = 0;;) {
      const head = parseHead(await reader.readHead());
      // 101 is the final response to an upgrade.
      if (head.status >= 200 || head.status === 101) return head;
      if (++interim > INTERIM_MAX) {
        throw new EngineProtocolError("The container engine sent too many interim responses");
      }
    }
  } catch (cause) {
    if (cause instanceof EngineProtocolError) throw cause;
    const progress = reader.received === receivedBefore ? "unanswered" : "answering";
    throw new BrokenConnectionError(progress, { cause });
  }
}

async function send(connection: Connection, request: Uint8Array): Promise<void> {
  let sent = 0;
  try {
    while (sent < request.length) {
      sent += await connection.write(sent === 0 ? request : request.subarray(sent));
    }
  } catch (cause) {
    throw new BrokenConnectionError(sent === 0 ? "unsent" : "unanswered", { cause });
  }
}

/**
 * Parses status line and headers.
 *
 * @throws {EngineProtocolError}
 */
export function parseHead(text: string): Head {
  const [statusLine = "", ...lines] = text.split("\r\n");
  const [, minor, status] = STATUS_LINE.exec(statusLine) ?? throwMalformed(statusLine);
  if (lines.length > HEADERS_MAX) {
    throw new EngineProtocolError(
      `The container engine sent ${lines.length} headers, more than the ${HEADERS_MAX} allowed`,
    );
  }
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon)).toLowerCase();
    if (!HEADER_NAME.test(name)) throwMalformed(line);
    const value = line.slice(colon + 1).trim();
    const earlier = headers.get(name);
    headers.set(name, earlier === undefined ? value : `${earlier}, ${value}`);
  }
  return {
    status: Number(status),
    headers,
    keepsAlive: minor === "1" && !/\bclose\b/i.test(headers.get("connection") ?? ""),
  };
}

function throwMalformed(line: string): never {
  throw new EngineProtocolError(
    `The container engine sent an invalid HTTP response (${JSON.stringify(line.slice(0, 100))})`,
  );
}

/** Whether an error means that either side closed the connection. */
export function isConnectionEnd(error: unknown): boolean {
  return [
    EndOfSourceError,
    BrokenConnectionError,
    Deno.errors.BrokenPipe,
    Deno.errors.ConnectionReset,
    Deno.errors.ConnectionAborted,
    Deno.errors.NotConnected,
    Deno.errors.BadResource,
    Deno.errors.Interrupted,
  ].some((kind) => error instanceof kind);
}
