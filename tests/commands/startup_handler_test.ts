import { deepEqual, equal } from "node:assert/strict";
import { createStartupHandler } from "../../commands/startup_handler.ts";

const ask = (path: string) => new Request(`http://longshore.test${path}`);

Deno.test("while the service is put together, the process lives, but is not ready", async () => {
  const { answer } = createStartupHandler();
  const live = await answer(ask("/livez"), "192.0.2.1");
  deepEqual([live.status, await live.json()], [200, { status: "ok" }]);
  const ready = await answer(ask("/readyz"), "192.0.2.1");
  deepEqual([ready.status, await ready.json()], [503, { status: "starting" }]);
  equal(ready.headers.get("x-content-type-options"), "nosniff");
});

Deno.test("everyone else waits for the service, and is then answered by it", async () => {
  const door = createStartupHandler();
  const early = door.answer(ask("/api/containers"), "192.0.2.1");
  door.open((request, peer) =>
    Promise.resolve(new Response(`${new URL(request.url).pathname} ${peer}`))
  );
  equal(await (await early).text(), "/api/containers 192.0.2.1");
  equal(await (await door.answer(ask("/livez"), "192.0.2.2")).text(), "/livez 192.0.2.2");
});

Deno.test("a start that fails leaves nobody waiting", async () => {
  const door = createStartupHandler();
  const early = door.answer(ask("/api/containers"), "192.0.2.1");
  door.close();
  const response = await early;
  deepEqual([response.status, await response.json()], [
    503,
    { error: "The service could not be started" },
  ]);
});
