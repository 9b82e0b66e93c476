/**
 * The runtime's HTTP server on a connection that this program accepted.
 *
 * `Deno.serve` accepts connections itself: it has no limits and no deadlines, and it ends for good
 * when accepting fails. The runtime has the same server for one connection, but names it only for its
 * own modules. `node:http` on accepted connections answers a third of the requests per second.
 *
 * @module
 */

import { CommandError } from "../program.ts";

type Handler = (
  request: Request,
  /** Settles when the response was delivered, or the client has disconnected. */
  info: { completed: Promise<void> },
) => Promise<Response>;

export interface ServedConnection {
  /** Settles when the connection was closed or became a WebSocket. */
  finished: Promise<void>;
  /** Closes the connection after its running requests. */
  shutdown(): Promise<void>;
}

/** All that the runtime uses of an `AbortSignal`. */
interface CancelSignal {
  addEventListener(type: "abort", cancel: () => void): void;
}

type ServeConnection = (
  connection: Deno.Conn,
  signal: CancelSignal,
  handle: Handler,
  onError: (error: unknown) => Response,
  onListen: () => void,
) => ServedConnection;

const { internal } = Deno as unknown as { internal: symbol };
const { serveHttpOnConnection } = (Deno as unknown as Record<
  symbol,
  { serveHttpOnConnection?: ServeConnection }
>)[internal] ?? {};

const ignoreListening = () => {};

/**
 * Answers the HTTP/1.1 and HTTP/2 requests of a connection.
 *
 * @param signal Closes the connection at once, also if it has already ended.
 * @throws {CommandError} With a runtime that has no such server.
 */
export function serveConnection(
  connection: Deno.Conn,
  { signal, handle, onError }: {
    signal: AbortSignal;
    handle: Handler;
    onError: (error: unknown) => Response;
  },
): ServedConnection {
  if (!serveHttpOnConnection) {
    throw new CommandError(
      `Deno ${Deno.version.deno} cannot serve single connections; use Deno 2.9.6`,
    );
  }
  let cancel = () => {};
  const cancelled = { addEventListener: (_: "abort", given: () => void) => cancel = given };
  signal.addEventListener("abort", () => {
    try {
      cancel();
    } catch (error) {
      // It has ended. As a listener of the signal, the runtime's function would end the process.
      if (!(error instanceof Deno.errors.BadResource)) throw error;
    }
  }, { once: true });
  return serveHttpOnConnection(connection, cancelled, handle, onError, ignoreListening);
}
