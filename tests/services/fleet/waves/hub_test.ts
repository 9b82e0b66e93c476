import { deepEqual, equal, match, notEqual } from "node:assert/strict";
import { replaceFleetVerdict } from "../../../../db/fleet_verdicts.ts";
import { selectFleetKey } from "../../../../db/fleet_keys.ts";
import { insertFormerNoteKey, replaceHostNoteKey } from "../../../../db/fleet_note_keys.ts";
import { insertUpdateVerdict } from "../../../../db/updates/verdicts.ts";
import { renewNoteKey } from "../../../../services/fleet/hosts/note_keys.ts";
import { sealBlock } from "../../../../services/fleet/waves/block.ts";
import { keptBlocks } from "../../../../services/fleet/waves/kept.ts";
import {
  keepWaves,
  liftBlock,
  receiveReport,
  tellAll,
} from "../../../../services/fleet/waves/hub.ts";
import { receiveFromHost } from "../../../../services/fleet/waves/hub_link.ts";
import { newWaveLink } from "../../../../services/fleet/waves/exchange.ts";
import type { Control } from "../../../../services/fleet/link/control.ts";
import type { OpenHost } from "../../../../services/fleet/hosts/fleet.ts";
import { collectEvents, keptLog } from "../../../helpers/test_app.ts";
import { until } from "../../../helpers/until.ts";
import { smallWorld, type WaveWorld } from "../../../helpers/wave_world.ts";

const HOURS = (count: number) => ({ minutes: 60 * count });

/** The newest image of the repository `shop`, which fails. */
function publishBad(world: WaveWorld) {
  world.publish("shop", "bad");
  return world.latest.get("shop")!;
}

const blocked = ({ app }: WaveWorld): string[] =>
  keptBlocks(app.deps, "own").filter(({ isBlocked }) => isBlocked).map(({ digest }) => digest);

Deno.test("an image goes from wave to wave when it has stayed well, and says what it waits for", async () => {
  using world = await smallWorld();
  const [canary, home, shop, other] = world.members;
  world.publish("shop", "good");
  equal(await world.refusal(canary!, "shop"), undefined);
  match((await world.refusal(home!, "shop"))!, /waits for the wave wave=canary: 0 of 1 hosts/);
  await world.judge(canary!, world.latest.get("shop")!);
  world.app.clock.advance(HOURS(23));
  match((await world.refusal(home!, "shop"))!, /0 of 1 hosts have run the image well for 24/);
  world.app.clock.advance(HOURS(1));
  equal(await world.refusal(home!, "shop"), undefined);
  match((await world.refusal(shop!, "shop"))!, /wave=home/);
  match((await world.refusal(other!, "shop"))!, /wave=shop/);

  // In a wave without a host that uses the image, nothing proves it. One that is replaced is used.
  await world.report(home!);
  const { containers } = world.app.deps.fleet.copies.get(home!.id)!.lists;
  const row = { ...containers.get("shop")!, state: "exited" };
  const set = (change: object) =>
    world.app.deps.fleet.copies.get(home!.id)!.lists.containers = new Map([
      ["shop", { ...row, ...change }],
    ]);
  set({ replaced: true });
  match((await world.refusal(shop!, "shop"))!, /wave=home/);
  set({});
  equal(await world.refusal(shop!, "shop"), undefined);
  home!.runs.delete("shop");
  await world.report(home!);
  equal(await world.refusal(shop!, "shop"), undefined);
  canary!.runs.set("shop", world.latest.get("db")!.digest);
  await world.report(canary!);
  match(
    (await world.refusal(shop!, "shop"))!,
    /wave=canary/,
    "it was rolled back before it counted",
  );
});

Deno.test("an image that is unwell after its success proves nothing until it is well for long enough", async () => {
  using world = await smallWorld();
  const [canary, home] = world.members;
  const { deps, clock } = world.app;
  world.publish("shop", "good");
  await world.judge(canary!, world.latest.get("shop")!);
  const report = (state: string) =>
    receiveReport(
      deps,
      canary!.id,
      JSON.stringify({
        platform: canary!.platform,
        verdicts: canary!.verdicts.map((each) => ({ ...each, state })),
        affected: [],
      }),
    );
  clock.advance(HOURS(23));
  await report("unwell");
  clock.advance(HOURS(10));
  await report("well");
  clock.advance(HOURS(23));
  match((await world.refusal(home!, "shop"))!, /0 of 1/);
  clock.advance(HOURS(1));
  equal(await world.refusal(home!, "shop"), undefined);
});

Deno.test("the time of a host without a report proves nothing", async () => {
  using world = await smallWorld();
  const { deps, clock } = world.app;
  const [canary, home] = world.members;
  world.publish("shop", "good");
  await world.judge(canary!, world.latest.get("shop")!);
  const known = deps.fleet.hosts.get(canary!.id)!;
  world.disconnect(canary!);
  clock.advance(HOURS(25));
  // Its link is open again, before its first report.
  deps.fleet.hosts.set(canary!.id, known);
  await keepWaves(deps);
  match((await world.refusal(home!, "shop"))!, /0 of 1/);
  canary!.runs.set("shop", world.latest.get("db")!.digest);
  await world.connect(canary!);
  await keepWaves(deps);
  match((await world.refusal(home!, "shop"))!, /0 of 1/);
});

Deno.test("a host whose key cannot be read keeps no block from the others, and is in the log", async () => {
  using world = await smallWorld();
  const { deps } = world.app;
  const [damaged, ...others] = world.members;
  const publicKey = "of a damaged key";
  insertFormerNoteKey(deps.db, {
    ...{ publicKey, privateKey: "damaged", createdAt: "", nextKey: "", signature: "" },
  });
  const { publicKey: noteKey } = selectFleetKey(deps.db, "note")!;
  for (const { id } of others) replaceHostNoteKey(deps.db, { hostId: id, noteKey });
  replaceHostNoteKey(deps.db, { hostId: damaged!.id, noteKey: publicKey });
  const text = await sealBlock((bytes) => deps.passing.hub()!.sign(bytes), {
    ...{ digest: publishBad(world).digest, platform: "linux/amd64", number: 1, isBlocked: true },
    ...{ image: "shop:1", host: "hub", container: "shop", reason: "it failed", log: [] },
    ...{ at: "2026-01-01T00:00:00Z", verdicts: [] },
  });
  const { log, lines } = keptLog();
  await tellAll({ ...deps, log }, text);
  const keeps = ({ db }: typeof damaged & object) => keptBlocks({ db }, "hub").length === 1;
  await until("the others keep it", () => others.length > 0 && others.every(keeps));
  equal(keeps(damaged!), false);
  const entries = lines.map((line) => JSON.parse(line));
  deepEqual(entries.map(({ message, hostId }) => [message, hostId]), [
    ["block not sent to host", damaged!.id],
  ]);
});

Deno.test("a failure of the hub itself stays allowed, however many hosts have failed", async () => {
  using world = await smallWorld();
  const { deps } = world.app;
  const { digest } = publishBad(world);
  const [{ platform }] = world.members as [WaveWorld["members"][number]];
  const image = { digest, platform, image: "registry.test/shop:1", reason: "x", log: [] };
  for (let at = 0; at < 25; at++) {
    replaceFleetVerdict(deps.db, {
      ...{ ...image, hostId: "host-0", id: `v${at}`, outcome: "failure", container: "shop" },
      ...{ state: "gone", seenAt: "2026", wellSince: null, provenAt: null },
    });
  }
  insertUpdateVerdict(deps.db, {
    ...{ ...image, id: "own", outcome: "failure", imageId: "", containerName: "shop" },
    ...{ createdAt: "2026", isTaken: false },
  }, 100);
  await keepWaves(deps);
  deepEqual(blocked(world), [digest]);
  await liftBlock(deps, { digest, platform }, "Ada");
  await keepWaves(deps);
  deepEqual(blocked(world), []);
  await world.agree();
});

Deno.test("a failure blocks its image everywhere at once, with the name and the log of the host", async () => {
  using world = await smallWorld();
  const events = collectEvents(world.app);
  const bad = publishBad(world);
  const [first, second, away] = world.members;
  world.disconnect(away!);
  await world.judge(first!, bad);
  deepEqual(blocked(world), [bad.digest]);
  deepEqual(events.map(({ event }) => event), ["update.blocked"]);
  const { body } = await world.app.call("GET", "/api/fleet/blocked");
  const [{ id, host, reason, log }] = body.blocked;
  deepEqual({ host, reason, log }, { host: "host-0", reason: "shop failure", log: ["boom"] });
  const text = /failed on host host-0: shop failure$/;
  match(second!.gate.blockOf({ digest: bad.digest, platform: second!.platform })!, text);
  equal(second!.gate.blockOf({ digest: bad.digest, platform: "linux/arm64" }), undefined);

  // A member without its hub waits; when it is back, it knows before it asks.
  match((await world.refusal(away!, "shop"))!, /waits for the hub hub, which is away/);
  await world.connect(away!);
  match((await world.refusal(away!, "shop"))!, text);
  world.disconnect(away!);
  match((await world.refusal(away!, "shop"))!, text);

  const viewer = { role: "viewer" } as const;
  equal(
    (await world.app.call("DELETE", `/api/fleet/blocked/${id}`, undefined, viewer)).status,
    403,
  );
  equal((await world.app.call("DELETE", `/api/fleet/blocked/${id}`)).status, 200);
  equal((await world.app.call("DELETE", `/api/fleet/blocked/${id}`)).status, 404);
  equal((await world.app.call("DELETE", "/api/fleet/blocked/x")).status, 404);
  await world.report(first!);
  deepEqual(blocked(world), [], "the failure was known who lifted it");
  equal(events.at(-1)!.event, "update.block_lifted");
});

Deno.test("a hub that was restored learns from its hosts what it has blocked since", async () => {
  using world = await smallWorld();
  world.backUp();
  const bad = publishBad(world);
  const [paid, knows, late] = world.members;
  world.disconnect(late!);
  await world.judge(paid!, bad);
  world.app.clock.advance({ minutes: 1 });
  await world.restart({ isRestored: true, connects: (member) => member === late });
  deepEqual(blocked(world), []);
  match((await world.refusal(late!, "shop"))!, /has just started/);
  await world.connect(knows!);
  deepEqual(blocked(world), [bad.digest]);
  match(late!.gate.blockOf({ digest: bad.digest, platform: late!.platform })!, /host-0/);
});

Deno.test("a hub that was restored learns that a person has lifted a block, and members keep what is newer", async () => {
  using world = await smallWorld();
  const bad = publishBad(world);
  const [paid, knows] = world.members;
  await world.judge(paid!, bad);
  world.backUp();
  world.app.clock.advance({ minutes: 1 });
  await world.lift();
  await world.restart({ isRestored: true, connects: () => false });
  deepEqual(blocked(world), [bad.digest]);
  await world.connect(knows!);
  deepEqual(blocked(world), []);
  equal(knows!.gate.blockOf({ digest: bad.digest, platform: knows!.platform }), undefined);
  await world.connect(paid!);
  deepEqual(blocked(world), []);
  // A failure of now is newer than all that members know.
  paid!.verdicts = [{ ...paid!.verdicts[0]!, id: "again" }];
  await world.report(paid!);
  deepEqual(blocked(world), [bad.digest]);
  match(knows!.gate.blockOf({ digest: bad.digest, platform: knows!.platform })!, /host-0/);
});

Deno.test("a lifted block is lifted at hosts that keep it with the signature of a former key", async () => {
  using world = await smallWorld();
  const { app, members } = world;
  const [canary, home] = members;
  publishBad(world);
  await world.judge(canary!, world.latest.get("shop")!);
  world.disconnect(home!);
  app.clock.advance({ days: 31 });
  const former = selectFleetKey(app.deps.db, "note")!.publicKey;
  await renewNoteKey(app.deps);
  notEqual(selectFleetKey(app.deps.db, "note")!.publicKey, former);
  await world.lift();
  await world.connect(home!);
  for (const { db } of members) {
    deepEqual(keptBlocks({ db }, "hub").map(({ isBlocked }) => isBlocked), [false]);
  }
});

Deno.test("a host can block only images of containers that it has, and few of them", async () => {
  using world = await smallWorld();
  const [bad] = world.members;
  const send = (verdicts: object[]) =>
    receiveReport(
      world.app.deps,
      bad!.id,
      JSON.stringify({
        platform: bad!.platform,
        verdicts: verdicts.map((each, at) => ({
          ...{ id: `v${at}`, outcome: "failure", platform: bad!.platform, reason: "x", log: [] },
          ...{ digest: `sha256:${String(at).padStart(64, "f")}`, state: "gone" },
          ...{ container: "shop", image: "registry.test/shop:1" },
          ...each,
        })),
        affected: [],
      }),
    );
  await send([
    { image: "registry.test/other:1" },
    { container: "web" },
    { image: `sha256:${"0".repeat(64)}` },
  ]);
  deepEqual(blocked(world), []);
  await send(Array.from({ length: 30 }, () => ({})));
  equal(blocked(world).length, 20);
  await world.report(bad!);
  for (const wrong of [{ digest: "*" }, { platform: "x" }, { log: Array(21).fill("") }]) {
    await send([wrong]).then(() => {
      throw new Error("accepted");
    }, () => {});
  }
});

Deno.test("messages of a host that waits for an admin, and more than a host needs, are left out", async () => {
  using world = await smallWorld();
  const { deps } = world.app;
  const sent: Control[] = [];
  let reason = "";
  const open = {
    link: {
      tell: (message: Control) => sent.push(message),
      close: (text: string) => reason = text,
    },
    ...{ address: "", isPending: true, waves: newWaveLink() },
  } as unknown as OpenHost;
  const { id, platform } = world.members[0]!;
  const ask = { type: "ask", id: 1, digest: "sha256:x", platform, image: "shop" } as const;
  const receive = (message: Parameters<typeof receiveFromHost>[1]["message"]) =>
    receiveFromHost(deps, { id, open, message });
  receive(ask);
  open.isPending = false;
  for (let at = 0; at < 50; at++) receive(ask);
  for (let at = 0; at < 3; at++) receive({ type: "blocks_wanted" });
  await open.waves.queue;
  equal(sent.filter(({ type }) => type === "answer").length, 20);
  equal(sent.filter(({ type }) => type === "blocks").length, 1);
  for (let at = 0; at < 201; at++) receive({ type: "block", text: "forged.AAAA" });
  await open.waves.queue;
  match(reason, /too many blocks/);
  deepEqual(keptBlocks(deps, "own"), []);
});
