import { deepEqual, equal } from "node:assert/strict";
import { decodeHostIds, encodeHostIds } from "../../../../services/fleet/logs/cursor.ts";
import { containerOf } from "../../../helpers/fake_containers.ts";
import { type TestFleet, testFleet } from "../../../helpers/fleet.ts";
import { logEngine } from "../../../helpers/log_app.ts";
import { type LogClient, logClient } from "../../../helpers/log_client.ts";
import { until } from "../../../helpers/until.ts";

const STREAM = "/api/fleet/logs/stream";

/** A hub with the host edge-7, which has logs, and edge-8, which is away until it gets a link. */
async function hostsWithLogs() {
  const { fake, logs, contain } = logEngine();
  const fleet = await testFleet({ member: { engine: fake.engine } });
  contain(fleet.member, containerOf({ name: "web" }), containerOf({ name: "db" }));
  const away = { ...fleet.host, id: "host-8", name: "edge-8" };
  const both = [fleet.host, away];
  const side = fleet.hub.deps.passing.hub()!;
  let isBack = false;
  fleet.hub.deps.passing.hub = () => ({
    ...side,
    findHost: (ref) => both.find(({ id, name }) => id === ref || name === ref),
    link: (id) => id === "host-8" && !isBack ? undefined : fleet.link,
  });
  return {
    fleet,
    logs,
    bringBack: () => void (isBack = true),
    async [Symbol.asyncDispose]() {
      fleet.member.deps.logStreams.close();
      await fleet[Symbol.asyncDispose]();
      await fake[Symbol.asyncDispose]();
    },
  };
}

async function open({ hub }: TestFleet, query: string, headers = {}): Promise<LogClient> {
  const { status, body } = await hub.fetch("GET", `${STREAM}?${query}`, undefined, { headers });
  equal(status, 200);
  return logClient(body!);
}

/** The next frame of a type. */
async function next(client: LogClient, type: string) {
  for (;;) {
    const frame = await client.next();
    if (!frame || frame.type === type) return frame;
  }
}

Deno.test("logs of several hosts are merged, and an away host is named until it is back", async () => {
  await using all = await hostsWithLogs();
  const { fleet, logs } = all;
  logs.web!.write("one");
  const client = await open(
    fleet,
    "container=edge-7/web&container=edge-8/web&container=edge-8/db&tail=10",
  );
  const frames = [(await client.next())!, (await client.next())!];
  const [missing] = frames.filter(({ type }) => type === "missing");
  deepEqual(missing!.data, {
    host: "edge-8",
    missing: [{ containers: ["web", "db"], reason: "away" }],
  });
  const [log] = frames.filter(({ type }) => type === "log");
  const { host, container, message } = log!.data;
  deepEqual([host, container, message], ["edge-7", "web", "one"]);

  all.bringBack();
  const back = await next(client, "missing");
  deepEqual(back!.data, { host: "edge-8", missing: [] });
  const first = await next(client, "log");
  equal(first!.data.host, "edge-8");
  await client.cancel();
  await until("nothing is left open", () => fleet.open === 0);
  equal(fleet.hub.deps.limiters.hostLogStreams.taken, 0);

  // With the last id, each host continues where the client was.
  logs.web!.write("two");
  const again = await open(fleet, "container=edge-7/web&container=edge-8/web", {
    "last-event-id": first!.id,
  });
  const lines = [(await next(again, "log"))!, (await next(again, "log"))!];
  deepEqual(lines.map(({ data }) => `${data.host} ${data.message}`).sort(), [
    "edge-7 two",
    "edge-8 two",
  ]);
  await again.cancel();
});

Deno.test("a container that a host does not have, and a host that refuses, are told apart", async () => {
  await using all = await hostsWithLogs();
  const { fleet } = all;
  const client = await open(fleet, "container=edge-7/none");
  deepEqual((await next(client, "missing"))!.data, {
    host: "edge-7",
    missing: [{ containers: ["none"], reason: "gone" }],
  });
  await client.cancel();
  fleet.sign = () => Promise.resolve(new Uint8Array(64));
  const refused = await open(fleet, "container=edge-7/web");
  deepEqual((await next(refused, "missing"))!.data.missing, [
    { containers: ["web"], reason: "refused" },
  ]);
  await refused.cancel();
});

for (
  const { query, status } of [
    { query: "container=web", status: 400 },
    { query: "container=edge-7/web/x", status: 400 },
    { query: "container=edge-9/web", status: 404 },
    { query: "container=edge-7/web&regex=(", status: 400 },
    { query: "container=edge-7/web&stdout=false&stderr=false", status: 400 },
  ]
) {
  Deno.test(`${query} is ${status}, before a host is asked`, async () => {
    await using all = await hostsWithLogs();
    equal((await all.fleet.hub.call("GET", `${STREAM}?${query}`)).status, status);
    equal(all.fleet.open, 0);
  });
}

Deno.test("ids of frames have the last id of each host, and nothing else is read from them", () => {
  const ids = new Map([["edge-7", "AWl9-_"], ["edge.8", "x"]]);
  deepEqual(decodeHostIds(encodeHostIds(ids)), ids);
  deepEqual([...decodeHostIds(`a:b,c,:d,e:f:g,h:\r\n,${"i".repeat(64)}:j`)], [["a", "b"]]);
});
