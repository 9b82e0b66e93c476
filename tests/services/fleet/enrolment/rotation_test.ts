import { deepEqual, equal, notEqual } from "node:assert/strict";
import { selectFleetHosts, updateFleetHost } from "../../../../db/fleet_hosts.ts";
import { selectFleetKey } from "../../../../db/fleet_keys.ts";
import { deleteMembership } from "../../../../db/fleet_membership.ts";
import { confirmNextKeys, selectFleetHostByNextKey } from "../../../../db/fleet_next_keys.ts";
import { createInvite } from "../../../../services/fleet/enrolment/invites.ts";
import { linkKeys, toText } from "../../../../services/fleet/enrolment/keys.ts";
import {
  dialKeys,
  dueKeys,
  KEY_MAX_MS,
  ownKeys,
  receiveRekeyed,
  useNextKeys,
} from "../../../../services/fleet/enrolment/rotation.ts";
import { decodeToken } from "../../../../services/fleet/enrolment/token.ts";
import { createRekeying } from "../../../../services/fleet/hosts/rekeying.ts";
import { serveLink } from "../../../../services/fleet/hosts/serve.ts";
import { dialEnrolment, dialLink } from "../../../../services/fleet/link/channel.ts";
import { createConnection } from "../../../../services/fleet/link/connection.ts";
import type { Control } from "../../../../services/fleet/link/control.ts";
import { createLink } from "../../../../services/fleet/link/link.ts";
import type { OpenLink } from "../../../../services/fleet/link/open_link.ts";
import type { KeyPair } from "../../../../services/fleet/link/noise.ts";
import { createSocketPair } from "../../../helpers/socket_pair.ts";
import { testApp } from "../../../helpers/test_app.ts";
import { until } from "../../../helpers/until.ts";

/** A hub with a member, both in this process. */
async function joinedPair() {
  const hub = testApp({ config: { serviceBaseUrl: "https://hub.example.com" } });
  const member = testApp();
  const connect = () => {
    const [near, far] = createSocketPair();
    void serveLink(hub.deps, far, "192.0.2.7");
    return createConnection(near);
  };
  const { token } = await createInvite(hub.deps, {
    ...{ labels: {}, count: 1, expiresMinutes: 30, acceptsAtOnce: true },
  }, { userId: "key" });
  const { inviteId, secret } = decodeToken(token);
  const enrolling = await dialEnrolment(connect(), {
    keys: await linkKeys(member.deps),
    invite: { id: inviteId, secret },
    assertHub: () => Promise.resolve(),
  });
  const given = { name: "edge-7", version: "1", machine: "test" };
  await enrolling.sendControl({ type: "enrol", ...given, noteKey: toText(new Uint8Array(32)) });
  await enrolling.receiveControl("enrolled");
  let challenge: Control<"hello">["challenge"] = null;

  /** Dials with keys; sends `message` and returns what the hub answered. */
  async function dial(keys: KeyPair, message?: Control): Promise<Control[] | "refused"> {
    const channel = await dialLink(connect(), { keys, hubKey: enrolling.peerKey });
    await channel.sendControl({ type: "hello", version: "1", challenge });
    const answer = await channel.receiveControl("welcome", "refused");
    if (answer.type === "refused") return "refused";
    challenge = answer.challenge;
    await channel.sendControl({ type: "kept", counter: challenge.counter });
    const controls: Control[] = [];
    const link = createLink(channel, {
      peer: "hub",
      isClient: true,
      onControl: (each) => void controls.push(each),
      clock: { wallMs: () => 0, steadyMs: () => 0 },
    });
    if (message) link.tell(message);
    await link.probe();
    link.close("the test has ended it");
    await link.closed;
    // The hub sends others of its own accord.
    return controls.filter(({ type }) => type === "rekeyed");
  }
  const keyAtHub = () => selectFleetHosts(hub.deps.db)[0]!.linkKey;
  const end = async () => {
    await until("the hub has seen the end", () => hub.deps.fleet.hosts.size === 0);
    hub[Symbol.dispose]();
    member[Symbol.dispose]();
  };
  return { hub, member, dial, keyAtHub, end };
}

/** The first key that is tried, and the one after it. */
const FIRST = { isHub: false, unknown: 0 };
const SECOND = { isHub: false, unknown: 1 };

const later = (app: Awaited<ReturnType<typeof joinedPair>>["member"]) => ({
  ...app.deps,
  now: () => new Date(app.deps.now().getTime() + KEY_MAX_MS),
});

Deno.test("keys are not replaced before they are 30 days old", async () => {
  const { member, end } = await joinedPair();
  equal(await dueKeys(member.deps), undefined);
  await end();
});

for (const crash of ["before the hub's answer", "after it", "before the welcome", "never"]) {
  Deno.test(`a member and its hub agree on new keys, with a crash ${crash}`, async () => {
    const { member, dial, keyAtHub, end } = await joinedPair();
    const deps = later(member);
    const before = keyAtHub();
    const announced = (await dueKeys(deps))!;
    // A crash repeats the announcement with the same keys.
    deepEqual(await dueKeys(deps), announced);
    const [answer] = await dial(await linkKeys(deps), announced) as Control[];
    deepEqual(answer, { type: "rekeyed", linkKey: announced.linkKey });
    equal(keyAtHub(), before);
    if (crash === "before the hub's answer") {
      equal((await dialKeys(deps, FIRST)).use, "own");
      notEqual(await dial((await dialKeys(deps, FIRST)).keys, announced), "refused");
    }
    receiveRekeyed(deps, answer as Control<"rekeyed">);
    equal(await dueKeys(deps), undefined);
    // Until the new key was used, the old one is valid as well.
    if (crash === "after it") notEqual(await dial((await dialKeys(deps, SECOND)).keys), "refused");

    const next = await dialKeys(deps, FIRST);
    equal(next.use, "next");
    if (crash === "before the welcome") notEqual(await dial(next.keys), "refused");
    notEqual(await dial(next.keys), "refused");
    const old = await linkKeys(deps);
    useNextKeys(deps);
    equal(keyAtHub(), announced.linkKey);
    equal(selectFleetKey(deps.db, "link")!.publicKey, announced.linkKey);
    equal(selectFleetKey(deps.db, "note")!.publicKey, announced.noteKey);
    equal(await dial(old), "refused");
    notEqual(await dial((await dialKeys(deps, FIRST)).keys), "refused");
    equal(await dueKeys(deps), undefined);
    await end();
  });
}

Deno.test("a hub that was restored from a backup before a rotation learns the keys of its member", async () => {
  const { hub, member, dial, keyAtHub, end } = await joinedPair();
  const deps = later(member);
  const [backup] = selectFleetHosts(hub.deps.db);
  const announced = (await dueKeys(deps))!;
  await dial(await linkKeys(deps), announced);
  receiveRekeyed(deps, { type: "rekeyed", linkKey: announced.linkKey });
  notEqual(await dial((await dialKeys(deps, FIRST)).keys), "refused");
  useNextKeys(deps);
  updateFleetHost(hub.deps.db, backup!.id, { linkKey: backup!.linkKey, noteKey: backup!.noteKey });

  equal(await dial((await dialKeys(deps, FIRST)).keys), "refused");
  const former = await dialKeys(deps, SECOND);
  equal(former.use, "other");
  const { linkKey } = announced;
  deepEqual(await dial(former.keys, await ownKeys(deps)), [{ type: "rekeyed", linkKey }]);
  notEqual(await dial((await dialKeys(deps, FIRST)).keys), "refused");
  equal(keyAtHub(), linkKey);
  await end();
});

Deno.test("keys that a hub does not know are tried in turn, without those that it never had", async () => {
  const { member, end } = await joinedPair();
  const deps = later(member);
  const uses = async (isHub: boolean) =>
    (await Promise.all([0, 1, 2, 3].map((unknown) => dialKeys(deps, { isHub, unknown }))))
      .map(({ use }) => use);
  await dueKeys(deps);
  deepEqual(await uses(false), ["own", "own", "own", "own"]);
  confirmNextKeys(deps.db);
  deepEqual(await uses(false), ["next", "own", "next", "own"]);
  deepEqual(await uses(true), ["own", "other", "own", "other"]);
  useNextKeys(deps);
  deepEqual(await uses(false), ["own", "other", "own", "other"]);
  // A host that leaves has agreed with no other hub on them.
  deleteMembership(deps.db);
  deepEqual(await uses(false), ["own", "own", "own", "own"]);
  await end();
});

Deno.test("a hub stores and answers one announcement of a link, and ends it at another one", async () => {
  const { hub, member, end } = await joinedPair();
  const { db } = hub.deps;
  const announced = (await dueKeys(later(member)))!;
  const { linkKey, noteKey } = announced;
  const answers: unknown[] = [];
  const link = {
    tell: (answer: Control) => answers.push(answer),
    close: (reason: string) => answers.push(reason),
  } as unknown as OpenLink;
  const receive = createRekeying(db, selectFleetHosts(db)[0]!.id);
  for (let count = 0; count < 3; count++) receive(announced, link);
  deepEqual(answers, [{ type: "rekeyed", linkKey }]);
  receive({ type: "rekey", linkKey: noteKey, noteKey }, link);
  equal(answers.at(-1), "other new keys were announced before");
  equal(selectFleetHostByNextKey(db, noteKey), undefined);
  await end();
});

Deno.test("a host cannot announce the key of another one, and one that the hub forgot is not used", async () => {
  const { hub, member, dial, end } = await joinedPair();
  const deps = later(member);
  const announced = (await dueKeys(deps))!;
  const linkKey = selectFleetHosts(hub.deps.db)[0]!.linkKey;
  deepEqual(await dial(await linkKeys(deps), { ...announced, linkKey }), []);
  receiveRekeyed(deps, { type: "rekeyed", linkKey: announced.linkKey });
  // As after a restore from a backup.
  equal(await dial((await dialKeys(deps, FIRST)).keys), "refused");
  notEqual(await dial((await dialKeys(deps, SECOND)).keys), "refused");
  await end();
});
