/** An HTTP server on loopback that answers from a table and records requests. @module */

/** Configuration that allows requests to loopback. */
export const LOOPBACK_ALLOWED = { outboundAllow: ["127.0.0.0/8"] };

export interface Asked {
  method: string;
  /** Path with query. */
  path: string;
  query: URLSearchParams;
  headers: Headers;
  body: string;
}

type Answer = Response | Promise<Response>;

export interface FakeSystem extends AsyncDisposable {
  /** E.g. `http://127.0.0.1:41234`. */
  url: string;
  asked: Asked[];
}

/**
 * @param answers By path without query, or one function for all paths. A value that is not a
 * `Response` is sent as JSON.
 */
export function fakeSystem(
  answers: Record<string, (asked: Asked) => Answer | unknown> | ((asked: Asked) => unknown),
): FakeSystem {
  const asked: Asked[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const url = new URL(request.url);
      const one = {
        method: request.method,
        path: url.pathname + url.search,
        query: url.searchParams,
        headers: request.headers,
        body: await request.text(),
      };
      asked.push(one);
      const answer = typeof answers === "function" ? answers : answers[url.pathname];
      if (!answer) return new Response("nothing here", { status: 404 });
      const found = await answer(one);
      return found instanceof Response ? found : Response.json(found);
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    asked,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
