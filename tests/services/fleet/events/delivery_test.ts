import { newWaveLink } from "../../../../services/fleet/waves/exchange.ts";
import { deepEqual, equal, match } from "node:assert/strict";
import { countOutgoingEvents, selectOutgoingEvents } from "../../../../db/fleet_outgoing_events.ts";
import { deleteMembership } from "../../../../db/fleet_membership.ts";
import { reportHeldEvents } from "../../../../services/alerts/silences/held.ts";
import { emit } from "../../../../services/events/emit.ts";
import { problemKey } from "../../../../services/events/message.ts";
import { checkHub, forgetOthers } from "../../../../services/fleet/events/send.ts";
import { createIntake, takeEvents } from "../../../../services/fleet/events/take.ts";
import { keepHosts } from "../../../../services/fleet/hosts/keeper.ts";
import type { PassedEvent } from "../../../../services/fleet/link/control.ts";
import { collectNotifications } from "../../../../services/messages/queue.ts";
import { addHost, linkEvents, makeMember } from "../../../helpers/event_link.ts";
import { setContainers } from "../../../helpers/fake_containers.ts";
import { sseClient } from "../../../helpers/sse_client.ts";
import { type TestApp, testApp } from "../../../helpers/test_app.ts";
import { until } from "../../../helpers/until.ts";

const NOW = "2026-01-01T12:00:00Z";
const down = (container: string) =>
  ({ container, id: container, reason: "exited", exitCode: 1 }) as const;

async function addChannel(app: TestApp, given: object = {}) {
  await app.call("POST", "/api/notifications/channels", {
    name: "On-call",
    kind: "gotify",
    config: { url: "https://gotify.example.com", token: "t" },
    ...given,
  });
}

/** Titles of the messages that an application has queued. */
function titles({ deps, clock }: TestApp, { afterSeconds = 5 } = {}): string[] {
  clock.advance({ seconds: afterSeconds });
  collectNotifications(deps);
  return deps.db.all<{ payload: string }>("SELECT payload FROM outbox_messages ORDER BY sequence")
    .map(({ payload }) => JSON.parse(payload).title);
}

async function fleet({ hubHasChannel = true } = {}) {
  const hub = testApp({ now: NOW, config: { serverName: "hub" } });
  const member = testApp({ now: NOW, config: { serverName: "seven" } });
  const hostId = addHost(hub, "edge-7");
  makeMember(member, hostId);
  if (hubHasChannel) await addChannel(hub);
  await addChannel(member);
  setContainers(member, { name: "web", composeProject: "shop", state: "exited" });
  return {
    ...{ hub, member, hostId },
    waiting: () => countOutgoingEvents(member.deps.db),
    [Symbol.dispose]() {
      hub[Symbol.dispose]();
      member[Symbol.dispose]();
    },
  };
}

const passedDown = (
  { event = "container.down", data = down("web") }: { event?: string | undefined; data?: object } =
    {},
): PassedEvent => ({
  ...{ sequence: 1, id: crypto.randomUUID(), mode: "new", rootId: null, stack: null },
  event: {
    ...{ event, eventId: crypto.randomUUID(), timestamp: "2026-01-01T00:00:00Z" },
    data: { ...data },
  },
});

Deno.test("an event reaches the hub's channels once, whichever end is killed before the other knows", async () => {
  using all = await fleet();
  const { hub, member, waiting } = all;
  const { eventId } = emit(member.deps, "container.down", down("web"));
  // The hub is killed after it has stored the event; nothing of it reaches the member.
  await using first = linkEvents(all, { losesTaken: true });
  await until("the hub has taken it", () => first.taken.length === 1);
  await first[Symbol.asyncDispose]();
  equal(waiting(), 1);
  // Now the member is killed after it was told, before it has forgotten the event.
  const [row] = selectOutgoingEvents(member.deps.db, all.hostId, 1);
  await using second = linkEvents(all);
  await until("the member has forgotten it", () => waiting() === 0);
  deepEqual(second.taken, first.taken);
  deepEqual(takeEvents(hub.deps, all.hostId, [row as PassedEvent]).left, []);

  deepEqual(titles(hub), ["edge-7: Container down: web"]);
  deepEqual(titles(member), []);
  const { event, ...others } = hub.deps.fleet.received.after(0)[0]!;
  equal(event.eventId, eventId);
  deepEqual([event.host, event.stack], ["edge-7", "shop"]);
  equal(hub.deps.fleet.received.after(others.position).length, 0);
});

Deno.test("a hub that is connected but takes nothing is away, too", async () => {
  using all = await fleet();
  const { member } = all;
  emit(member.deps, "container.down", down("web"));
  await using _link = linkEvents(all, { losesTaken: true });
  member.clock.advance({ minutes: 10 });
  checkHub(member.deps);
  deepEqual(titles(member), ["seven: Container down: web"]);
});

Deno.test("events that a hub has not taken are told here after its end, and the next hub gets none", async () => {
  using all = await fleet();
  const { member } = all;
  emit(member.deps, "container.down", down("web"));
  deleteMembership(member.deps.db);
  makeMember(member, addHost(all.hub, "edge-8"));
  forgetOthers(member.deps);
  deepEqual(titles(member), ["seven: Container down: web"]);
  equal(all.waiting(), 0);
});

Deno.test("a hub without channels leaves people to the member's own", async () => {
  using all = await fleet({ hubHasChannel: false });
  await using _link = linkEvents(all);
  emit(all.member.deps, "container.down", down("web"));
  await until("the member has forgotten it", () => all.waiting() === 0);
  deepEqual(titles(all.member), ["seven: Container down: web"]);
  deepEqual(titles(all.hub), []);
});

Deno.test("a member whose hub is away for ten minutes uses its own channels, and the hub tells nothing again", async () => {
  using all = await fleet();
  const { hub, member } = all;
  emit(member.deps, "container.down", down("web"));
  member.clock.advance({ minutes: 9 });
  checkHub(member.deps);
  deepEqual(titles(member), []);
  member.clock.advance({ minutes: 1 });
  checkHub(member.deps);
  emit(member.deps, "container.up", { container: "web", id: "web" });
  deepEqual(titles(member, { afterSeconds: 60 }), ["seven: Container up: web"]);

  await using _link = linkEvents(all);
  await until("the hub has the events", () => all.waiting() === 0);
  deepEqual(titles(hub), []);
  deepEqual(
    hub.deps.fleet.received.after(0).map(({ event }) => event.event),
    ["container.down", "container.up"],
  );
  // Later ones are the hub's again.
  emit(member.deps, "engine.down", { error: "refused", containers: 1 });
  await until("the hub has it", () => all.waiting() === 0);
  deepEqual(titles(hub), ["edge-7: Container engine down"]);
  equal(titles(member).length, 1);
});

Deno.test("a member that leaves its fleet tells people what the hub did not take", async () => {
  using all = await fleet();
  emit(all.member.deps, "container.down", down("web"));
  deleteMembership(all.member.deps.db);
  all.member.deps.fleet.refresh();
  checkHub(all.member.deps);
  deepEqual(titles(all.member), ["seven: Container down: web"]);
  equal(all.waiting(), 0);
});

Deno.test("what a host has in maintenance or silenced is not told by the hub, until it is over", async () => {
  using all = await fleet();
  const { hub, member } = all;
  await using _link = linkEvents(all);
  await member.call("POST", "/api/silences", {
    matchers: { container: "web" },
    endsAt: "2026-01-01T12:30:00Z",
    comment: "Move",
  });
  emit(member.deps, "container.down", down("web"));
  await until("the hub has it", () => all.waiting() === 0);
  deepEqual(titles(hub), []);
  member.clock.advance({ minutes: 31 });
  reportHeldEvents(member.deps);
  await until("the hub has it again", () => all.waiting() === 0);
  deepEqual(titles(hub), ["edge-7: Container down: web"]);
  equal(hub.deps.fleet.received.after(0).length, 1);
});

for (const container of ["web", "edge-7/*"]) {
  Deno.test(`a silence of the hub for ${container} holds back the events of a host`, async () => {
    using all = await fleet();
    await using _link = linkEvents(all);
    await all.hub.call("POST", "/api/silences", {
      matchers: { container },
      endsAt: "2026-01-01T12:30:00Z",
      comment: "Move",
    });
    emit(all.member.deps, "container.down", down("web"));
    await until("the hub has it", () => all.waiting() === 0);
    deepEqual(titles(all.hub), []);
  });
}

Deno.test("containers of the same name on hub and host are different ones, and so are their engines", async () => {
  using all = await fleet();
  const { hub, member } = all;
  await using _link = linkEvents(all);
  setContainers(hub, { name: "web", state: "exited" });
  emit(hub.deps, "engine.down", { error: "refused", containers: 1 });
  emit(member.deps, "container.down", down("web"));
  await until("the hub has it", () => all.waiting() === 0);
  emit(hub.deps, "engine.up", { downtimeSeconds: 1, containers: 1, stopped: [] });
  deepEqual(titles(hub, { afterSeconds: 30 }).sort(), [
    "edge-7: Container down: web",
    "hub: Container engine up",
  ]);
});

Deno.test("a hundred hosts that lose one uplink are one message, and so is their return", async () => {
  using hub = testApp({ now: NOW, config: { serverName: "hub" } });
  await addChannel(hub);
  const ids = Array.from({ length: 100 }, (_, at) => addHost(hub, `edge-${at}`));
  hub.clock.advance({ minutes: 3 });
  // Beats differ by up to 15 seconds.
  hub.deps.startedAt = new Date(0);
  keepHosts(hub.deps);
  const away = titles(hub, { afterSeconds: 50 });
  equal(away.length, 1);
  match(away[0]!, /^hub: Host away: edge-\d+$/);
  for (const hostId of ids) {
    emit(hub.deps, "host.back", { host: "edge", hostId });
    hub.clock.advance({ seconds: 0.4 });
  }
  titles(hub, { afterSeconds: 10 });
  equal(titles(hub, { afterSeconds: 120 }).length, 2);
});

Deno.test("a host that sends events before the last were taken is disconnected", async () => {
  using hub = testApp({ now: NOW });
  const hostId = addHost(hub, "edge-7");
  const closed = Promise.withResolvers<string>();
  const link = { closed: closed.promise, close: closed.resolve, tell: () => {} };
  hub.deps.fleet.hosts.set(hostId, {
    ...{ link: link as never, address: "", isPending: false, waves: newWaveLink() },
  });
  // It has sent too many before, so that the next ones wait.
  hub.deps.fleet.paces.set(hostId, performance.now() + 60_000);
  const take = createIntake(hub.deps, hostId, link);
  const events = [passedDown()];
  take({ type: "events", events });
  take({ type: "events", events });
  match(await closed.promise, /events that it may not send yet/);
  equal(hub.deps.fleet.received.after(0).length, 0);
});

for (
  const { what, event, data, isLeft } of [
    { what: "of a later version", event: "container.melted", data: {}, isLeft: true },
    { what: "whose container is not a text", data: { container: {} }, isLeft: true },
    {
      what: "whose list has no texts",
      event: "alert.fired",
      data: { containers: [{}] },
      isLeft: true,
    },
    { what: "without data", event: "update.succeeded", data: {}, isLeft: false },
  ]
) {
  Deno.test(`an event ${what} does no harm${isLeft ? ", and is left to the host" : ""}`, async () => {
    using all = await fleet();
    const { hub, hostId } = all;
    const given = passedDown({ event, data });
    deepEqual(takeEvents(hub.deps, hostId, [given]).left, isLeft ? [1] : []);
    equal(titles(hub, { afterSeconds: 60 }).length, isLeft ? 0 : 1);
  });
}

/** Three managers of a swarm, all connected to one hub. */
async function swarm() {
  const hub = testApp({ now: NOW, config: { serverName: "hub" } });
  await addChannel(hub);
  const hostIds = new Map(["a", "b", "c"].map((name) => [name, addHost(hub, name)]));
  for (const hostId of hostIds.values()) {
    const link = { tell: () => {} } as never;
    const open = { link, address: "", isPending: false, waves: newWaveLink() };
    hub.deps.fleet.hosts.set(hostId, open);
  }
  let told = 0;
  return {
    hub,
    leave: (host: string) => hub.deps.fleet.hosts.delete(hostIds.get(host)!),
    /** Takes an event of an object, e.g. `node.down`. @returns Titles of the messages about it. */
    report(
      host: string,
      event: string,
      { minute, id = "n1", mode = "new", isAhead = false }: {
        minute: number;
        id?: string;
        mode?: "new" | "told";
        /** Whether the clock of the host is ahead of that of the hub. */
        isAhead?: boolean;
      },
    ): string[] {
      const data = { ...down("web"), node: "n", service: "s", id, role: "worker", image: "s:2" };
      const passed = { ...passedDown({ event, data }), mode };
      const timestamp = new Date(Date.parse(NOW) + minute * 60_000).toISOString();
      passed.event.timestamp = timestamp;
      const seconds = (Date.parse(timestamp) - hub.deps.now().getTime()) / 1_000;
      if (!isAhead && seconds > 0) hub.clock.advance({ seconds });
      takeEvents(hub.deps, hostIds.get(host)!, [passed]);
      const all = titles(hub, { afterSeconds: 60 });
      return all.slice(told, told = all.length);
    },
    [Symbol.dispose]: () => hub[Symbol.dispose](),
  };
}

Deno.test("what several managers of a swarm report reaches people once, in any order", async () => {
  using all = await swarm();
  const { report } = all;
  deepEqual(report("a", "node.down", { minute: 0 }), ["a: Node down: n"]);
  deepEqual(report("b", "node.down", { minute: 1 }), []);
  deepEqual(report("a", "node.up", { minute: 10 }), ["a: Node up: n"]);
  deepEqual(report("b", "node.up", { minute: 11 }), []);
  deepEqual(report("c", "node.down", { minute: 2 }), []);
  deepEqual(report("c", "node.up", { minute: 9 }), []);
  // Another one may report the next problem first, and its end.
  deepEqual(report("b", "node.down", { minute: 100 }), ["b: Node down: n"]);
  deepEqual(report("a", "node.down", { minute: 100 }), []);
  deepEqual(report("c", "node.up", { minute: 110 }), ["c: Node up: n"]);
  deepEqual(report("b", "node.up", { minute: 110 }), []);
  // Other objects and events that are not of a swarm are of their own.
  deepEqual(report("a", "node.down", { minute: 200, id: "n2" }), ["a: Node down: n"]);
  deepEqual(report("b", "container.down", { minute: 200 }), ["b: Container down: web"]);
  deepEqual(report("c", "container.down", { minute: 200 }), ["c: Container down: web"]);
});

Deno.test("a manager whose clock is years ahead hides nothing that others report", async () => {
  using all = await swarm();
  const { report } = all;
  report("a", "node.up", { minute: 10_000_000, isAhead: true });
  deepEqual(report("b", "node.down", { minute: 10 }), ["b: Node down: n"]);
});

Deno.test("another manager ends the problem of a connected one, and its next problem is told", async () => {
  using all = await swarm();
  const { report } = all;
  deepEqual(report("a", "service.degraded", { minute: 0 }), ["a: Service degraded: s"]);
  deepEqual(report("b", "service.recovered", { minute: 5 }), ["b: Service recovered: s"]);
  deepEqual(report("b", "service.degraded", { minute: 1_440 }), ["b: Service degraded: s"]);
});

Deno.test("a problem whose end was lost with its manager does not hide the next one", async () => {
  using all = await swarm();
  const { leave, report } = all;
  report("a", "node.down", { minute: 0 });
  leave("a");
  deepEqual(report("b", "node.down", { minute: 1 }), []);
  deepEqual(report("b", "node.down", { minute: 1_440 }), ["b: Node down: n"]);
  // The clock of one manager may be set back.
  deepEqual(report("b", "node.up", { minute: 1_380 }), ["b: Node up: n"]);
});

Deno.test("what one manager does not tell, e.g. in maintenance, another one tells", async () => {
  using all = await swarm();
  const { report } = all;
  deepEqual(report("a", "node.down", { minute: 0, mode: "told" }), []);
  deepEqual(report("b", "node.down", { minute: 0 }), ["b: Node down: n"]);
  deepEqual(report("b", "node.up", { minute: 5, mode: "told" }), []);
  deepEqual(report("c", "node.down", { minute: 9 }), ["c: Node down: n"]);
});

Deno.test("news of several managers are those of the first for five minutes", async () => {
  using all = await swarm();
  const { report } = all;
  const kind = "service.update_rolled_back";
  deepEqual(report("a", kind, { minute: 0 }), ["a: Service update rolled back: s"]);
  deepEqual(report("b", kind, { minute: 1 }), []);
  deepEqual(report("b", kind, { minute: 60 }), ["b: Service update rolled back: s"]);
});

Deno.test("a hub that is a manager itself and its hosts tell people once", async () => {
  using all = await swarm();
  const { hub, report } = all;
  emit(hub.deps, "node.down", { node: "n", id: "n1", role: "worker", reason: "" });
  deepEqual(report("a", "node.down", { minute: 0 }), ["hub: Node down: n"]);
  deepEqual(report("a", "node.up", { minute: 60 }), ["a: Node up: n"]);
  emit(hub.deps, "node.up", { node: "n", id: "n1", downtimeSeconds: 1, wasRemoved: false });
  deepEqual(report("a", "node.down", { minute: 120 }), ["a: Node down: n"]);
});

Deno.test("the end that another manager reports closes the problem of the first one", async () => {
  using all = await swarm();
  const { hub, leave, report } = all;
  const problems = () => hub.deps.db.all("SELECT key FROM notification_problems").length;
  for (
    const [begin, end] of [["node.down", "node.up"], ["service.degraded", "service.recovered"]]
  ) {
    report("a", begin!, { minute: 0, id: begin! });
    equal(problems(), 1);
    leave("a");
    equal(report("b", end!, { minute: 5, id: begin! }).length, 1);
    equal(problems(), 0);
    // A late event of the first one opens none.
    deepEqual(report("a", begin!, { minute: 4, id: begin! }), []);
    equal(problems(), 0);
  }
  const messages = hub.deps.db.all<{ payload: string }>("SELECT payload FROM outbox_messages")
    .map(({ payload }) => JSON.parse(payload));
  equal(messages.length, 4);
  equal(new Set(messages.map((message) => problemKey(message, 255))).size, 2);
});

Deno.test("clients of a host's stream and webhooks get what another manager has reported, too", async () => {
  using all = await swarm();
  const { hub, report } = all;
  const url = "https://hooks.example.com";
  await hub.call("POST", "/api/webhooks", { name: "w", url, events: ["node.down"] });
  const { body } = await hub.fetch("GET", "/api/stream?hosts=b&types=event");
  const client = sseClient(body!);
  report("a", "node.down", { minute: 0 });
  report("b", "node.down", { minute: 0 });
  report("b", "container.down", { minute: 0 });
  const event = (await client.next())!;
  deepEqual([event.data.host, event.data.title], ["b", "Node down: n"]);
  await client.cancel();
  const sent = hub.deps.db.all<{ payload: string }>(
    "SELECT payload FROM outbox_messages WHERE channel = 'webhook' ORDER BY sequence",
  );
  deepEqual(sent.map(({ payload }) => JSON.parse(payload).host), ["a", "b"]);
});

Deno.test("a hub stores no message about what another manager has reported, and the host forgets it", async () => {
  using all = await fleet();
  const { hub, member, waiting } = all;
  const other = addHost(hub, "edge-8");
  const data = { node: "edge-3", id: "n1", role: "worker", reason: "" };
  await using _open = linkEvents({ ...all, hostId: other });
  takeEvents(hub.deps, other, [passedDown({ event: "node.down", data })]);
  emit(member.deps, "node.down", data);
  await using _link = linkEvents(all);
  await until("the member has forgotten it", () => waiting() === 0);
  deepEqual(titles(hub), ["edge-8: Node down: edge-3"]);
  deepEqual(titles(member), []);
});
