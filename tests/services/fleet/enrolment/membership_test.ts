import { deepEqual, equal, match, ok } from "node:assert/strict";
import { selectHubLinkState, upsertHubLinkState } from "../../../../db/fleet_hub_link.ts";
import { selectMembership, updateMembership } from "../../../../db/fleet_membership.ts";
import { keepDialing } from "../../../../services/fleet/enrolment/member.ts";
import { beginHubLink } from "../../../../services/fleet/enrolment/membership.ts";
import { listenForHub } from "../../../../services/fleet/enrolment/listen.ts";
import { freePort } from "../../../helpers/free_port.ts";
import { linkedFleet } from "../../../helpers/linked_fleet.ts";
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

Deno.test("a member shows why the hub cannot be reached, and when it tries again", async () => {
  await using all = await linkedFleet();
  const { member } = all;
  const { deps } = member;
  const { hostId } = selectMembership(deps.db)!;
  updateMembership(deps.db, hostId, { address: `https://127.0.0.1:${freePort()}` });
  deps.fleet.refresh();
  // The process was killed while the link was open.
  const since = "2025-01-01T00:00:00.000Z";
  upsertHubLinkState(deps.db, { isOpen: true, since, reason: null });
  beginHubLink(deps);
  deepEqual(selectHubLinkState(deps.db), {
    ...{ isOpen: false, since: deps.now().toISOString(), reason: "the service was started" },
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
  deepEqual((await member.call("GET", PATH)).body, { membership: null, waitsUntil: null });
  const [entry] = (await member.call("GET", "/api/audit")).body.entries;
  deepEqual([entry.action, entry.target], [`DELETE ${PATH}`, "hub"]);
  const again = await member.call("DELETE", PATH);
  deepEqual([again.status, again.body.error], [409, "This host is not in a fleet"]);
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
