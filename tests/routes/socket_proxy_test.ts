import { deepEqual, equal, match } from "node:assert/strict";
import { containerWatcher } from "../../services/containers/watcher.ts";
import { simulateContainers } from "../helpers/fake_containers.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { keptLog, testApp } from "../helpers/test_app.ts";
import { until } from "../helpers/until.ts";

/** The page of a proxy for a call that it does not let through. */
const forbidden = () =>
  new Response("<html><body><h1>403 Forbidden</h1></body></html>", { status: 403 });

for (
  const { call, path, method = "POST", body, error } of [
    {
      call: "POST /networks/create",
      path: "/api/networks",
      body: { name: "backend" },
      error: "create networks: allow POST /networks/create (options NETWORKS and POST)",
    },
    {
      call: "POST /containers/*/restart",
      path: "/api/containers/web/restart",
      error: "restart containers: allow POST /containers/{id}/restart " +
        "(options CONTAINERS and POST)",
    },
    {
      call: "POST /containers/*/update",
      path: "/api/containers/web/limits",
      method: "PUT",
      body: { memoryBytes: 100_000_000 },
      error: "change limits of containers: allow POST /containers/{id}/update " +
        "(options CONTAINERS and POST)",
    },
    {
      call: "POST /containers/*/exec",
      path: "/api/containers/web/exec",
      body: { command: "date" },
      error: "prepare commands in containers: allow POST /containers/{id}/exec " +
        "(options CONTAINERS and POST)",
    },
    {
      call: "GET /images/*/json",
      path: "/api/images/app",
      method: "GET",
      error: "read images: allow GET /images/{name}/json (option IMAGES)",
    },
  ] as { call: string; path: string; method?: string; body?: unknown; error: string }[]
) {
  Deno.test(`a proxy that refuses ${call} is 502 with what to allow`, async () => {
    await using fake = fakeEngine({ ...simulateContainers([{ name: "web" }]), [call]: forbidden });
    using app = testApp({ engine: fake.engine });
    const answer = await app.call(method, path, body);
    deepEqual([answer.status, answer.body.error], [502, `The socket proxy refuses to ${error}`]);
  });
}

Deno.test("without events the log says what to allow, and reads list the containers", async () => {
  await using fake = fakeEngine({
    ...simulateContainers([{ name: "web" }]),
    "GET /events": forbidden,
    "GET /version": forbidden,
    "GET /info": forbidden,
    "GET /images/*/json": forbidden,
  });
  const { log, lines } = keptLog();
  using app = testApp({ engine: fake.engine, log });
  const end = new AbortController();
  const watching = containerWatcher.run(app.deps, end.signal, () => {});
  await until("the refusal is logged", () => lines.some((line) => line.includes("EVENTS")));
  const { status, body } = await app.call("GET", "/api/containers");
  deepEqual([status, body.containers.map(({ name }: { name: string }) => name)], [200, ["web"]]);
  equal((await app.call("GET", "/api/system/docker")).status, 502);
  end.abort();
  await watching;
  match(lines.join("\n"), /refuses to follow events: allow GET \/events \(option EVENTS\)/);
});
