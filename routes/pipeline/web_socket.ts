/** Requests that become WebSockets. @module */

import { AppError } from "../../services/errors.ts";

/**
 * @param idleTimeout Time in which a client has to answer a ping, in seconds.
 * @throws {AppError} `invalid` for a request that is not a handshake.
 */
export function upgradeRequest(request: Request, idleTimeout: number): Deno.WebSocketUpgrade {
  try {
    if (request.method !== "GET") throw new TypeError("RFC 6455, section 4.1: the method is GET");
    return Deno.upgradeWebSocket(request, { idleTimeout });
  } catch (cause) {
    throw new AppError("invalid", "The request must be a WebSocket handshake", { cause });
  }
}
