/** Joins the WebSocket of a client with that of a host. @module */

import { abortable, withDeadline } from "../../deadline.ts";
import { sleep } from "../../waiting.ts";
import { ABNORMAL, type Received, type StreamWebSocket } from "./web_socket.ts";

/** Messages of the client that the host has not read, in bytes. */
const INPUT_MAX = 1024 * 1024;

/** Cost of a message beyond its bytes, so that many short ones are limited, too. */
const MESSAGE_COST = 256;

/** Bytes that the client has not read, beyond which the host is not read either. */
const OUTPUT_MAX = 256 * 1024;

/** Interval between checks whether the client has read them, in milliseconds. */
const POLL_MS = 10;

/** Time for the host to close the connection after its end, in milliseconds. */
const CLOSE_MS = 2_000;

const GOING_AWAY = 1001;
const TOO_BIG = 1009;

/**
 * Relays messages until either side ends the connection, or `signal` aborts. Never rejects.
 *
 * @param socket An accepted WebSocket that may not be open yet.
 * @param describeEnd Why the host or the rights are lost, as the last message for the client.
 */
export async function relaySockets(
  socket: WebSocket,
  remote: StreamWebSocket,
  { signal, describeEnd }: { signal: AbortSignal; describeEnd: () => string },
): Promise<void> {
  const ended = new AbortController();
  const opened = Promise.withResolvers<void>();
  let unsent = 0;
  let closing: ReturnType<typeof setTimeout> | undefined;
  const end = () => ended.abort();
  const close = (code: number) => {
    closeSocket(socket, code);
    end();
  };
  const lose = () => {
    if (socket.readyState === WebSocket.OPEN) {
      socket.send(JSON.stringify({ error: describeEnd() }));
    }
    close(GOING_AWAY);
  };
  signal.addEventListener("abort", lose, { once: true });
  if (signal.aborted) lose();

  socket.binaryType = "arraybuffer";
  socket.onopen = () => opened.resolve();
  socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
    const message = typeof data === "string" ? data : new Uint8Array(data);
    const cost = message.length + MESSAGE_COST;
    unsent += cost;
    if (unsent > INPUT_MAX) return close(TOO_BIG);
    remote.send(message).then(() => unsent -= cost, lose);
  };
  socket.onerror = end;
  socket.onclose = ({ code }) => {
    opened.resolve();
    closing = setTimeout(end, CLOSE_MS);
    remote.sendClose(isSendable(code) ? code : undefined).catch(end);
  };

  try {
    await opened.promise;
    while (!ended.signal.aborted) {
      const received = await abortable(remote.receive(), ended.signal);
      if ("close" in received) {
        if (received.close.code === ABNORMAL) return lose();
        return await answerClose(received.close.code);
      }
      forward(received);
      while (socket.bufferedAmount > OUTPUT_MAX && !ended.signal.aborted) {
        await sleep(POLL_MS, ended.signal);
      }
    }
  } catch {
    lose();
  } finally {
    socket.onclose = null;
    clearTimeout(closing);
    signal.removeEventListener("abort", lose);
  }

  /** The host closes the connection after the answer to its end. */
  async function answerClose(code: number): Promise<void> {
    closeSocket(socket, code);
    await remote.sendClose();
    await withDeadline(remote.receive(), CLOSE_MS);
  }

  function forward(received: Exclude<Received, { close: unknown }>): void {
    if (socket.readyState !== WebSocket.OPEN) return;
    socket.send("text" in received ? received.text : received.binary);
  }
}

/** Codes that an application may send (RFC 6455, section 7.4). */
const isSendable = (code: number) => code >= 1000 && code < 5000 && !(code >= 1004 && code <= 1006);

function closeSocket(socket: WebSocket, code: number): void {
  if (socket.readyState >= WebSocket.CLOSING) return;
  try {
    socket.close(isSendable(code) ? code : GOING_AWAY);
  } catch {
    // A code that the runtime does not send.
    socket.close(1000);
  }
}
