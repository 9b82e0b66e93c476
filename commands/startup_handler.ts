/**
 * Answers requests from the first moment on: a supervisor that asks whether the process lives gets
 * its answer while the service is still being put together, everyone else waits for that.
 *
 * @module
 */

import { respondJson } from "../routes/exchange.ts";

/** Answers a request; `peer` is the address of the other end of the connection. */
type Answer = (request: Request, peer: string) => Promise<Response>;

/** The way in, open or not. */
export interface StartupHandler {
  answer: Answer;
  /** From here on requests go to the service, those that wait first. */
  open(service: Answer): void;
  /** The start failed: who waits is told so. */
  close(): void;
}

/** A door that is closed: nobody but probes is answered before it is opened. */
export function createStartupHandler(): StartupHandler {
  let service: Answer | undefined;
  const opened = Promise.withResolvers<Answer | undefined>();

  return {
    answer(request, peer) {
      return service ? service(request, peer) : whileStarting(request, peer, opened.promise);
    },
    open(given) {
      service = given;
      opened.resolve(given);
    },
    close: () => opened.resolve(undefined),
  };
}

async function whileStarting(
  request: Request,
  peer: string,
  opened: Promise<Answer | undefined>,
): Promise<Response> {
  const exchange = { requestId: crypto.randomUUID(), address: peer, headers: {} };
  // A strange Host header makes it no URL.
  const pathname = URL.parse(request.url)?.pathname;
  if (request.method === "GET" && pathname === "/livez") {
    return respondJson(exchange, 200, { status: "ok" });
  }
  if (request.method === "GET" && pathname === "/readyz") {
    return respondJson(exchange, 503, { status: "starting" });
  }
  const service = await opened;
  return service
    ? await service(request, peer)
    : respondJson(exchange, 503, { error: "The service could not be started" });
}
