/** A Unix socket of the data directory, on which only this process connects. @module */

import { discardHiddenBody } from "./hidden_body.ts";
import { drainBody } from "./unread_body.ts";

export type PrivateSocket = ReturnType<typeof listenPrivately>;

/** @throws If the socket cannot be created, e.g. because the path has more than 107 bytes. */
export function listenPrivately(
  path: string,
  answer: (request: Request) => Promise<Response>,
  onError: (error: unknown) => Response,
) {
  // The socket of a process that was killed.
  removeSocket(path);
  const server = Deno.serve({ path, onListen: () => {}, onError }, async (request) => {
    discardHiddenBody(request);
    const response = await answer(request);
    if (request.method !== "GET") await drainBody(request);
    return response;
  });
  Deno.chmodSync(path, 0o600);

  return {
    connect: () => Deno.connect({ transport: "unix", path }),
    /** Waits for the running requests. */
    async shutdown(): Promise<void> {
      await server.shutdown();
      removeSocket(path);
    },
  };
}

function removeSocket(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
