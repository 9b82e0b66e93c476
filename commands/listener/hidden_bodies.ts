/**
 * Bodies of requests that cannot have one, e.g. of a GET. The runtime hides such a body, but keeps what
 * the client sends of it until the request ends: with HTTP/2 1 MiB of each connection, and of tiny
 * frames a hundred times their bytes. This is discarded here with a part of the runtime that is not
 * public.
 *
 * @module
 */

/** Methods whose requests have no body for the runtime. */
const BODILESS = new Set(["GET", "HEAD", "CONNECT"]);

/**
 * Age of the requests whose bodies are discarded, in milliseconds. For a short request it takes a tenth
 * of its time.
 */
const DISCARD_MS = 100;

/** All that this program uses of the runtime's own object behind a `Request`. */
interface InnerRequest {
  method: string;
  body: { streamOrStatic: object } | null;
}

let innerKey: symbol | undefined;

export function createHiddenBodies() {
  const requests = new Set<Request>();
  let isDue = false;

  return {
    /** Discards the body of a request unless it is removed meanwhile. */
    add(request: Request): void {
      if (!BODILESS.has(request.method)) return;
      requests.add(request);
      if (isDue) return;
      isDue = true;
      setTimeout(discardAll, DISCARD_MS);
    },

    /** Forgets a request that has ended. */
    remove: (request: Request) => void requests.delete(request),
  };

  function discardAll(): void {
    isDue = false;
    requests.forEach(discardHiddenBody);
    requests.clear();
  }
}

/** Discards what the client has sent of the body, and what follows. */
function discardHiddenBody(request: Request): void {
  // A WebSocket of which the body was read keeps its server open. HTTP/2 does not allow the header.
  if (request.headers.has("upgrade")) return;
  innerKey ??= Object.getOwnPropertySymbols(request).find((key) => key.description === "request")!;
  const inner = (request as unknown as Record<symbol, InnerRequest>)[innerKey]!;
  try {
    // The runtime gives the bodies of other methods.
    Object.defineProperty(inner, "method", { value: "", configurable: true });
    const hidden = inner.body?.streamOrStatic;
    Object.defineProperty(inner, "body", { value: null });
    if (hidden instanceof ReadableStream) hidden.cancel().catch(() => {});
  } catch {
    // The client has disconnected.
  } finally {
    Reflect.deleteProperty(inner, "method");
  }
}
