import { deepEqual, equal, match } from "node:assert/strict";
import { emptyCopy } from "../../../services/fleet/copies/copy.ts";
import { openTargetRepository } from "../../../services/backup/targets/open.ts";
import { encodeTarHeader } from "../../../services/backup/tar.ts";
import type { Deps } from "../../../services/deps.ts";
import { temporaryDirectory } from "../../helpers/command.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { setContainers } from "../../helpers/fake_containers.ts";
import { type TestFleet, testFleet } from "../../helpers/fleet.ts";
import { randomTree } from "../../helpers/random_tree.ts";
import { collect, entriesOf, signal, type TestEntry } from "../../helpers/repository.ts";
import type { TestApp } from "../../helpers/test_app.ts";
import { ended } from "../../helpers/test_stack.ts";

const SNAPSHOTS = "/api/backup/snapshots";

/** A fleet whose hub and host have a target each; with `edge-8`, a second name of the host. */
async function sendingFleet(fleetAllow: "admin" | "operate" = "admin") {
  const directory = temporaryDirectory();
  const fake = await fakeEngine({ "GET /volumes": () => Response.json({ Volumes: [] }) });
  const { engine } = fake;
  const fleet = await testFleet({
    hub: { engine, config: { dataDir: directory.path } },
    member: { engine, config: { fleetAllow } },
  });
  const hub = fleet.hub.deps.passing.hub()!;
  fleet.hub.deps.passing.hub = () => ({
    ...hub,
    findHost: (ref) =>
      ["edge-8", "host-8"].includes(ref)
        ? { ...fleet.host, id: "host-8", name: "edge-8" }
        : hub.findHost(ref),
  });
  for (const app of [fleet.hub, fleet.member]) {
    setContainers(app);
    equal((await app.call("POST", "/api/backup/targets", { name: "own" })).status, 201);
  }
  return {
    fleet,
    async [Symbol.asyncDispose]() {
      await fleet[Symbol.asyncDispose]();
      await fake[Symbol.asyncDispose]();
      directory[Symbol.dispose]();
    },
  };
}

/** A tree that a restore takes. */
function plainTree(): TestEntry[] {
  let seed = 7;
  const random = () => (seed = seed * 16807 % 2147483647) / 2147483647;
  return [...randomTree("volumes/data", random)].filter(({ type }) => type !== "fifo");
}

async function store({ deps }: TestApp, entries: readonly TestEntry[]): Promise<string> {
  using opened = await openTargetRepository(deps as Deps, undefined, signal);
  const { snapshot } = await opened.repository.backup(entriesOf(entries), {
    paths: ["/volumes/data"],
    tags: ["longshore", "stack=shop", "reason=update", "kept-until=2026-01-02"],
    hostname: "srv1",
    username: "longshore",
  }, signal);
  return snapshot.id;
}

async function read({ deps }: TestApp, id: string) {
  using opened = await openTargetRepository(deps as Deps, undefined, signal);
  const { repository } = opened;
  return {
    entries: await collect(repository.entries(id, { paths: ["volumes/data"] }, signal)),
    snapshot: await repository.snapshot(id, signal),
  };
}

/** The snapshot as the host has it, after a send with these options. */
async function send(
  { hub }: TestFleet,
  id: string,
  body: Record<string, unknown>,
) {
  const started = await hub.call("POST", `${SNAPSHOTS}/${id}/send`, { restore: false, ...body });
  equal(started.status, 202, JSON.stringify(started.body));
  return await ended(hub, started.body.id);
}

Deno.test("a snapshot goes to a host, and from one host to another", async () => {
  await using test = await sendingFleet();
  const { fleet } = test;
  const { hub, member } = fleet;
  const tree = plainTree();
  const id = await store(hub, tree);
  const before = (await read(hub, id)).entries;

  const sent = await send(fleet, id, { host: "edge-7" });
  equal(sent.status, "succeeded", sent.error ?? "");
  const { snapshot, host, target, restored } = sent.result as Record<string, string>;
  deepEqual([host, target, restored], ["edge-7", "own", null]);
  const arrived = await read(member, snapshot!);
  deepEqual(arrived.entries, before);
  const { tags, paths } = arrived.snapshot;
  deepEqual(paths, ["/volumes/data"]);
  deepEqual(tags.slice(0, 4), ["longshore", "stack=shop", "reason=manual", "received"]);
  match(tags[4]!, /^note=from srv1; \d{4}-/);

  const passed = await send(fleet, snapshot!, { from: "edge-7", host: "edge-8" });
  equal(passed.status, "succeeded", passed.error ?? "");
  const { snapshot: second, added } = passed.result as { snapshot: string; added: number };
  deepEqual((await read(member, second)).entries, before);
  equal(added < 10_000, true, `${added} bytes were added again`);
});

Deno.test("a host that does not allow it says so, and an unknown or away one is refused at once", async () => {
  await using test = await sendingFleet("operate");
  const { fleet } = test;
  const id = await store(fleet.hub, plainTree());
  const refused = await send(fleet, id, { host: "edge-7" });
  equal(refused.status, "failed");
  match(refused.error!, /^Host edge-7 answered: .*(role|permission)/i);
  const { body } = await fleet.member.call("GET", SNAPSHOTS);
  deepEqual(body.snapshots, []);

  const path = `${SNAPSHOTS}/${id}/send`;
  // The job of a restore is of the host.
  const scope = { permissions: ["backup:read", "backup:write", "files:read"] };
  const blind = await fleet.hub.call("POST", path, { host: "edge-7" }, { scope });
  equal(blind.status, 403, JSON.stringify(blind.body));
  const figures = { engine: null, cpuPercent: 0, cpuCount: 1, memoryPercent: 0, diskPercent: 0 };
  const { copies } = fleet.hub.deps.fleet;
  copies.set(fleet.host.id, { ...emptyCopy(), host: { ...figures, allows: "operate" } });
  const known = await fleet.hub.call("POST", path, { host: "edge-7" });
  deepEqual([known.status, known.body.error], [
    409,
    "Host edge-7 takes no snapshots (FLEET_ALLOW=operate); set FLEET_ALLOW=admin there",
  ]);
  copies.delete(fleet.host.id);
  equal((await fleet.hub.call("POST", path, { host: "edge-9" })).status, 404);
  equal((await fleet.hub.call("POST", path, { host: "edge-7", from: "edge-7" })).status, 400);
  fleet.link = undefined;
  equal((await fleet.hub.call("POST", path, { host: "edge-7" })).status, 503);
});

const header = (name: string, size: number) => encodeTarHeader({ name, type: "0", size });

const WRONG = {
  "ends early": (archive: Uint8Array) => archive.subarray(0, archive.length >> 1),
  "has no description": () => header("tree/file", 0),
  "lacks its volume": (archive: Uint8Array) =>
    new Uint8Array([...archive.subarray(0, 1_536), ...new Uint8Array(1_024)]),
  "has a path that leads out": (archive: Uint8Array) =>
    new Uint8Array([...archive.subarray(0, 1_024), ...header("tree/../../etc/cron", 0)]),
} as const;

Deno.test("an archive that was changed is refused, and is not listed", async () => {
  await using test = await sendingFleet();
  const { fleet: { hub } } = test;
  const id = await store(hub, plainTree());
  const response = await hub.fetch("GET", `${SNAPSHOTS}/${id}/archive`);
  equal(response.status, 200);
  const archive = new Uint8Array(await response.arrayBuffer());
  const headers = { "content-type": "application/x-tar" };
  const receive = (query: string, content: Uint8Array) =>
    hub.call("POST", `${SNAPSHOTS}/receive?${query}`, content, { headers });
  for (const [name, change] of Object.entries(WRONG)) {
    const { status, body } = await receive(`snapshot=${id}`, change(archive));
    equal(status, 409, `${name}: ${JSON.stringify(body)}`);
  }
  match((await receive("snapshot=00000000", archive)).body.error, /not of snapshot 00000000/);
  match((await receive(`snapshot=${id}&size=1`, archive)).body.error, /more than the 1 bytes/);
  equal((await hub.call("GET", SNAPSHOTS)).body.total, 1);
});
