import { deepEqual, equal, match, rejects, throws } from "node:assert/strict";
import { insertFleetHost } from "../../../../db/fleet_hosts.ts";
import { applyFrame, emptyCopy } from "../../../../services/fleet/copies/copy.ts";
import { followHost } from "../../../../services/fleet/copies/follow.ts";
import { type Budget, createBudget, readFrames } from "../../../../services/fleet/copies/frames.ts";
import { setContainers } from "../../../helpers/fake_containers.ts";
import { scriptHost, sendText, type TestFleet, testFleet } from "../../../helpers/fleet.ts";
import { until } from "../../../helpers/until.ts";

const FREE: Budget = { spend: () => {} };
const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

function follow({ hub, host }: TestFleet, budget = FREE) {
  const copy = emptyCopy();
  const stop = new AbortController();
  const given = { copy, budget, signal: stop.signal, onChange: () => {} };
  const ended = followHost(hub.deps, host, given);
  ended.catch(() => {});
  return { copy, ended, [Symbol.dispose]: () => stop.abort() };
}

Deno.test("a hub has the lists of a host, and follows their changes", async () => {
  await using fleet = await testFleet();
  setContainers(
    fleet.member,
    { name: "web", composeProject: "shop" },
    { name: "db", composeProject: "shop" },
  );
  using following = follow(fleet);
  const { copy } = following;
  const names = () => [...copy.lists.containers.values()].map(({ name }) => name);
  await until("all parts", () => copy.asOf.alerts !== null);
  deepEqual(names().sort(), ["db", "web"]);
  deepEqual([...copy.lists.stacks.keys()], ["compose/shop"]);
  equal(copy.host!.cpuCount > 0, true);
  setContainers(fleet.member, { name: "web", composeProject: "shop", state: "exited" });
  await until("the change", () => copy.lists.containers.size === 1);
  equal([...copy.lists.containers.values()][0]!.state, "exited");
});

for (
  const { what, text, error } of [
    { what: "no JSON", text: "event: host\ndata: {\n\n", error: /JSON/ },
    { what: "another shape", text: `event: host\ndata: {"engine":1}\n\n`, error: /engine/ },
    { what: "an endless frame", text: "x".repeat(2 * 1024 * 1024 + 1), error: /too long/ },
  ]
) {
  Deno.test(`a host that sends ${what} is not followed further`, async () => {
    await using fleet = await testFleet();
    scriptHost(fleet, (stream) => sendText(stream, HEAD + text));
    await rejects(follow(fleet).ended, error);
    equal(fleet.hub.deps.passing.passages.size, 0);
  });
}

for (
  const { status, error } of [
    {
      status: 404,
      error: /^Host edge-7 does not have GET \/api\/feed; it runs version 0\.1\.0-3$/,
    },
    { status: 503, error: /^The host does not send its lists \(status 503\)$/ },
  ]
) {
  Deno.test(`a host that answers ${status} instead of its lists is told apart`, async () => {
    await using fleet = await testFleet();
    const { id, name, labels } = fleet.host;
    insertFleetHost(fleet.hub.deps.db, {
      ...{ id, name, labels, linkKey: "k", noteKey: "", machine: "", version: "0.1.0-3" },
      ...{ address: "", inviteId: null, dialAddress: null, challenge: 0, joinedAt: "" },
      ...{ isPending: false, isConnected: true, isReportedAway: false },
      ...{ leftAt: null, lastSeenAt: null },
    });
    scriptHost(fleet, (stream) => sendText(stream, `HTTP/1.1 ${status} No\r\n\r\n`));
    await rejects(follow(fleet).ended, ({ message }) => error.test(message));
  });
}

Deno.test("a host has a budget of bytes, which its time fills again", () => {
  let at = 0;
  const { spend } = createBudget(() => at);
  spend(4 * 1024 * 1024);
  throws(() => spend(1), /sends too much/);
  at += 1_000;
  spend(64 * 1024);
  throws(() => spend(1), /sends too much/);
});

Deno.test("short frames use up the budget as well", async () => {
  const frame = new TextEncoder().encode("event: current\ndata: []\n\n".repeat(100));
  const endless = (async function* () {
    await Promise.resolve();
    for (;;) yield frame;
  })();
  let count = 0;
  await rejects(async () => {
    for await (const _ of readFrames(endless, createBudget(() => 0))) count++;
  }, /sends too much/);
  equal(count < 4_096, true, `${count} frames`);
});

Deno.test("a host that changes its report again and again is not followed further", async () => {
  await using fleet = await testFleet();
  const reports = [null, "linux/amd64"].map((platform) =>
    `event: verdicts\ndata: ${JSON.stringify({ platform, verdicts: [], affected: [] })}\n\n`
  );
  scriptHost(fleet, (stream) => sendText(stream, HEAD + reports.join("").repeat(130)));
  await rejects(follow(fleet, createBudget(() => 0)).ended, /sends too much/);
});

Deno.test("frames are read however they are cut, and unknown ones are left out", async () => {
  const text = `: hi\n\nevent: current\ndata: ["alerts"]\n\nevent: later\ndata: é\n\n`;
  const bytes = new TextEncoder().encode(text);
  const pieces = (async function* () {
    await Promise.resolve();
    for (const byte of bytes) yield Uint8Array.of(byte);
  })();
  const copy = emptyCopy();
  const seen: string[] = [];
  for await (const frame of readFrames(pieces, FREE)) {
    applyFrame(copy, frame, new Date("2026-01-01T14:02:00Z"));
    seen.push(`${frame.event} ${frame.data}`);
  }
  deepEqual(seen, [`current ["alerts"]`, "later é"]);
  match(copy.asOf.alerts!, /14:02/);
  equal(copy.asOf.host, null);
});

for (const allows of [undefined, null, "admin", "deploy"]) {
  Deno.test(`the figures of a host that allows ${allows} are read`, () => {
    const copy = emptyCopy();
    const figures = {
      ...{ engine: "29.0.0", cpuPercent: 1, cpuCount: 2, memoryPercent: 3, diskPercent: 4 },
      ...{ allows },
    };
    applyFrame(copy, { event: "host", data: JSON.stringify(figures) }, new Date());
    deepEqual(copy.host, { ...figures, allows: allows === "admin" ? "admin" : null });
  });
}

Deno.test("a host cannot grow its copy beyond the limits by changes", () => {
  const copy = emptyCopy();
  const row = {
    ...{ kind: "compose", status: "healthy", services: 1 },
    ...{ containerCount: 1, running: 1, unhealthy: 0 },
  };
  const send = (from: number) => {
    const set = Array.from({ length: 400 }, (_, at) => {
      const name = String(from + at);
      return { ...row, name, id: name };
    });
    const data = JSON.stringify({ isWhole: false, set, removed: [] });
    applyFrame(copy, { event: "stacks", data }, new Date());
  };
  send(0);
  throws(() => send(400), /too many stacks/);
  equal(copy.lists.stacks.size, 400);
});
