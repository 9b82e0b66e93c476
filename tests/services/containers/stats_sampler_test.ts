import { deepEqual } from "node:assert/strict";
import { createSampler } from "../../../services/containers/stats_sampler.ts";
import { containerOf, idOf, setContainers } from "../../helpers/fake_containers.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { testApp } from "../../helpers/test_app.ts";

Deno.test("a restarted container is sampled at once", async () => {
  await using fake = fakeEngine({
    "GET /containers/*/stats": () =>
      Response.json({
        read: "2026-01-01T00:00:00Z",
        cpu_stats: { cpu_usage: { total_usage: 1 } },
        memory_stats: {},
      }),
  });
  using app = testApp({ engine: fake.engine });
  const { inventory, stats } = app.deps;
  const sampler = createSampler(app.deps, new AbortController().signal);
  const samplesAfterRound = async () => {
    sampler.startDue();
    await sampler.ended();
    return fake.requests.length;
  };
  const startAt = (startedAt: string) =>
    inventory.put(containerOf({ name: "web", startedAt }), inventory.readNumber());

  inventory.setLive(true);
  startAt("2026-01-01T00:00:00.000Z");
  const afterStart = await samplesAfterRound();
  const stillFresh = await samplesAfterRound();
  stats.remove(idOf("web"));
  startAt("2026-01-01T00:00:05.000Z");
  const afterRestart = await samplesAfterRound();

  deepEqual([afterStart, stillFresh, afterRestart], [1, 1, 2]);
});

Deno.test("every running and paused container is sampled every 15 seconds, without a reader", async () => {
  await using fake = fakeEngine({
    "GET /containers/*/stats": () =>
      Response.json({
        read: app.clock.now().toISOString(),
        cpu_stats: { cpu_usage: { total_usage: 1 } },
        memory_stats: { usage: 5 },
      }),
  });
  using app = testApp({ engine: fake.engine });
  const { stats } = app.deps;
  setContainers(app, { name: "web" }, { name: "held", state: "paused" }, {
    name: "done",
    state: "exited",
  });
  const sampler = createSampler(app.deps, new AbortController().signal);
  const sampled = async () => {
    const before = fake.requests.length;
    sampler.startDue();
    await sampler.ended();
    return fake.requests.slice(before).map((each) => each.split("/")[2]).sort();
  };
  const both = [idOf("web"), idOf("held")].sort();

  deepEqual(await sampled(), both);
  app.clock.advance({ seconds: 14 });
  deepEqual(await sampled(), []);
  app.clock.advance({ seconds: 1 });
  deepEqual(await sampled(), both);
  deepEqual(stats.get(idOf("held"))?.memoryUsage, 5);
});
