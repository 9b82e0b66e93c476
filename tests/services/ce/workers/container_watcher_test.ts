import { deepEqual } from "node:assert/strict";
import type { AppEvent } from "../../../../services/events.ts";
import { containerWatcher } from "../../../../services/ce/workers/container_watcher.ts";
import { playContainers, type PlayedContainer } from "../../../helpers/fake_containers.ts";
import { fakeEngine } from "../../../helpers/fake_engine.ts";
import { type TestApp, testApp } from "../../../helpers/test_app.ts";

/** Follows the engine until the listing is there, and loses it again. */
async function followOnce({ deps }: TestApp): Promise<void> {
  const end = new AbortController();
  await containerWatcher.run(deps, end.signal, () => end.abort());
}

Deno.test("what went down while the engine was away is told, also if somebody looked first", async () => {
  const containers: PlayedContainer[] = [{ name: "web" }, { name: "idle", state: "exited" }];
  await using fake = fakeEngine({
    ...playContainers(containers),
    "GET /events": () => new Response(new ReadableStream()),
  });
  using app = testApp({ engine: fake.engine });
  const told: AppEvent[] = [];
  app.deps.events.publish = (event) => void told.push(event);

  await followOnce(app);
  Object.assign(containers[0]!, { state: "exited", exitCode: 137 });
  const { body } = await app.call("GET", "/api/containers?name=web");
  await followOnce(app);
  await followOnce(app);

  deepEqual(body.containers.map(({ state }: { state: string }) => state), ["exited"]);
  deepEqual(
    told.map(({ event, data }) => [event, (data as { container: string }).container]),
    [["container.down", "web"]],
  );
});
