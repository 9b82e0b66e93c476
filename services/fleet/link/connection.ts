/** Messages of a WebSocket in their order, with limits in both directions. @module */

import { sleep } from "../../waiting.ts";
import type { Bytes } from "./noise.ts";

/** The part of a WebSocket that links use, at both ends. */
export interface MessageSocket {
  binaryType: string;
  readonly bufferedAmount: number;
  send(data: Bytes): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: "message", listener: (event: { data: unknown }) => void): void;
  addEventListener(type: "close", listener: (event: { reason: string }) => void): void;
  addEventListener(type: "error", listener: () => void): void;
}

/** A connection whose messages are not sealed yet. */
export interface Connection {
  /** The next message. @throws {ConnectionEnd} */
  receive(): Promise<Bytes>;
  /** Resolves when the connection takes the next message. @throws {ConnectionEnd} */
  send(message: Bytes): Promise<void>;
  /** Raises the limit of messages that were not read, once the peer is known. */
  trust(): void;
  /** Closes both directions. The peer sees the reason. */
  close(reason: string): void;
  /** Reason of the end. */
  readonly closed: Promise<string>;
}

/** The connection has ended; the message is the reason. */
export class ConnectionEnd extends Error {
  override readonly name = "ConnectionEnd";
}

/** Limits of received bytes that were not read: of a peer that is not known yet, and of one that is. */
export const UNREAD_MAX = 64 * 1024;
const UNREAD_TRUSTED_MAX = 32 * 1024 * 1024;

/** Cost of a message beyond its bytes, so that many short ones are limited, too. */
const MESSAGE_COST = 256;

/** Bytes that the network has not taken, beyond which no message is added. */
const UNSENT_MAX = 128 * 1024;

/** Shortest and longest time until unsent bytes are counted again, in milliseconds: a terminal waits as well. */
const POLL_MS = { min: 1, max: 20 };

/** Status code of a link that one side ends (RFC 6455, section 7.4.2: for private use). */
const CLOSE_CODE = 4000;

/** Limit of a reason in bytes (RFC 6455, section 5.5). */
const REASON_BYTES_MAX = 120;

/** @param onTrust Called when the peer is known. */
export function createConnection(
  socket: MessageSocket,
  onTrust: () => void = () => {},
): Connection {
  const unread: Bytes[] = [];
  const ended = new AbortController();
  const closed = Promise.withResolvers<string>();
  let unreadBytes = 0;
  let unreadMax = UNREAD_MAX;
  let reason: string | undefined;
  let wake = () => {};

  socket.binaryType = "arraybuffer";
  socket.addEventListener("message", ({ data }) => receive(data));
  socket.addEventListener("close", ({ reason }) =>
    // A proxy that ends TLS can send it, and terminals show it.
    end(reason.replace(/\p{Cc}/gu, " ") || "the connection was closed"));
  socket.addEventListener("error", () => end("the connection was lost"));

  function end(given: string): void {
    if (reason !== undefined) return;
    reason = given;
    ended.abort();
    closed.resolve(given);
    wake();
  }

  function close(given: string): void {
    if (reason !== undefined) return;
    end(given);
    try {
      socket.close(CLOSE_CODE, cutReason(given));
    } catch {
      // It is not open yet, or not any more.
    }
  }

  function receive(data: unknown): void {
    if (reason !== undefined) return;
    if (!(data instanceof ArrayBuffer)) return close("a message is not binary");
    unreadBytes += data.byteLength + MESSAGE_COST;
    if (unreadBytes > unreadMax) return close("messages arrive faster than they can be read");
    unread.push(new Uint8Array(data));
    wake();
  }

  return {
    async receive() {
      while (unread.length === 0) {
        if (reason !== undefined) throw new ConnectionEnd(reason);
        await new Promise<void>((resolve) => wake = resolve);
      }
      const message = unread.shift()!;
      unreadBytes -= message.length + MESSAGE_COST;
      return message;
    },
    async send(message) {
      for (let ms = POLL_MS.min; socket.bufferedAmount > UNSENT_MAX && reason === undefined;) {
        await sleep(ms, ended.signal);
        ms = Math.min(2 * ms, POLL_MS.max);
      }
      if (reason !== undefined) throw new ConnectionEnd(reason);
      socket.send(message);
    },
    trust() {
      if (unreadMax === UNREAD_TRUSTED_MAX) return;
      unreadMax = UNREAD_TRUSTED_MAX;
      onTrust();
    },
    close,
    closed: closed.promise,
  };
}

function cutReason(reason: string): string {
  const { read } = new TextEncoder().encodeInto(reason, new Uint8Array(REASON_BYTES_MAX));
  return reason.slice(0, read);
}
