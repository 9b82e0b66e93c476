import { deepEqual, equal } from "node:assert/strict";
import { applyFrame, emptyCopy } from "../../../../services/fleet/copies/copy.ts";
import { deleteFleetHost } from "../../../../db/fleet_hosts.ts";
import type { AppEvent } from "../../../../services/events/events.ts";
import { addHost } from "../../../helpers/event_link.ts";
import { type SseClient, sseClient } from "../../../helpers/sse_client.ts";
import { type TestApp, testApp } from "../../../helpers/test_app.ts";

const row = (name: string, stack: string | null = null) => ({
  ...{ id: `id-${name}`, name, image: "nginx", state: "running", health: null, stack },
  ...{ createdAt: null, startedAt: null, crashLooping: false, self: false, replaced: false },
});

/** A frame of the feed of a host, as its hub receives it. */
function feed({ deps }: TestApp, hostId: string, name: "containers" | "alerts", change: object) {
  const copy = deps.fleet.copies.get(hostId) ?? emptyCopy();
  deps.fleet.copies.set(hostId, copy);
  const data = JSON.stringify({ isWhole: false, set: [], removed: [], ...change });
  applyFrame(copy, { event: name, data }, deps.now());
}

function receive({ deps }: TestApp, hostId: string, host: string, container: string): void {
  deps.fleet.received.add({
    ...{ event: "container.down", timestamp: "2026-01-01T00:00:00Z", eventId: container },
    ...{ server: host, serverId: hostId, host, stack: "shop" },
    data: { container, id: container, reason: "exited", exitCode: 1 },
  } as AppEvent);
}

async function open(app: TestApp, query: string, options = {}): Promise<SseClient> {
  const { status, body } = await app.fetch("GET", `/api/stream?${query}`, undefined, options);
  equal(status, 200);
  return sseClient(body!);
}

Deno.test("a stream of hosts has their containers, by changes, and their events", async () => {
  using app = testApp();
  const seven = addHost(app, "edge-7");
  const other = addHost(app, "shop-1");
  feed(app, seven, "containers", { isWhole: true, set: [row("web"), row("db")] });
  feed(app, other, "containers", { isWhole: true, set: [row("web")] });
  const client = await open(app, "hosts=edge-*");
  const first = (await client.next())!;
  deepEqual([first.type, first.data.host, first.data.isWhole], ["containers", "edge-7", true]);
  deepEqual(first.data.set.map(({ name }: { name: string }) => name), ["web", "db"]);

  receive(app, other, "shop-1", "web");
  receive(app, seven, "edge-7", "web");
  const event = (await client.next())!;
  deepEqual([event.type, event.data.host, event.data.title], [
    "event",
    "edge-7",
    "Container down: web",
  ]);
  feed(app, seven, "containers", { set: [{ ...row("web"), state: "exited" }], removed: ["id-db"] });
  const second = (await client.next())!;
  deepEqual(
    [second.data.isWhole, second.data.set[0].state, second.data.set.length, second.data.removed],
    [false, "exited", 1, ["id-db"]],
  );
  deleteFleetHost(app.deps.db, seven);
  app.deps.changes.record("/api/fleet/hosts");
  deepEqual((await client.next())!.data, {
    ...{ host: "edge-7", asOf: null, isWhole: true, set: [], removed: [] },
  });
  await client.cancel();
  equal(app.deps.jobs.followers.taken, 0);

  // The events after the last one that the client has got.
  const again = await open(app, "hosts=*&types=event", {
    headers: { "last-event-id": String(event.id - 2) },
  });
  equal((await again.next())!.data.host, "shop-1");
  await again.cancel();
});

Deno.test("a limited API token gets its containers of each host, without alerts", async () => {
  using app = testApp();
  const seven = addHost(app, "edge-7");
  feed(app, seven, "containers", { isWhole: true, set: [row("web", "shop"), row("db")] });
  feed(app, seven, "alerts", { isWhole: true });
  const { body: { token } } = await app.call("POST", "/api/tokens", {
    name: "Shop",
    role: "viewer",
    stacks: ["shop"],
  });
  const client = await open(app, "hosts=edge-7", { token });
  const { type, data } = (await client.next())!;
  deepEqual([type, data.set.map(({ name }: { name: string }) => name)], ["containers", ["web"]]);
  receive(app, seven, "edge-7", "web");
  equal((await client.next())!.data.data.container, "web");
  // A row that leaves its scope is gone; the ids of others are not told.
  feed(app, seven, "containers", { set: [row("web", "other")], removed: ["id-db"] });
  const { data: next } = (await client.next())!;
  deepEqual([next.set, next.removed], [[], ["id-web"]]);
  await client.cancel();

  // A position of a run with another clock.
  const later = await open(app, "hosts=edge-7&types=event", {
    ...{ token, headers: { "last-event-id": String(Number.MAX_SAFE_INTEGER) } },
  });
  receive(app, seven, "edge-7", "web");
  equal((await later.next())!.data.data.container, "web");
  await later.cancel();
});

Deno.test("a host that is not in the fleet is 404", async () => {
  using app = testApp();
  equal((await app.call("GET", "/api/stream?hosts=edge-9")).status, 404);
});
