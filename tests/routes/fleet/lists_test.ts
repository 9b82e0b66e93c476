import { deepEqual, equal } from "node:assert/strict";
import { insertFleetHost } from "../../../db/fleet_hosts.ts";
import { applyFrame, emptyCopy } from "../../../services/fleet/copies/copy.ts";
import { type CallOptions, type TestApp, testApp } from "../../helpers/test_app.ts";

const NOW = "2026-01-01T14:02:00.000Z";

/** A hub with two hosts that are away, of which it has copies, and one that it has never seen. */
function hubApp(): TestApp {
  const app = testApp({ now: NOW });
  const { db, fleet } = app.deps;
  const names = { "edge-7": "kiel", "edge-8": "bonn", "edge-9": "bonn" };
  for (const [name, site] of Object.entries(names)) {
    insertFleetHost(db, {
      ...{ id: name, name, labels: { site }, linkKey: `key of ${name}`, noteKey: "" },
      ...{
        machine: "",
        version: "0.1.0",
        address: "192.0.2.7",
        inviteId: null,
        dialAddress: null,
        challenge: 0,
      },
      ...{ isPending: false, isConnected: false, isReportedAway: false, leftAt: null },
      joinedAt: NOW,
      lastSeenAt: name === "edge-9" ? null : NOW,
    });
    if (name !== "edge-9") fleet.copies.set(name, copyOf(name));
  }
  fleet.refresh();
  return app;
}

function copyOf(host: string) {
  const copy = emptyCopy();
  const send = (event: string, set: unknown[]) =>
    applyFrame(
      copy,
      { event, data: JSON.stringify({ isWhole: true, set, removed: [] }) },
      new Date(NOW),
    );
  send(
    "containers",
    ["shop", "blog"].map((stack) => ({
      ...{
        id: `${host}.${stack}`,
        name: `${stack}-web`,
        image: "nginx:1",
        state: "running",
        stack,
      },
      ...{ health: stack === "blog" ? "unhealthy" : null, createdAt: NOW, startedAt: NOW },
      ...{ crashLooping: false, self: false },
    })),
  );
  send(
    "stacks",
    ["shop", "blog"].map((name) => ({
      ...{ id: `compose/${name}`, name, kind: "compose", services: 1, containerCount: 1 },
      ...{ status: name === "blog" ? "degraded" : "healthy", running: 1, unhealthy: 0 },
    })),
  );
  send("alerts", [{
    ...{ id: host, ruleName: "CPU", severity: "critical", message: "CPU is high", stack: null },
    ...{ container: null, firedAt: NOW, acknowledgedAt: null },
  }]);
  send("updates", [{
    ...{ id: "nginx:1", image: "nginx:1", status: "update_available", tag: "1", newestTag: "2" },
    checkedAt: NOW,
    containers: ["shop", "blog"].map((stack) => ({ name: `${stack}-web`, stack })),
  }]);
  return copy;
}

Deno.test("lists over all hosts come from the copies, with host, age and filters", async () => {
  using app = hubApp();
  const rowsOf = async (path: string) => {
    const { status, body } = await app.call("GET", `/api/fleet/${path}`);
    equal(status, 200, JSON.stringify(body));
    const [list] = Object.values(body) as { host: string; name: string; asOf: string }[][];
    return list!.map(({ host, name, asOf }) => `${host} ${name ?? ""} ${asOf === NOW}`);
  };
  deepEqual(await rowsOf("containers"), [
    "edge-7 blog-web true",
    "edge-8 blog-web true",
    "edge-7 shop-web true",
    "edge-8 shop-web true",
  ]);
  deepEqual(await rowsOf("containers?search=SHOP&label=site=bonn"), ["edge-8 shop-web true"]);
  deepEqual(await rowsOf("stacks?host=edge-7&search=blog"), ["edge-7 blog true"]);
  deepEqual(await rowsOf("alerts?label=site&limit=1&offset=1"), ["edge-8  true"]);
  deepEqual(await rowsOf("updates?search=edge-7"), ["edge-7  true"]);
  deepEqual(await rowsOf("containers?label=constructor"), []);
});

Deno.test("the overview has sums, and each host with what needs attention", async () => {
  using app = hubApp();
  const { status, body } = await app.call("GET", "/api/fleet/overview");
  equal(status, 200, JSON.stringify(body));
  deepEqual(body.sums, {
    containers: { total: 4, running: 4, unhealthy: 2, restarting: 0 },
    stacks: { total: 4, degraded: 2 },
    alerts: { total: 2, critical: 2 },
    updates: { total: 2, available: 2 },
  });
  const [edge7, , edge9] = body.hosts;
  deepEqual([edge7.state, edge7.since, edge7.asOf.containers], ["away", NOW, NOW]);
  deepEqual(edge7.attention, [
    "away",
    "1 unhealthy",
    "1 degraded stack",
    "1 firing alert",
    "1 update",
  ]);
  deepEqual([edge9.state, edge9.containers, edge9.attention], ["never", null, []]);
});

Deno.test("a token that is limited gets what its limits allow", async () => {
  using app = hubApp();
  const of = (path: string, scope: CallOptions["scope"]) =>
    app.call("GET", `/api/fleet/${path}`, undefined, { role: "viewer", scope });
  const shop = { stacks: ["shop"] };
  const { body: { containers, total } } = await of("containers", shop);
  deepEqual(containers.map((each: { id: string }) => each.id), ["edge-7.shop", "edge-8.shop"]);
  equal(total, 2);
  equal((await of("stacks", shop)).body.total, 2);
  deepEqual((await of("updates", shop)).body.updates[0].containers, [
    { name: "shop-web", stack: "shop" },
  ]);
  equal((await of("alerts", shop)).status, 404);
  equal((await of("overview", shop)).status, 404);
  const reader = { permissions: ["fleet:read", "stacks:read"] };
  equal((await of("containers", reader)).status, 403);
  const { body: { sums } } = await of("overview", reader);
  deepEqual([sums.containers, sums.alerts, sums.updates], [null, null, null]);
  deepEqual(sums.stacks, { total: 4, degraded: 2 });
});
