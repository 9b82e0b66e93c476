/**
 * Bodies of requests that cannot have one, e.g. of a GET. The runtime hides such a body, but keeps what
 * the client sends of it until the response was delivered: with HTTP/2 1 MiB of each connection, and of
 * tiny frames a hundred times their bytes. This is discarded here through the runtime's own object
 * behind a `Request`, which is not public.
 *
 * @module
 */

/** Methods whose requests have no body for the runtime. */
const BODILESS = new Set(["GET", "HEAD", "CONNECT"]);

/** All that this program uses of the runtime's object. */
interface InnerRequest {
  readonly method: string;
  readonly body: { streamOrStatic: object } | null;
  /** @returns `null` for a missing header. */
  header(name: string): string | null;
}

interface Runtime {
  /** Key of the object in a `Request`. */
  key: symbol;
  bodyOf: (this: InnerRequest) => InnerRequest["body"];
}

/** `null` for a runtime whose objects are others: then bodies stay hidden, which tests report. */
let runtime: Runtime | null | undefined;

/** Whether the runtime is asked for the body that it hides. */
let isDiscarding = false;

/** Discards what the client has sent and will send as the body of a request that cannot have one. */
export function discardHiddenBody(request: Request): void {
  if (!BODILESS.has(request.method)) return;
  if (runtime === undefined) runtime = prepare(request);
  if (runtime === null) return;
  const { key, bodyOf } = runtime;
  const inner = innerOf(request, key);
  // A WebSocket of which the body was read keeps its server open. HTTP/2 does not allow the header.
  if (inner.header("upgrade") !== null) return;
  isDiscarding = true;
  try {
    const hidden = bodyOf.call(inner)?.streamOrStatic;
    if (hidden instanceof ReadableStream) hidden.cancel().catch(() => {});
  } finally {
    isDiscarding = false;
  }
}

/**
 * Changes the class of the runtime's objects: the runtime gives the body of any other method. Changing
 * each object would take a tenth of the time of a short request.
 */
function prepare(request: Request): Runtime | null {
  const key = Object.getOwnPropertySymbols(request).find((each) => each.description === "request");
  if (key === undefined) return null;
  const prototype = Object.getPrototypeOf(innerOf(request, key));
  const methodOf = Object.getOwnPropertyDescriptor(prototype, "method")?.get;
  const bodyOf = Object.getOwnPropertyDescriptor(prototype, "body")?.get;
  if (!methodOf || !bodyOf || !("header" in prototype)) return null;
  Object.defineProperties(prototype, {
    method: {
      get: function (this: InnerRequest) {
        return isDiscarding ? "" : methodOf.call(this);
      },
    },
    body: {
      get: function (this: InnerRequest) {
        return BODILESS.has(this.method) ? null : bodyOf.call(this);
      },
    },
  });
  return { key, bodyOf };
}

const innerOf = (request: Request, key: symbol) =>
  (request as unknown as Record<symbol, InnerRequest>)[key]!;
