/**
 * Answers requests while the service starts: liveness and readiness probes at once, all others when
 * the service is ready.
 *
 * @module
 */

import { respondAlive, respondJson } from "../routes/pipeline/exchange.ts";

/** Answers a request; `peer` is the address of the other end of the connection. */
type Answer = (request: Request, peer: string) => Promise<Response>;

/** Handles requests before and after the start. */
export function createStartupHandler() {
  let service: Answer | undefined;
  const opened = Promise.withResolvers<Answer | undefined>();

  return {
    answer: (request: Request, peer: string): Promise<Response> =>
      service ? service(request, peer) : whileStarting(request, peer, opened.promise),
    /** Passes all requests to the service, starting with the waiting ones. */
    open(given: Answer): void {
      service = given;
      opened.resolve(given);
    },
    /** The start failed: answers the waiting requests with 503. */
    close: (): void => opened.resolve(undefined),
  };
}

async function whileStarting(
  request: Request,
  peer: string,
  opened: Promise<Answer | undefined>,
): Promise<Response> {
  const exchange = { requestId: crypto.randomUUID(), address: peer, headers: {} };
  // A malformed Host header makes the URL invalid.
  const pathname = URL.parse(request.url)?.pathname;
  if (request.method === "GET" && pathname === "/livez") {
    return respondAlive(exchange);
  }
  if (request.method === "GET" && pathname === "/readyz") {
    return respondJson(exchange, 503, { status: "starting" });
  }
  const service = await opened;
  return service
    ? await service(request, peer)
    : respondJson(exchange, 503, { error: "The service could not be started" });
}
