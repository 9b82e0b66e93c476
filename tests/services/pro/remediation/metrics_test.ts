import { equal } from "node:assert/strict";
import { upsertServiceStop } from "../../../../db/service_stops.ts";
import type { Container } from "../../../../services/containers/inventory.ts";
import { remediationMetric } from "../../../../services/pro/remediation/metrics.ts";
import { findTarget } from "../../../../services/pro/remediation/target.ts";
import type { ContainerStats } from "../../../../services/containers/stats_cache.ts";
import { containerOf, idOf } from "../../../helpers/fake_containers.ts";
import { type TestApp, testApp } from "../../../helpers/test_app.ts";

const NOW = "2026-01-01T12:00:00.000Z";
const EARLIER = "2026-01-01T11:00:00.000Z";

const proApp = () => testApp({ edition: "pro", now: NOW });

const exited = (fields: Partial<Container> = {}) =>
  containerOf({
    name: "web",
    state: "exited",
    startedAt: "2026-01-01T10:00:00.000Z",
    finishedAt: EARLIER,
    exitCode: 137,
    ...fields,
  });

const valueOf = (
  app: TestApp,
  metric: string,
  target: Container | undefined,
) => remediationMetric(metric).read(app.deps, target);

for (
  const [what, fields, value] of [
    ["that exited", {}, 1],
    ["that is dead", { state: "dead" }, 1],
    ["that is restarting", { state: "restarting" }, 1],
    ["that is running", { state: "running" }, 0],
    ["that is paused", { state: "paused" }, 0],
    ["that never ran", { state: "created", startedAt: null, finishedAt: null }, 0],
    ["that is being removed", { state: "removing" }, undefined],
    ["that just exited", { finishedAt: "2026-01-01T11:59:58.500Z" }, undefined],
    ["that exited two seconds ago", { finishedAt: "2026-01-01T11:59:58.000Z" }, 1],
  ] as [what: string, fields: Partial<Container>, value: number | undefined][]
) {
  Deno.test(`container_down of a container ${what} is ${value}`, () => {
    using app = proApp();
    equal(valueOf(app, "container_down", exited(fields)), value);
  });
}

Deno.test("container_down of an unknown container is undefined", () => {
  using app = proApp();
  for (
    const metric of ["container_down", "container_unhealthy", "container_cpu_percent"] as const
  ) {
    equal(valueOf(app, metric, undefined), undefined);
  }
});

Deno.test("a container that this service stopped is not down, unless it exits again later", () => {
  using app = proApp();
  upsertServiceStop(app.deps.db, idOf("web"), "2026-01-01T11:00:00.050Z");
  equal(valueOf(app, "container_down", exited()), 0);
  // The service missed that it ran again.
  equal(valueOf(app, "container_down", exited({ finishedAt: "2026-01-01T11:30:00.000Z" })), 1);
});

for (
  const [fields, value] of [
    [{ health: "unhealthy" }, 1],
    [{ health: "healthy" }, 0],
    [{ health: "starting" }, 0],
    [{ health: null }, 0],
    [{ health: "unhealthy", state: "exited" }, 0],
  ] as [Partial<Container>, number][]
) {
  Deno.test(`container_unhealthy of ${JSON.stringify(fields)} is ${value}`, () => {
    using app = proApp();
    equal(valueOf(app, "container_unhealthy", containerOf({ name: "web", ...fields })), value);
  });
}

function sampled(app: TestApp, read: string): void {
  const stats = { cpuPercent: 120, memoryPercent: 40, read } as ContainerStats;
  app.deps.stats.put(idOf("web"), stats);
}

Deno.test("the target's percentages come from its last sample", () => {
  using app = proApp();
  const web = containerOf({ name: "web", startedAt: EARLIER });
  equal(valueOf(app, "container_cpu_percent", web), undefined);
  sampled(app, "2026-01-01T11:59:30.000Z");
  equal(valueOf(app, "container_cpu_percent", web), 120);
  equal(valueOf(app, "container_memory_percent", web), 40);
  app.clock.advance({ seconds: 46 });
  equal(valueOf(app, "container_cpu_percent", web), undefined);
});

Deno.test("a sample from before the container's last start is ignored", () => {
  using app = proApp();
  sampled(app, "2026-01-01T11:59:30.000Z");
  const web = containerOf({ name: "web", startedAt: "2026-01-01T11:59:40.000Z" });
  equal(valueOf(app, "container_cpu_percent", web), undefined);
});

Deno.test("a target is found by ID, name, short ID, and by name after it was recreated", () => {
  using app = proApp();
  const { inventory } = app.deps;
  const [web, db] = [containerOf({ name: "web" }), containerOf({ name: "db" })];
  // Its name looks like the prefix of an ID.
  const cafe = containerOf({ name: "cafe0123", id: `cafe0123${"4".repeat(56)}` });
  inventory.replaceAll([web, db, cafe], inventory.readNumber());
  const find = (action_target: string, target_name: string | null = null) =>
    findTarget(inventory, { action_target, target_name })?.name;
  equal(find("web"), "web");
  equal(find(web.id), "web");
  equal(find(cafe.id.slice(0, 12)), "cafe0123");
  equal(find(cafe.id.slice(0, 11)), undefined);
  equal(find("0".repeat(64), "db"), "db");
  equal(find("gone"), undefined);
  equal(find("gone", "gone too"), undefined);
});
