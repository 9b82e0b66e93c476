/** Clients of terminals: one that speaks the protocol, and one that sends raw bytes. @module */

import { equal } from "node:assert/strict";
import { listen } from "../../commands/listener/listener.ts";
import { silentLog } from "../../services/log.ts";
import type { CallOptions, TestApp } from "./test_app.ts";
import { LISTENER_DEFAULTS } from "./held_connections.ts";
import { until } from "./until.ts";

/** The application on a real port. */
export interface TerminalServer extends AsyncDisposable {
  port: number;
  /** Gets a ticket; the caller is the holder of the API key unless `options` say otherwise. */
  ticket(path: string, body?: Record<string, unknown>, options?: CallOptions): Promise<string>;
  /** Gets a ticket and opens the terminal with it. */
  open(path: string, body?: Record<string, unknown>, options?: CallOptions): Promise<Terminal>;
}

export interface Terminal {
  socket: WebSocket;
  /** Output so far, as text. */
  readonly output: string;
  /** Text messages so far, parsed. */
  readonly messages: unknown[];
  /** Set when the connection has ended. */
  readonly closed: { code: number } | undefined;
  type(text: string): void;
  /** Waits until the output contains `text`. */
  shows(text: string): Promise<void>;
  /** Waits for the end. @returns The last message and the status code. */
  end(): Promise<{ message: unknown; code: number }>;
}

/** Serves the application as the program does. */
export function serveTerminals(
  app: Pick<TestApp, "app" | "call" | "deps">,
  tls: { tlsCertFile: string | null; tlsKeyFile: string | null } = {
    tlsCertFile: null,
    tlsKeyFile: null,
  },
): TerminalServer {
  const listener = listen({ ...LISTENER_DEFAULTS, ...tls, terminal: "admin" }, silentLog, app.app);
  const port = Number(new URL(listener.address).port);
  const ticket: TerminalServer["ticket"] = async (path, body = {}, options) => {
    const { status, body: answer } = await app.call(
      "POST",
      `${path}/ticket`,
      { cols: 80, rows: 24, ...body },
      options,
    );
    equal(status, 200, answer?.error);
    return answer.ticket;
  };
  return {
    port,
    ticket,
    async open(...request) {
      const [path] = request;
      return await openTerminal(
        `ws://127.0.0.1:${port}${path}?ticket=${await ticket(...request)}`,
      );
    },
    async [Symbol.asyncDispose]() {
      await app.deps.terminals.close();
      await listener.shutdown();
    },
  };
}

/** Opens a terminal by its address. */
export async function openTerminal(
  url: string,
  options: WebSocketOptions = {},
): Promise<Terminal> {
  // The types of browsers do not have these options.
  const socket = new WebSocket(url, options as unknown as string[]);
  const decoder = new TextDecoder();
  const messages: unknown[] = [];
  let output = "";
  let closed: { code: number } | undefined;
  let isOpen = false;
  socket.binaryType = "arraybuffer";
  socket.onopen = () => isOpen = true;
  socket.onmessage = ({ data }) => {
    if (typeof data === "string") messages.push(JSON.parse(data));
    else output += decoder.decode(data, { stream: true });
  };
  socket.onerror = () => {};
  socket.onclose = ({ code }) => closed = { code };
  await until("the terminal is open", () => isOpen || closed !== undefined);
  const terminal: Terminal = {
    socket,
    get output() {
      return output;
    },
    messages,
    get closed() {
      return closed;
    },
    type: (text) => socket.send(new TextEncoder().encode(text)),
    async shows(text) {
      await until(`the terminal shows ${JSON.stringify(text)}`, () => {
        if (closed && !output.includes(text)) {
          throw new Error(`It has ended: ${JSON.stringify(messages)} ${output}`);
        }
        return output.includes(text);
      });
    },
    async end() {
      await until("the terminal has ended", () => closed !== undefined);
      return { message: messages.at(-1), code: closed!.code };
    },
  };
  return terminal;
}

/** A connection after a handshake. */
export interface RawTerminal extends Disposable {
  status: number;
  /** The body of a refusal. */
  text: string;
  conn: Deno.TcpConn;
}

/** Sends a WebSocket handshake; the caller closes the connection. */
export async function handshake(
  port: number,
  path: string,
  headers: Record<string, string> = {},
): Promise<RawTerminal> {
  const conn = await Deno.connect({ hostname: "127.0.0.1", port });
  const lines = Object.entries({
    host: `127.0.0.1:${port}`,
    connection: "Upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  await conn.write(new TextEncoder().encode(`GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`));
  const buffer = new Uint8Array(64 * 1024);
  let text = "";
  const isComplete = () => {
    const end = text.indexOf("\r\n\r\n");
    const length = Number(/^content-length: (\d+)/im.exec(text)?.[1] ?? 0);
    return end >= 0 && text.length >= end + 4 + length;
  };
  while (!isComplete()) {
    const count = await conn.read(buffer);
    if (count === null) break;
    text += new TextDecoder().decode(buffer.subarray(0, count));
  }
  return {
    status: Number(text.split(" ")[1]),
    text: text.slice(text.indexOf("\r\n\r\n") + 4),
    conn,
    [Symbol.dispose]: () => conn.close(),
  };
}
