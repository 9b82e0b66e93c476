/** How the client reaches the engine. @module */

import { toConnectError } from "./failures.ts";

/** A place where an engine, or a proxy in front of it, accepts connections. */
export interface EngineEndpoint {
  /** For messages: a socket's path, or `tcp://host:port`. */
  readonly address: string;
  /**
   * Opens a connection.
   *
   * @param signal Aborted when the connection is no longer needed.
   * @throws {EngineUnreachableError} With a sentence for the user.
   */
  connect(signal: AbortSignal): Promise<Deno.Conn>;
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
