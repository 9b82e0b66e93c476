/** WebSockets in place of a response. @module */

import { AppError } from "../../services/errors.ts";

/** Whether the client asks for a WebSocket. */
export const isHandshake = ({ headers }: Request) =>
  headers.get("upgrade")?.toLowerCase() === "websocket";

/**
 * Turns a request into a WebSocket.
 *
 * @param idleTimeout Time without an answer to a ping after which it is closed, in seconds.
 * @throws {AppError} `invalid` if the request is not a handshake.
 */
export function upgradeWebSocket(
  request: Request,
  idleTimeout: number,
): Deno.WebSocketUpgrade {
  try {
    if (request.method !== "GET") throw new TypeError("RFC 6455, section 4.1: the method is GET");
    return Deno.upgradeWebSocket(request, { idleTimeout });
  } catch (cause) {
    throw new AppError("invalid", "The request must be a WebSocket handshake", { cause });
  }
}
