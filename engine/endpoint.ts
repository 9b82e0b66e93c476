/** How the client reaches the engine. @module */

import { toConnectError } from "./failures.ts";

/** Bytes in both directions. Errors of reads and writes are those of `Deno.Conn`. */
export type EngineConnection = Pick<Deno.Conn, "read" | "write" | "closeWrite" | "close">;

/** A place where an engine, or a proxy in front of it, accepts connections. */
export interface EngineEndpoint {
  /** For messages: a socket's path, or `tcp://host:port`. */
  readonly address: string;
  /** Longest idle time of a connection, in milliseconds; default: that of the client. */
  readonly idleMs?: number;
  /**
   * Opens a connection.
   *
   * @param signal Ends the attempt to connect.
   * @throws {EngineUnreachableError} With a sentence for the user.
   */
  connect(signal: AbortSignal): Promise<EngineConnection>;
}

/** @param path E.g. `/var/run/docker.sock`. */
export function socketEndpoint(path: string): EngineEndpoint {
  return {
    address: path,
    async connect() {
      try {
        return await Deno.connect({ transport: "unix", path });
      } catch (error) {
        throw toConnectError(error, path);
      }
    },
  };
}
