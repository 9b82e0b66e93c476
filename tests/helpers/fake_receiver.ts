/** A local HTTP server that records the requests it receives. @module */

export interface Received {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

export interface FakeReceiver extends AsyncDisposable {
  /** E.g. `http://127.0.0.1:40123/`; loopback has to be listed in `OUTBOUND_ALLOW`. */
  url: string;
  received: Received[];
}

/** @param answer Default: 204. */
export function fakeReceiver(
  answer: (request: Received, index: number) => Response | Promise<Response> = () =>
    new Response(null, { status: 204 }),
): FakeReceiver {
  const received: Received[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      const seen = {
        method: request.method,
        path: new URL(request.url).pathname,
        headers: Object.fromEntries(request.headers),
        body: await request.text(),
      };
      const index = received.push(seen) - 1;
      return await answer(seen, index);
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}/`,
    received,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
