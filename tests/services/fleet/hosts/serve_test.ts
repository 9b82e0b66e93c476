import { deepEqual, equal, match, notEqual, throws } from "node:assert/strict";
import { runAlertRound } from "../../../../services/alerts/evaluator.ts";
import { createInvite, type NewInvite } from "../../../../services/fleet/enrolment/invites.ts";
import { toText } from "../../../../services/fleet/enrolment/keys.ts";
import { decodeToken } from "../../../../services/fleet/enrolment/token.ts";
import { createAdmission } from "../../../../services/fleet/hosts/admission.ts";
import { keepHosts, REPORT_MS } from "../../../../services/fleet/hosts/keeper.ts";
import { serveLink } from "../../../../services/fleet/hosts/serve.ts";
import { stateOf } from "../../../../services/fleet/hosts/state.ts";
import { type Channel, dialEnrolment, dialLink } from "../../../../services/fleet/link/channel.ts";
import { createConnection } from "../../../../services/fleet/link/connection.ts";
import type { Control } from "../../../../services/fleet/link/control.ts";
import { createLink } from "../../../../services/fleet/link/link.ts";
import { newWaveLink } from "../../../../services/fleet/waves/exchange.ts";
import { AWAY_MS, type OpenLink } from "../../../../services/fleet/link/open_link.ts";
import { createKeyPair, type KeyPair } from "../../../../services/fleet/link/noise.ts";
import { createSocketPair } from "../../../helpers/socket_pair.ts";
import { collectEvents, type TestApp, testApp } from "../../../helpers/test_app.ts";
import { eventually, until } from "../../../helpers/until.ts";

const HOUR_MS = 3_600_000;
const noteKey = toText(new Uint8Array(32));

function hubApp() {
  const app = testApp({
    now: "2026-01-01T12:00:00Z",
    config: { serviceBaseUrl: "https://hub.example.com" },
  });
  app.deps.fleet.steadyMs = () => app.deps.now().getTime();
  return app;
}

async function invite({ deps }: TestApp, given: Partial<NewInvite> = {}) {
  const defaults = { labels: {}, count: 1, expiresMinutes: 30, acceptsAtOnce: true };
  const { token } = await createInvite(deps, { ...defaults, ...given }, { userId: "key" });
  return decodeToken(token);
}

type Token = Awaited<ReturnType<typeof invite>>;

/** A connection to the hub, served as if a host had dialed. */
function connect({ deps }: TestApp, address = "192.0.2.7") {
  const [member, hub] = createSocketPair();
  void serveLink(deps, hub, address);
  return createConnection(member);
}

interface Joined {
  answer: Control<"enrolled" | "refused">;
  hubKey: Channel["peerKey"];
}

/** Joins with an invite. Rejects with the reason of the hub if it refuses the handshake. */
async function join(app: TestApp, token: Token, keys: KeyPair, name = "edge-7"): Promise<Joined> {
  const connection = connect(app);
  const channel = await dialEnrolment(connection, {
    keys,
    invite: { id: token.inviteId, secret: token.secret },
    assertHub: () => Promise.resolve(),
  });
  await channel.sendControl({ type: "enrol", name, version: "1", machine: "test", noteKey });
  const answer = await channel.receiveControl("enrolled", "refused");
  return { answer, hubKey: channel.peerKey };
}

type Challenge = Control<"hello">["challenge"];

/** Dials as a member, and confirms the challenge unless `keeps` is false. */
async function dial(
  app: TestApp,
  { keys, hubKey, challenge = null, address, keeps = true, opened }: {
    keys: KeyPair;
    hubKey: Channel["peerKey"];
    challenge?: Challenge;
    address?: string;
    keeps?: boolean;
    opened?: Channel;
  },
) {
  const channel = opened ?? await dialLink(connect(app, address), { keys, hubKey });
  await channel.sendControl({ type: "hello", version: "1", challenge });
  const answer = await channel.receiveControl("welcome", "refused");
  if (answer.type === "refused") return { answer };
  if (keeps) await channel.sendControl({ type: "kept", counter: answer.challenge.counter });
  const controls: Control[] = [];
  const link = createLink(channel, {
    peer: "hub",
    isClient: true,
    onControl: (message) => controls.push(message),
    clock: { wallMs: () => 0, steadyMs: () => 0 },
  });
  // The hub has processed all that was sent before.
  await link.probe();
  return { answer, link, controls };
}

async function joined(app: TestApp, given: Partial<NewInvite> = {}) {
  const keys = await createKeyPair();
  const { answer, hubKey } = await join(app, await invite(app, given), keys);
  if (answer.type !== "enrolled") throw new Error(answer.reason);
  return { keys, hubKey, hostId: answer.hostId };
}

const hosts = async (app: TestApp) => (await app.call("GET", "/api/fleet/hosts")).body.hosts;

/** Waits until the hub has heard all that its hosts have sent, and the answers to its beats. */
const allHeard = ({ deps }: TestApp) =>
  Promise.all([...deps.fleet.hosts.values()].map(({ link }) => link.probe()));

/** The answer of the hub to a request for edge-7. */
async function passed(app: TestApp) {
  const { status, body } = await app.call("GET", "/api/fleet/hosts/edge-7/api/containers");
  return [status, body.error];
}

/** The given challenge of an answer, for the next connection. */
const challengeOf = (answer: Control<"welcome" | "refused">): Challenge =>
  answer.type === "welcome" ? answer.challenge : null;

Deno.test("A host joins, waits for an admin, and is connected", async () => {
  using app = hubApp();
  const events = collectEvents(app);
  const member = await joined(app, { acceptsAtOnce: false, labels: { site: "kiel" } });
  const { link, answer, controls } = await dial(app, member);
  equal(answer.type === "welcome" && answer.isPending, true);
  const [pending] = await hosts(app);
  deepEqual([pending.name, pending.state, pending.labels], ["edge-7", "pending", { site: "kiel" }]);
  equal(app.deps.fleet.link(member.hostId), undefined);
  deepEqual(await passed(app), [503, "Host edge-7 has not been accepted yet"]);

  const accepted = await app.call("POST", `/api/fleet/hosts/${member.hostId}/accept`);
  equal(accepted.body.state, "connected");
  await until("the member knows", () => controls?.some(({ type }) => type === "accepted"));
  notEqual(app.deps.fleet.link(member.hostId), undefined);
  equal((await hosts(app))[0].address, "192.0.2.7");
  await app.call("PUT", `/api/fleet/hosts/${member.hostId}`, { labels: { site: "bonn" } });
  const labels = () => controls!.flatMap((each) => each.type === "labels" ? each.labels.site : []);
  await eventually(() => deepEqual(labels(), ["kiel", "bonn"]));

  await allHeard(app);
  app.clock.advance({ minutes: 1 });
  link!.close("bye");
  await eventually(async () => {
    const [host] = await hosts(app);
    deepEqual([host.state, host.since], ["away", "2026-01-01T12:00:00.000Z"]);
  });
  deepEqual(events.map(({ event }) => event), ["host.joined"]);
});

Deno.test("An invite is for one key: a stolen one is refused, the same machine may repeat it", async () => {
  using app = hubApp();
  const token = await invite(app);
  const keys = await createKeyPair();
  const first = await join(app, token, keys);
  const again = await join(app, token, keys);
  deepEqual(again.answer, first.answer);

  const stolen = await join(app, token, await createKeyPair(), "thief");
  match((stolen.answer as Control<"refused">).reason, /The invite was used or has expired/);
  equal((await hosts(app)).length, 1);
});

Deno.test("An expired, a deleted and a foreign invite are refused before anything is sealed", async () => {
  using app = hubApp();
  const expired = await invite(app);
  app.clock.advance({ minutes: 31 });
  const deleted = await invite(app);
  await app.call("DELETE", `/api/fleet/invites/${deleted.inviteId}`);
  for (const token of [expired, deleted, { ...deleted, inviteId: "AAAA" }]) {
    const reason = await join(app, token, await createKeyPair()).catch((error) => error.message);
    match(String(reason), /The invite is unknown, used or expired/);
  }
});

Deno.test("An invite for several hosts counts them, and their names must match", async () => {
  using app = hubApp();
  const token = await invite(app, { count: 2, pattern: "edge-*" });
  const answers: string[] = [];
  for (const name of ["shop", "edge-1", "edge-1", "edge-2", "edge-3"]) {
    const { answer } = await join(app, token, await createKeyPair(), name);
    answers.push(answer.type === "enrolled" ? answer.name : answer.reason);
  }
  deepEqual(answers, [
    "The invite is for names like edge-*; use --name",
    "edge-1",
    "Another host has the name edge-1",
    "edge-2",
    "The invite was used or has expired",
  ]);
});

Deno.test("A host that claims the name of another one is refused, in any case of its letters", async () => {
  using app = hubApp();
  await joined(app);
  deepEqual(await passed(app), [503, "Host edge-7 has not connected yet"]);
  for (const name of ["edge-7", "Edge-7"]) {
    const { answer } = await join(app, await invite(app), await createKeyPair(), name);
    deepEqual([answer.type, "reason" in answer && answer.reason], [
      "refused",
      "Another host has the name edge-7",
    ]);
  }
  equal((await hosts(app)).length, 1);
});

Deno.test("A copy of a machine is refused while the true one is connected, and afterwards", async () => {
  using app = hubApp();
  const events = collectEvents(app);
  const member = await joined(app);
  const first = await dial(app, member);
  // The copy was made now: it has the newest challenge.
  const copied = challengeOf(first.answer);
  const live = await dial(app, { ...member, challenge: copied, address: "192.0.2.66" });
  match((live.answer as Control<"refused">).reason, /Another machine has the key/);
  first.link!.close("restart");
  await until("the link has ended", () => app.deps.fleet.hosts.size === 0);

  const second = await dial(app, { ...member, challenge: copied });
  equal(second.answer.type, "welcome");
  second.link!.close("restart");
  await until("the link has ended", () => app.deps.fleet.hosts.size === 0);
  const copy = await dial(app, { ...member, challenge: copied, address: "192.0.2.66" });
  equal(copy.answer.type, "refused");

  const [duplicate, ...others] = events.filter(({ event }) => event === "host.duplicate");
  deepEqual(others, []);
  deepEqual(
    { ...duplicate!.data, hostId: "" },
    { host: "edge-7", hostId: "", address: "192.0.2.66", otherAddress: "192.0.2.7" },
  );

  // An admin decides for the copy.
  await app.call("POST", `/api/fleet/hosts/${member.hostId}/accept`);
  equal((await dial(app, { ...member, challenge: copied })).answer.type, "welcome");
});

Deno.test("Of several connections with one key at the same time, one is kept", async () => {
  using app = hubApp();
  const events = collectEvents(app);
  const member = await joined(app);
  const channels = await Promise.all([1, 2, 3].map(() => dialLink(connect(app), member)));
  const dialed = await Promise.allSettled(
    channels.map((opened) => dial(app, { ...member, opened })),
  );
  const open = dialed.filter((each) => each.status === "fulfilled" && each.value.link);
  deepEqual([open.length, app.deps.fleet.hosts.size], [1, 1]);
  equal((await dial(app, member)).answer.type, "refused");
  deepEqual(events.map(({ event }) => event), ["host.joined", "host.duplicate"]);
});

Deno.test("A member whose confirmation was lost connects again", async () => {
  using app = hubApp();
  const member = await joined(app);
  const { link } = await dial(app, { ...member, keeps: false });
  link!.close("crash");
  await until("the link has ended", () => app.deps.fleet.hosts.size === 0);
  equal((await dial(app, member)).answer.type, "welcome");
});

Deno.test("A hub that was restored from a backup accepts newer challenges of its own", async () => {
  using app = hubApp();
  const member = await joined(app);
  const backup = app.deps.db.all<{ challenge: number }>("SELECT challenge FROM fleet_hosts")[0]!;
  let challenge: Challenge = null;
  for (let count = 0; count < 3; count++) {
    const { link, answer } = await dial(app, { ...member, challenge });
    challenge = challengeOf(answer);
    link!.close("restart");
    await until("the link has ended", () => app.deps.fleet.hosts.size === 0);
  }
  app.deps.db.run("UPDATE fleet_hosts SET challenge = :challenge", backup);
  equal((await dial(app, { ...member, challenge })).answer.type, "welcome");
});

Deno.test("A host that leaves or is removed is told so, and a foreign key is not a member", async () => {
  using app = hubApp();
  const member = await joined(app);
  const { link, controls } = await dial(app, member);
  await app.call("DELETE", `/api/fleet/hosts/${member.hostId}`);
  match(await link!.closed, /removed/);
  deepEqual(controls!.at(-1), { type: "refused", reason: "The host was removed", isFinal: true });
  const { answer } = await dial(app, member);
  const unknown = { isFinal: false, isUnknown: true };
  deepEqual(answer, { type: "refused", reason: "This host is not in the fleet", ...unknown });

  const other = await joined(app);
  const leaving = await dial(app, other);
  leaving.link!.tell({ type: "leave" });
  await eventually(async () => equal((await hosts(app))[0].state, "left"));
  const again = await dial(app, other);
  equal((again.answer as Control<"refused">).isFinal, true);
});

Deno.test("the limits of a connection are raised for a host of the fleet, not for any key", async () => {
  using app = hubApp();
  const member = await joined(app);
  const proved: string[] = [];
  const dialAs = async (who: string, keys: KeyPair) => {
    const [near, far] = createSocketPair();
    void serveLink(app.deps, far, "192.0.2.7", { onProved: () => void proved.push(who) });
    const opened = await dialLink(createConnection(near), { ...member, keys });
    return (await dial(app, { ...member, opened })).answer.type;
  };
  equal(await dialAs("a foreign key", await createKeyPair()), "refused");
  equal(await dialAs("the host", member.keys), "welcome");
  deepEqual(proved, ["the host"]);
});

Deno.test("keepHosts() reports a host that is away for two minutes, and its return, once", async () => {
  using app = hubApp();
  const events = collectEvents(app);
  const member = await joined(app);
  const { link, answer } = await dial(app, member);
  link!.close("power failure");
  await until("the link has ended", () => app.deps.fleet.hosts.size === 0);
  app.clock.advance({ ms: REPORT_MS - 1 });
  keepHosts(app.deps);
  app.clock.advance({ ms: 1 });
  keepHosts(app.deps);
  keepHosts(app.deps);
  await dial(app, { ...member, challenge: challengeOf(answer) });
  deepEqual(events.map(({ event }) => event), ["host.joined", "host.away", "host.back"]);
});

Deno.test("an alert rule counts the hosts that are away, once they have had time to connect", async () => {
  using app = hubApp();
  const events = collectEvents(app);
  const { body: { id } } = await app.call("POST", "/api/alerts/rules", {
    ...{ name: "Away", metric: "fleet_hosts_away", operator: ">", threshold: 0 },
    durationSeconds: 0,
  });
  const problem = async () => {
    await runAlertRound(app.deps);
    return (await app.call("GET", `/api/alerts/rules/${id}`)).body.problem;
  };
  equal(await problem(), "This server has no hosts");
  const member = await joined(app);
  const { link, answer } = await dial(app, member);
  app.clock.advance({ seconds: 59 });
  equal(await problem(), "The service has just started");
  app.clock.advance({ seconds: 20 });
  equal(await problem(), null);
  link!.close("power failure");
  await until("the link has ended", () => app.deps.fleet.hosts.size === 0);
  app.clock.advance({ seconds: 15 });
  await runAlertRound(app.deps);
  await dial(app, { ...member, challenge: challengeOf(answer) });
  app.clock.advance({ seconds: 15 });
  await runAlertRound(app.deps);
  deepEqual(events.flatMap(({ data }) => "message" in data ? data.message : []), [
    "The number of hosts that are away is 1 (limit: above 0): edge-7",
    "The number of hosts that are away is 0 (no longer above 0)",
  ]);
});

Deno.test("A host that fell silent was last seen when its last message arrived", async () => {
  using app = hubApp();
  await dial(app, await joined(app));
  await allHeard(app);
  app.clock.advance({ ms: AWAY_MS });
  keepHosts(app.deps);
  await until("the hub has given the link up", () => app.deps.fleet.hosts.size === 0);
  const [{ state, since, lastSeenAt }] = await hosts(app);
  const heardAt = "2026-01-01T12:00:00.000Z";
  deepEqual({ state, since, lastSeenAt }, { state: "away", since: heardAt, lastSeenAt: heardAt });
});

Deno.test("keepHosts() closes silent links", async () => {
  using app = hubApp();
  const ticked: string[] = [];
  const member = await joined(app);
  const link = {
    tick: () => ticked.push("tick"),
    silentMs: 40_000,
    clock: { offset: 0, roundTrip: 0 },
  } as unknown as OpenLink;
  app.deps.fleet.hosts.set(member.hostId, {
    ...{ link, address: "", isPending: false },
    waves: newWaveLink(),
  });
  keepHosts(app.deps);
  deepEqual(ticked, ["tick"]);
  const [host] = await hosts(app);
  deepEqual([host.state, host.lastSeenAt], ["late", "2026-01-01T11:59:20.000Z"]);
});

for (
  const { host, silentMs, state } of [
    { host: { isPending: true }, silentMs: 0, state: "pending" },
    { host: {}, silentMs: 30_000, state: "connected" },
    { host: {}, silentMs: 30_001, state: "late" },
    { host: { lastSeenAt: "2026-01-01T00:00:00Z" }, silentMs: 75_000, state: "away" },
    { host: { lastSeenAt: "2026-01-01T00:00:00Z" }, silentMs: undefined, state: "away" },
    { host: {}, silentMs: undefined, state: "never" },
    { host: { isPending: true, leftAt: "2026-01-01T00:00:00Z" }, silentMs: 0, state: "left" },
  ]
) {
  Deno.test(`A host is ${state} with ${JSON.stringify(host)}, ${silentMs} ms after its message`, () => {
    const stored = { isPending: false, lastSeenAt: null, leftAt: null, ...host };
    equal(stateOf(stored, silentMs).state, state);
  });
}

Deno.test("createAdmission() keeps half of its places for addresses of hosts", () => {
  const admission = createAdmission(() => new Date(HOUR_MS), (group) => group.startsWith("192."));
  const never = () => new Promise<void>(() => {});
  for (let count = 0; count < 10; count++) admission.run(`203.0.113.${count}`, never);
  throws(() => admission.run("203.0.113.99", never), /Too many hosts connect/);
  for (let count = 0; count < 10; count++) admission.run(`192.0.2.${count}`, never);
  throws(() => admission.run("192.0.2.99", never), /Too many hosts connect/);
});

Deno.test("createAdmission() allows 20 handshakes in a second, and 64 at a time", async () => {
  let ms = HOUR_MS;
  const admission = createAdmission(() => new Date(ms), () => true);
  const held = Promise.withResolvers<void>();
  const tryOnce = (_: unknown, index: number) => {
    try {
      admission.run(`192.0.2.${index}`, () => held.promise);
      return true;
    } catch (error) {
      match(String(error), /Too many hosts connect/);
      return false;
    }
  };
  const accepted = () => Array.from({ length: 25 }, tryOnce).filter(Boolean).length;
  const counts = [];
  for (let second = 0; second < 4; second++, ms += 1_000) counts.push(accepted());
  deepEqual(counts, [20, 20, 20, 4]);
  held.resolve();
  await held.promise;
  await Promise.resolve();
  ms += 1_000;
  equal(accepted(), 20);
});

Deno.test("createAdmission() allows one client 8 handshakes at a time, and forgets a failed one", () => {
  let ms = HOUR_MS;
  const admission = createAdmission(() => new Date(ms += 1_000), () => true);
  for (let count = 0; count < 100; count++) {
    throws(() =>
      admission.run("192.0.2.1", () => {
        throw new Error("no handshake");
      }), /no handshake/);
  }
  const never = () => new Promise<void>(() => {});
  for (let count = 0; count < 8; count++) admission.run(`2001:db8::${count}`, never);
  throws(() => admission.run("2001:db8::9", never), /Too many hosts connect/);
  admission.run("192.0.2.1", never);
});

Deno.test("createAdmission() gives up the oldest silent handshake when all places are taken", () => {
  let ms = HOUR_MS;
  const admission = createAdmission(() => new Date(ms += 1_000), () => true);
  const givenUp: string[] = [];
  const begin = (address: string, isSilent = true) =>
    admission.run(address, (place) => {
      if (isSilent) place.giveUp = () => givenUp.push(address);
      return new Promise(() => {});
    });
  begin("192.0.2.0", false);
  for (let count = 1; count < 64; count++) begin(`192.0.2.${count}`);
  begin("198.51.100.1");
  deepEqual(givenUp, ["192.0.2.1"]);
  for (let count = 0; count < 8; count++) begin("198.51.100.1");
  deepEqual(givenUp.slice(-2), ["192.0.2.8", "198.51.100.1"]);
});

Deno.test("changed() wakes after a difference only: anyone may cause a refresh", async () => {
  using app = hubApp();
  const { fleet } = app.deps;
  let isHub = false;
  const woken = fleet.changed(AbortSignal.timeout(60_000)).then(() => isHub = fleet.isHub);
  await app.fetch("GET", "/fleet/link");
  fleet.refresh();
  await Promise.resolve();
  await invite(app);
  await woken;
  equal(isHub, true);
});

Deno.test("A host that was removed waits for an admin, although its invite accepts at once", async () => {
  using app = hubApp();
  const token = await invite(app, { count: 3 });
  const keys = await createKeyPair();
  const first = (await join(app, token, keys)).answer as Control<"enrolled">;
  equal(first.isPending, false);
  await app.call("DELETE", `/api/fleet/hosts/${first.hostId}`);
  equal(((await join(app, token, keys)).answer as Control<"enrolled">).isPending, true);
});
