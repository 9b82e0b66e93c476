import { deepEqual, equal, match, ok } from "node:assert/strict";
import { upsertEndedMembership } from "../../../../db/fleet_ended_membership.ts";
import { insertFleetHost } from "../../../../db/fleet_hosts.ts";
import { selectHubLinkState, upsertHubLinkState } from "../../../../db/fleet_hub_link.ts";
import { replaceFormerFleetKey } from "../../../../db/fleet_keys.ts";
import { selectMembership, updateMembership } from "../../../../db/fleet_membership.ts";
import { createFleetKey } from "../../../../services/fleet/enrolment/keys.ts";
import { keepDialing, linkToHub } from "../../../../services/fleet/enrolment/member.ts";
import { beginHubLink, recordHubLink } from "../../../../services/fleet/enrolment/membership.ts";
import { listenForHub } from "../../../../services/fleet/enrolment/listen.ts";
import { LATE_MS } from "../../../../services/fleet/link/open_link.ts";
import { freePort } from "../../../helpers/free_port.ts";
import { connect, invite, join, linkedFleet } from "../../../helpers/linked_fleet.ts";
import { type TestApp, testApp } from "../../../helpers/test_app.ts";
import { until } from "../../../helpers/until.ts";

const PATH = "/api/fleet/membership";

const read = async (app: TestApp) => (await app.call("GET", PATH)).body.membership;

/** Number of changes of the membership that clients were told. */
const changesOf = ({ deps }: TestApp): number => deps.changes.counts[PATH] ?? 0;

Deno.test("a member shows its hub, the state of the link since when, and its name and labels there", async () => {
  await using all = await linkedFleet();
  const { hub, member, host, linked } = all;
  const joined = await read(member);
  deepEqual(
    [joined.hub, joined.name, joined.dials, joined.address, joined.allows, joined.runsPrograms],
    ["hub", "edge-7", "host", "https://hub.example.com", "operate", false],
  );
  deepEqual([joined.state, joined.since, joined.reason], ["never", null, null]);
  const [{ fingerprint }] = (await hub.call("GET", "/api/fleet/hosts")).body.hosts;
  deepEqual([joined.fingerprint, joined.hubFingerprint === fingerprint], [fingerprint, false]);

  const openedAt = member.clock.now().toISOString();
  await linked(async () => {
    const { state, since, reason } = await read(member);
    deepEqual([state, since, reason], ["connected", openedAt, null]);
    const before = changesOf(member);
    const labels = { site: "kiel" };
    await hub.call("PUT", `/api/fleet/hosts/${host.id}`, { name: "edge-8", labels });
    await until("they have arrived", () => changesOf(member) > before);
    const changed = await read(member);
    deepEqual([changed.name, changed.labels], ["edge-8", labels]);
    member.clock.advance({ minutes: 1 });
  });
  const away = await read(member);
  deepEqual([away.state, away.since], ["away", member.clock.now().toISOString()]);
  match(away.reason, /the host is stopping/);
  const asViewer = { role: "viewer" } as const;
  equal((await member.call("GET", PATH, undefined, asViewer)).status, 200);
  equal((await member.call("DELETE", PATH, undefined, asViewer)).status, 403);
});

Deno.test("hub and member call a silent link late, until the next beat", async () => {
  await using all = await linkedFleet();
  const { hub, member, host, linked, pass } = all;
  let ms = 0;
  for (const { deps } of [hub, member]) deps.fleet.steadyMs = () => ms;
  const states = async () => {
    const [atHub] = (await hub.call("GET", "/api/fleet/hosts")).body.hosts;
    return `${atHub.state} ${(await read(member)).state}`;
  };
  await linked(async () => {
    equal(await states(), "connected connected");
    // A beat of the member may end the silence before it is seen.
    await until("both are late", async () => {
      ms += LATE_MS + 1;
      return await states() === "late late";
    });
    equal(await pass(), 200);
    await hub.deps.fleet.hosts.get(host.id)!.link.probe();
    equal(await states(), "connected connected");
  });
});

Deno.test("a member shows why the hub cannot be reached, and when it tries again", async () => {
  await using all = await linkedFleet();
  const { member } = all;
  const { deps } = member;
  const { hostId } = selectMembership(deps.db)!;
  updateMembership(deps.db, hostId, { address: `https://127.0.0.1:${freePort()}` });
  deps.fleet.refresh();
  // The process was killed while the link was open.
  const since = "2025-01-01T00:00:00.000Z";
  upsertHubLinkState(deps.db, { isOpen: true, since, reason: null, unknownSince: null });
  beginHubLink(deps);
  deepEqual(selectHubLinkState(deps.db), {
    ...{ isOpen: false, since: deps.now().toISOString(), reason: "the service was started" },
    unknownSince: null,
  });

  const end = new AbortController();
  const before = changesOf(member);
  const dialing = keepDialing(deps, end.signal, () => {});
  await until("it waits", () => deps.fleet.hub.nextTryAt);
  const { state, reason, nextTryAt } = await read(member);
  equal(state, "away");
  match(reason, /cannot be reached: .*ECONNREFUSED/);
  ok(nextTryAt > deps.now().toISOString());
  ok(changesOf(member) > before);
  end.abort();
  await dialing;
  equal((await read(member)).nextTryAt, null);
});

Deno.test("a member leaves the fleet by the API, which its hub learns, and its audit log has it", async () => {
  await using all = await linkedFleet();
  const { hub, member, linked } = all;
  const states = async () =>
    (await hub.call("GET", "/api/fleet/hosts")).body.hosts.map((each: { state: string }) =>
      each.state
    );
  await linked(async () => {
    equal((await member.call("DELETE", PATH)).status, 200);
    await until("the link has ended", () => member.deps.fleet.hub.link === undefined);
  });
  await until("the hub knows", async () => (await states())[0] === "left");
  deepEqual((await member.call("GET", PATH)).body, {
    ...{ membership: null, waitsUntil: null, ended: null },
  });
  const [entry] = (await member.call("GET", "/api/audit")).body.entries;
  deepEqual([entry.action, entry.target], [`DELETE ${PATH}`, "hub"]);
  const again = await member.call("DELETE", PATH);
  deepEqual([again.status, again.body.error], [409, "This host is not in a fleet"]);
});

Deno.test("a member whose hub removes it over the link shows that, until it joins again or the entry is deleted", async () => {
  await using all = await linkedFleet();
  const { hub, member, host, linked } = all;
  await linked(async () => {
    await hub.call("DELETE", `/api/fleet/hosts/${host.id}`);
    await until("the link has ended", () => member.deps.fleet.hub.link === undefined);
  });
  const state = async () => (await member.call("GET", PATH)).body;
  const ended = {
    ...{ hub: "hub", name: "edge-7", reason: "The host was removed" },
    endedAt: member.clock.now().toISOString(),
  };
  deepEqual(await state(), { membership: null, waitsUntil: null, ended });
  equal((await member.call("DELETE", PATH)).status, 200);
  equal((await state()).ended, null);
  equal((await member.call("DELETE", PATH)).status, 409);

  upsertEndedMembership(member.deps.db, ended);
  await join(member, hub, "edge-7", (await invite(hub)).token);
  deepEqual([(await state()).ended, (await read(member)).name], [null, "edge-7"]);
});

Deno.test("a member learns that it was removed while its link was opened", async () => {
  await using all = await linkedFleet();
  const { hub, member, host } = all;
  const { deps } = member;
  const connection = connect(hub);
  const { send } = connection;
  let removal: Promise<unknown> | undefined;
  connection.send = async (message) => {
    if (removal) await Promise.all([removal, connection.closed]);
    await send(message);
  };
  const onOpen = () =>
    void (removal ??= until("the hub has the link", () => hub.deps.fleet.link(host.id)).then(() =>
      hub.call("DELETE", `/api/fleet/hosts/${host.id}`)
    ));
  const dialing = { unknown: 0, unproved: 0 };
  const { signal } = new AbortController();
  const membership = selectMembership(deps.db)!;
  equal(await linkToHub(deps, membership, { connection, dialing, onOpen }, signal), "refused");
  const { ended } = (await member.call("GET", PATH)).body;
  equal(ended.reason, "The host was removed");
});

Deno.test("a member that its hub does not know shows since when, once the hub has refused all of its keys", async () => {
  await using all = await linkedFleet();
  const { hub, member, host, linked } = all;
  const { deps, clock } = member;
  await linked();
  await hub.call("DELETE", `/api/fleet/hosts/${host.id}`);
  replaceFormerFleetKey(deps.db, await createFleetKey(deps, "link"));
  const dialing = { unknown: 0, unproved: 0 };
  const dial = async () => {
    const connection = connect(hub);
    const { signal } = new AbortController();
    const membership = selectMembership(deps.db)!;
    equal(await linkToHub(deps, membership, { connection, dialing }, signal), "refused");
    const { state, reason, unknownSince } = await read(member);
    deepEqual([state, reason], ["away", "This host is not in the fleet"]);
    return unknownSince;
  };
  equal(await dial(), null);
  clock.advance({ minutes: 2 });
  const since = clock.now().toISOString();
  equal(await dial(), since);
  clock.advance({ minutes: 2 });
  equal(await dial(), since);
  recordHubLink(deps, host.id, { reason: "The hub cannot be reached" });
  equal((await read(member)).unknownSince, since);

  // The hub was restored once more, from a newer backup.
  insertFleetHost(hub.deps.db, host);
  await linked();
  equal((await read(member)).unknownSince, null);
});

Deno.test("a host that waits for a hub shows until when, and stops it", async () => {
  using app = testApp({ config: { serviceBaseUrl: "https://edge-7.example.com" } });
  const { expiresAt } = await listenForHub(app.deps, {
    ...{ name: "edge-7", machine: "test", address: undefined },
  });
  app.deps.fleet.refresh();
  const waitsUntil = async () => (await app.call("GET", PATH)).body.waitsUntil;
  equal(await waitsUntil(), expiresAt);
  equal((await app.call("DELETE", PATH)).status, 200);
  equal(await waitsUntil(), null);
});
