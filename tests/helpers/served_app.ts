/** The application of a test behind a real port, for browsers. @module */

import type { TestApp } from "./test_app.ts";

/** Serves it by HTTP on a free port of 127.0.0.1. */
export function serveApp({ app }: Pick<TestApp, "app">): AsyncDisposable & { url: string } {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    (request) => app(request, "127.0.0.1"),
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
