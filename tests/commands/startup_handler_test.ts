import { deepEqual, equal } from "node:assert/strict";
import { createStartupHandler } from "../../commands/startup_handler.ts";

const ask = (path: string) => new Request(`http://longshore.test${path}`);

Deno.test("during the start, /livez succeeds and /readyz does not", async () => {
  const { answer } = createStartupHandler();
  const live = await answer(ask("/livez"), "192.0.2.1");
  deepEqual([live.status, await live.json()], [200, { status: "ok" }]);
  const ready = await answer(ask("/readyz"), "192.0.2.1");
  deepEqual([ready.status, await ready.json()], [503, { status: "starting" }]);
  equal(ready.headers.get("x-content-type-options"), "nosniff");
});

Deno.test("other requests wait for the service and are answered by it", async () => {
  const startup = createStartupHandler();
  const early = startup.answer(ask("/api/containers"), "192.0.2.1");
  startup.open((request, peer) =>
    Promise.resolve(new Response(`${new URL(request.url).pathname} ${peer}`))
  );
  equal(await (await early).text(), "/api/containers 192.0.2.1");
  equal(await (await startup.answer(ask("/livez"), "192.0.2.2")).text(), "/livez 192.0.2.2");
});

Deno.test("a failed start answers waiting requests", async () => {
  const startup = createStartupHandler();
  const early = startup.answer(ask("/api/containers"), "192.0.2.1");
  startup.close();
  const response = await early;
  deepEqual([response.status, await response.json()], [
    503,
    { error: "The service could not be started" },
  ]);
});
