/**
 * HTTP/1.1 over a stream of a link, with the client that also speaks to the container engine. Each
 * stream carries one request.
 *
 * @module
 */

import { Body, findFraming } from "../../../engine/body.ts";
import { EngineProtocolError } from "../../../engine/errors.ts";
import { Connection, encodeRequest, exchange, type Head } from "../../../engine/http.ts";
import { Upload } from "../../../engine/upload.ts";
import { readStream } from "../../stream/read_stream.ts";
import type { LinkStream } from "../link/stream.ts";
import { handshakeHeaders } from "./web_socket.ts";

/** The body of a request. */
export type PassedBody =
  | { bytes: Uint8Array<ArrayBuffer> }
  /** `length` is `null` if the client did not announce it. */
  | { stream: ReadableStream<Uint8Array>; length: number | null };

export interface StreamRequest {
  method: string;
  /** Path and query. */
  target: string;
  headers: Record<string, string>;
  body: PassedBody | null;
  /** Whether the response may be a WebSocket. */
  isUpgrade?: boolean | undefined;
  /** Longest time in which the client takes nothing of the response, in milliseconds; default: 1 minute. */
  stallMaxMs?: number | undefined;
}

/** A response whose body is read from the stream as the client takes it. */
export interface StreamResponse {
  head: Head;
  /** Only after an upgrade: the host has accepted it. */
  upgraded?: Connection;
  /** `null` if it has none. Its end or cancellation closes the stream. */
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null;
}

/**
 * Sends a request and waits for the head of its response. The caller closes the stream after a
 * failure.
 *
 * @param onEnd Called when the response has ended, and when the client has left.
 * @throws An error of the engine's client for a response that is not HTTP; what the stream throws.
 */
export async function exchangeOver(
  stream: LinkStream,
  request: StreamRequest,
  onEnd: () => void,
): Promise<StreamResponse> {
  const connection = new Connection(stream);
  const head = await exchange(connection, headOf(request), () => {
    if (request.body) void sendBody(connection, request.body);
  });
  if (head.status === 101) {
    if (request.isUpgrade) return { head, body: null, upgraded: connection };
    throw new EngineProtocolError("The host switched protocols unasked");
  }
  const body = new Body(connection.reader, findFraming(request.method, head.status, head.headers));
  if (body.isDone) {
    onEnd();
    return { head, body: null };
  }
  const readable = readStream(
    async () => {
      const piece = await body.readChunks();
      return piece as Uint8Array<ArrayBuffer> | undefined;
    },
    onEnd,
    request.stallMaxMs,
  );
  return { head, body: readable };
}

function headOf({ method, target, headers, body, isUpgrade }: StreamRequest): Uint8Array {
  const own = isUpgrade ? handshakeHeaders() : { connection: "close" };
  const request = { method, target, headers: { ...headers, ...own } };
  if (body === null) return encodeRequest(request);
  const length = "bytes" in body ? body.bytes.length : body.length;
  return encodeRequest(length === null ? { ...request, chunked: true } : { ...request, length });
}

/** A member that refuses a body closes its direction early: the response tells why. */
async function sendBody(connection: Connection, body: PassedBody): Promise<void> {
  try {
    if ("bytes" in body) await connection.writeAll(body.bytes);
    else if (body.length === null) await new Upload(body.stream, () => {}).send(connection);
    else for await (const piece of body.stream) await connection.writeAll(piece);
  } catch {
    // The client has left, or the stream is gone. A body that is not complete ends the request.
    connection.close();
  }
}
