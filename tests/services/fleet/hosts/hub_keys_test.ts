/** New keys of a hub, with both ends of the link as they are. @module */

import { deepEqual, equal, match, notEqual, rejects } from "node:assert/strict";
import { deleteFleetHost, selectFleetHosts } from "../../../../db/fleet_hosts.ts";
import { selectFormerHubKeys, selectKnownHubKeys } from "../../../../db/fleet_hub_keys.ts";
import { replaceFleetKey, selectFleetKey } from "../../../../db/fleet_keys.ts";
import {
  type FormerNoteKey,
  replaceKnownNoteKeys,
  selectFormerNoteKeys,
  selectKnownNoteKeys,
} from "../../../../db/fleet_note_keys.ts";
import { deleteMembership, selectMembership } from "../../../../db/fleet_membership.ts";
import { selectNextKey } from "../../../../db/fleet_next_keys.ts";
import { enrol } from "../../../../services/fleet/enrolment/join.ts";
import {
  createFleetKey,
  linkKeys,
  openNoteKey,
  toBytes,
  toText,
} from "../../../../services/fleet/enrolment/keys.ts";
import { linkToHub } from "../../../../services/fleet/enrolment/member.ts";
import { dialKeys, KEY_MAX_MS } from "../../../../services/fleet/enrolment/rotation.ts";
import { checkOf, createNoteKeyReceiver } from "../../../../services/fleet/enrolment/note_keys.ts";
import { decodeToken } from "../../../../services/fleet/enrolment/token.ts";
import { renewHubKey } from "../../../../services/fleet/hosts/hub_keys.ts";
import { renewNoteKey } from "../../../../services/fleet/hosts/note_keys.ts";
import { dialEnrolment, dialLink } from "../../../../services/fleet/link/channel.ts";
import { tellAll } from "../../../../services/fleet/waves/hub.ts";
import { signWith } from "../../../../services/fleet/notes/note.ts";
import { isSuccession, signSuccession } from "../../../../services/fleet/notes/succession.ts";
import { sealBlock } from "../../../../services/fleet/waves/block.ts";
import { keepBlock, keptBlocks } from "../../../../services/fleet/waves/kept.ts";
import { connect, HUB, invite, join, linkedFleet } from "../../../helpers/linked_fleet.ts";
import { type TestApp, testApp } from "../../../helpers/test_app.ts";
import { until } from "../../../helpers/until.ts";

/** Lets 30 days go by for both. */
function advance({ hub, member }: { hub: TestApp; member: TestApp }): void {
  for (const { clock } of [hub, member]) clock.advance({ seconds: KEY_MAX_MS / 1000 });
}

/** Lets 30 days go by for both, and the hub make its next key. @returns It and the one before. */
async function renew({ hub, member }: { hub: TestApp; member: TestApp }) {
  const before = selectFleetKey(hub.deps.db, "link")!;
  advance({ hub, member });
  await renewHubKey(hub.deps);
  const after = selectFleetKey(hub.deps.db, "link")!;
  notEqual(after.publicKey, before.publicKey);
  return { before, after };
}

Deno.test("a member follows the new key of its hub, and requests pass before and after it", async () => {
  await using all = await linkedFleet();
  const { hub, linked, pass } = all;
  await renewHubKey(hub.deps);
  deepEqual(selectFormerHubKeys(hub.deps.db), []);
  await linked(async () => {
    await renew(all);
    equal(await pass(), 200);
  });
  await linked(async () => equal(await pass(), 200));
  // Without the member, which is away for more than a year.
  for (let month = 0; month < 14; month++) await renew(all);
  equal(selectFormerHubKeys(hub.deps.db).length, 12);
  await rejects(linked());
});

/** Lets 30 days go by for both, and the hub make its next key for notes. */
async function renewNotes({ hub, member }: { hub: TestApp; member: TestApp }): Promise<string> {
  advance({ hub, member });
  await renewNoteKey(hub.deps);
  return selectFleetKey(hub.deps.db, "note")!.publicKey;
}

const keyOfHost = ({ hub, host }: { hub: TestApp; host: { id: string } }) =>
  hub.deps.fleet.hosts.get(host.id)?.noteKey;

Deno.test("a member learns the new key for notes of its hub over the link, and requests pass meanwhile", async () => {
  await using all = await linkedFleet();
  const { hub, member, linked, pass } = all;
  await renewNoteKey(hub.deps);
  deepEqual(selectFormerNoteKeys(hub.deps.db), []);
  await linked(async () => {
    const next = await renewNotes(all);
    // The hub signs with the former key until the member has confirmed the new one.
    equal(await pass(), 200);
    await until("the member has confirmed it", () => keyOfHost(all) === next);
    deepEqual(selectKnownNoteKeys(member.deps.db)[0], next);
    equal(await pass(), 200);
  });
  // The member is away for a year, and learns one key after the other.
  for (let month = 0; month < 12; month++) await renewNotes(all);
  const newest = selectFleetKey(hub.deps.db, "note")!.publicKey;
  await linked(async () => {
    equal(await pass(), 200);
    await until("the member has confirmed all", () => keyOfHost(all) === newest);
    equal(await pass(), 200);
  });
  equal(selectKnownNoteKeys(member.deps.db)[0], newest);
});

Deno.test("a crash at any step of a new key for notes leaves a key that both have", async () => {
  await using all = await linkedFleet();
  const { hub, member, linked, pass } = all;
  const first = selectFleetKey(hub.deps.db, "note")!.publicKey;
  const next = await renewNotes(all);
  const confirmed = async () => {
    await until("it is confirmed", () => keyOfHost(all) === next);
  };
  // Each end of the link is the same for the hub as being killed: it keeps nothing that is confirmed.
  await linked(confirmed);
  await linked(async () => {
    equal(await pass(), 200);
    await confirmed();
  });
  // The member was restored from a backup of before it stored the key.
  replaceKnownNoteKeys(member.deps.db, []);
  await linked(async () => {
    await until("it has it again", () => selectKnownNoteKeys(member.deps.db).includes(next));
    await confirmed();
    equal(await pass(), 200);
  });
  // The hub was restored from a backup of before, and makes another key.
  hub.deps.db.run("DELETE FROM fleet_host_note_keys");
  const [former] = selectFormerNoteKeys(hub.deps.db);
  hub.deps.db.run("DELETE FROM fleet_note_keys");
  replaceFleetKey(hub.deps.db, {
    ...{ purpose: "note", publicKey: first, privateKey: former!.privateKey },
    createdAt: former!.createdAt,
  });
  await linked(async () => equal(await pass(), 200));
  const other = await renewNotes(all);
  notEqual(other, next);
  await linked(async () => {
    await until("the member has confirmed it", () => keyOfHost(all) === other);
    equal(await pass(), 200);
  });
});

Deno.test("a new key for notes whose message is lost is told again over the next link", async () => {
  await using all = await linkedFleet();
  const { hub, host, linked, pass } = all;
  let next = "";
  const lost: string[] = [];
  await linked(async () => {
    const { link } = hub.deps.fleet.hosts.get(host.id)!;
    const { tell } = link;
    link.tell = (message) =>
      message.type === "note_key" ? void lost.push(message.noteKey) : tell(message);
    next = await renewNotes(all);
    await link.probe();
    equal(await pass(), 200);
    deepEqual([lost, keyOfHost(all) === next], [[next], false]);
  });
  await linked(async () => {
    await until("the member has confirmed it", () => keyOfHost(all) === next);
    equal(await pass(), 200);
  });
});

Deno.test("keys for notes that follow each other at once are learned one after the other", async () => {
  await using all = await linkedFleet();
  await all.linked(async () => {
    // The member leaves out what arrives while it checks a key.
    await renewNotes(all);
    await renewNotes(all);
    const newest = await renewNotes(all);
    await until("the member has confirmed all", () => keyOfHost(all) === newest);
    equal(await all.pass(), 200);
  });
});

Deno.test("a member that returns to a version without new keys for notes is signed for with its first one", async () => {
  await using all = await linkedFleet();
  const { hub, member, host, linked } = all;
  const first = selectFleetKey(hub.deps.db, "note")!.publicKey;
  const next = await renewNotes(all);
  await linked(() => until("it is confirmed", () => keyOfHost(all) === next).then(() => {}));
  const { challenge, challengeProof, hubKey } = selectMembership(member.deps.db)!;
  const { keys } = await dialKeys(member.deps, { isHub: false, unknown: 0 });
  const channel = await dialLink(connect(hub), { keys, hubKey: toBytes(hubKey) });
  const proof = { counter: challenge!, proof: challengeProof! };
  await channel.sendControl({ type: "hello", version: "1", challenge: proof });
  await channel.receiveControl("welcome");
  await until("the hub has the link", () => hub.deps.fleet.link(host.id));
  const bytes = new Uint8Array(8);
  const signature = await hub.deps.passing.hub()!.sign(bytes, host.id);
  equal(await (await checkOf(first))(signature as Uint8Array<ArrayBuffer>, bytes), true);
  channel.close("the test has ended it");
  await until("the hub has no link", () => hub.deps.fleet.hosts.size === 0);
});

Deno.test("a key for notes that no known key has signed is refused", async () => {
  await using all = await linkedFleet();
  const { hub, member, host, linked } = all;
  await linked(async () => {
    const next = await createFleetKey(hub.deps, "note");
    const sign = signWith(await openNoteKey(hub.deps, next));
    const signature = await signSuccession(sign, next.publicKey);
    const { link } = hub.deps.fleet.hosts.get(host.id)!;
    link.tell({ type: "note_key", noteKey: next.publicKey, signature });
    await link.probe();
  });
  deepEqual(selectKnownNoteKeys(member.deps.db), []);
});

Deno.test("a key for notes of a former hub is not stored after the host has left", async () => {
  await using all = await linkedFleet();
  const { hub, member } = all;
  const membership = selectMembership(member.deps.db)!;
  await renewNotes(all);
  const [{ nextKey, signature }] = selectFormerNoteKeys(hub.deps.db) as [FormerNoteKey];
  const answers: unknown[] = [];
  const receive = (isMember: boolean) => {
    if (!isMember) deleteMembership(member.deps.db);
    const tell = createNoteKeyReceiver(member.deps, membership);
    tell({ type: "note_key", noteKey: nextKey, signature }, { tell: (each) => answers.push(each) });
  };
  receive(true);
  await until("it is confirmed", () => answers.length === 1);
  deepEqual(selectKnownNoteKeys(member.deps.db).at(0), nextKey);
  receive(false);
  // The same work as that of the receiver.
  await isSuccession(await checkOf(membership.hubNoteKey), {
    next: nextKey,
    signature,
  });
  deepEqual([selectKnownNoteKeys(member.deps.db), answers.length], [[], 1]);
});

const BLOCK = {
  ...{ digest: `sha256:${"a".repeat(64)}`, platform: "linux/amd64", number: 1, isBlocked: true },
  ...{ image: "web:1", host: "hub", container: "web", reason: "it failed", log: [] },
  ...{ at: "2026-01-01T00:00:00Z", verdicts: [] },
};

Deno.test("blocks of before a new key for notes reach members of before and after it", async () => {
  await using all = await linkedFleet();
  const { hub, member, linked } = all;
  const text = await sealBlock((bytes) => hub.deps.passing.hub()!.sign(bytes), BLOCK);
  keepBlock(hub.deps, "own", { ...BLOCK, text });
  await renewNotes(all);
  const isKept = (app: TestApp) => keptBlocks(app.deps, "hub").length === 1;
  await linked(() => until("the member keeps it", () => isKept(member)).then(() => {}));
  // A member that joins now knows the new key only.
  using other = testApp({ config: { ...HUB, serverName: "edge-8" } });
  await join(other, hub, "edge-8", (await invite(hub)).token);
  const end = new AbortController();
  const ended = linkToHub(other.deps, selectMembership(other.deps.db)!, {
    connection: connect(hub),
    dialing: { unknown: 0, unproved: 0 },
  }, end.signal);
  await until("the new member keeps it, too", () => isKept(other));
  end.abort();
  await ended;
});

Deno.test("a hub that was restored from a backup of before a new key for notes learns what it has blocked since", async () => {
  await using all = await linkedFleet();
  const { hub, host, linked } = all;
  const first = selectFleetKey(hub.deps.db, "note")!;
  const next = await renewNotes(all);
  await linked(async () => {
    await until("the member has confirmed the key", () => keyOfHost(all) === next);
    const text = await sealBlock((bytes) => hub.deps.passing.hub()!.sign(bytes), BLOCK);
    keepBlock(hub.deps, "own", { ...BLOCK, text });
    await tellAll(hub.deps, text);
  });
  hub.deps.db.run("DELETE FROM fleet_blocks WHERE source = 'own'");
  hub.deps.db.run("DELETE FROM fleet_note_keys");
  replaceFleetKey(hub.deps.db, first);
  await linked(() =>
    until("it has told them", () => hub.deps.fleet.hosts.get(host.id)?.waves.isSynced).then(
      () => {},
    )
  );
  equal(keptBlocks(hub.deps, "own").length, 1);
});

Deno.test("a member that was away for several keys comes back with the one that it knows", async () => {
  await using all = await linkedFleet();
  for (let month = 0; month < 3; month++) await renew(all);
  await all.linked(async () => equal(await all.pass(), 200));
  const { after } = await renew(all);
  await all.linked();
  await all.linked(async () => equal(await all.pass(), 200));
  equal(selectFleetKey(all.hub.deps.db, "link")!.publicKey, after.publicKey);
});

Deno.test("a hub that was restored from a backup of before the change is known by its former key", async () => {
  await using all = await linkedFleet();
  const { hub, linked, pass } = all;
  let before: Awaited<ReturnType<typeof renew>>["before"];
  await linked(async () => {
    ({ before } = await renew(all));
  });
  await linked();
  replaceFleetKey(hub.deps.db, before!);
  hub.deps.db.run("DELETE FROM fleet_hub_keys");

  await rejects(linked());
  await linked(async () => equal(await pass(), 200));
  // It makes another key, which the member follows as well.
  await linked(() => renew(all).then(() => {}));
  await linked(async () => equal(await pass(), 200));
});

Deno.test("a hub that was restored from an older backup is known by any of its former keys", async () => {
  await using all = await linkedFleet();
  const { hub, linked, pass } = all;
  const backup = selectFleetKey(hub.deps.db, "link")!;
  for (let month = 0; month < 4; month++) {
    await renew(all);
    await linked();
    await linked();
  }
  replaceFleetKey(hub.deps.db, backup);
  hub.deps.db.run("DELETE FROM fleet_hub_keys");
  for (let newer = 0; newer < 4; newer++) await rejects(linked());
  await linked(async () => equal(await pass(), 200));
  await linked(async () => equal(await pass(), 200));
});

Deno.test("an invite of before the change is still good, and one of afterwards has the new key", async () => {
  await using all = await linkedFleet();
  const { hub } = all;
  hub.clock.advance({ seconds: KEY_MAX_MS / 1000 + 2 });
  const older = await invite(hub);
  // By their times, the older one is of the new key and the newer one of the former key.
  hub.clock.advance({ seconds: -1 });
  await renewHubKey(hub.deps);
  hub.clock.advance({ seconds: -1 });
  const newer = await invite(hub);
  using second = testApp({ config: { serverName: "edge-8" } });
  await join(second, hub, "edge-8", older.token);
  using third = testApp({ config: { serverName: "edge-9" } });
  await join(third, hub, "edge-9", newer.token);
  deepEqual(
    [second, third].map(({ deps }) => selectMembership(deps.db)!.hubKey),
    [selectFormerHubKeys(hub.deps.db)[0]!, selectFleetKey(hub.deps.db, "link")!]
      .map(({ publicKey }) => publicKey),
  );
});

Deno.test("a hub tells a host that asks whether it is still a member, and does not add it again", async () => {
  await using all = await linkedFleet();
  const { hub, member, host } = all;
  const { inviteId, secret } = decodeToken((await invite(hub)).token);
  const ask = async () => {
    const channel = await dialEnrolment(connect(hub), {
      keys: await linkKeys(member.deps),
      invite: { id: inviteId, secret },
      assertHub: () => Promise.resolve(),
    });
    const { noteKey, name, machine } = host;
    const given = { name, machine, noteKey, version: "1", memberId: host.id };
    await channel.sendControl({ type: "enrol", ...given });
    return await channel.receiveControl("enrolled", "refused");
  };
  const known = await ask();
  equal(known.type === "enrolled" && known.hostId, host.id);
  deleteFleetHost(hub.deps.db, host.id);
  const refused = await ask();
  match(refused.type === "refused" ? refused.reason : "", /^It was removed there, or the hub was /);
  deepEqual(selectFleetHosts(hub.deps.db), []);
});

Deno.test("a wrong secret is the reason of a refusal, also at a hub with former keys", async () => {
  await using all = await linkedFleet();
  const { hub } = all;
  await renew(all);
  const { inviteId } = decodeToken((await invite(hub)).token);
  using other = testApp({ config: { serverName: "edge-8" } });
  const joining = enrol(other.deps, connect(hub), {
    ...{ name: "edge-8", machine: "test", address: HUB.serviceBaseUrl },
    invite: { id: inviteId, secret: new Uint8Array(32) },
  });
  await rejects(joining, /not sealed with the expected key/);
});

Deno.test("a hub that is a member uses a new key when its own hub has stored it, and tells its hosts", async () => {
  await using all = await linkedFleet();
  const { member, hub, linked, pass } = all;
  using edge = testApp({ config: { serverName: "edge-8" } });
  await join(edge, member, "edge-8", (await invite(member)).token);
  const keysOf = ({ deps }: TestApp) =>
    (["link", "note"] as const).map((purpose) => selectFleetKey(deps.db, purpose)!.publicKey);
  const [before, note] = keysOf(member);
  const link = new AbortController();
  const ofEdge = linkToHub(edge.deps, selectMembership(edge.deps.db)!, {
    ...{ connection: connect(member), dialing: { unknown: 0, unproved: 0 } },
  }, link.signal);
  await until("the edge is linked", () => edge.deps.fleet.hub.link);

  for (const month of [1, 2]) {
    const [former] = keysOf(member);
    // Its own hub is away, and it must not use a key that this one does not know.
    for (let away = 0; away < 2; away++) {
      advance(all);
      await renewHubKey(member.deps);
    }
    await linked(async () => {
      equal(await pass(), 200);
      await until("the key is stored", () => selectNextKey(member.deps.db, "link")?.isConfirmed);
      equal(await pass(), 200);
    });
    deepEqual(keysOf(member), [former, note]);
    await linked(async () => equal(await pass(), 200));
    equal(selectFormerHubKeys(member.deps.db).length, month);
  }
  const [after] = keysOf(member);
  notEqual(after, before);
  deepEqual(keysOf(member), [selectFleetHosts(hub.deps.db)[0]!.linkKey, note]);
  await edge.deps.fleet.hub.link!.probe();
  equal(selectKnownHubKeys(edge.deps.db)[0], after);
  link.abort();
  await ofEdge;
});

Deno.test("a member that has become a hub keeps its key for notes, which it was about to replace", async () => {
  await using all = await linkedFleet();
  const { member, linked, pass } = all;
  const { db } = member.deps;
  const note = selectFleetKey(db, "note")!.publicKey;
  advance(all);
  await linked(() =>
    until("the keys are stored", () => selectNextKey(db, "link")?.isConfirmed).then(() => {})
  );
  await invite(member);
  await linked(async () => equal(await pass(), 200));
  await linked(async () => equal(await pass(), 200));
  equal(selectFleetKey(db, "note")!.publicKey, note);
  equal(selectFormerHubKeys(db).length, 1);
});

Deno.test("a hub that joins another one is known there by any of its former keys", async () => {
  await using all = await linkedFleet();
  const { hub } = all;
  const keys = [selectFleetKey(hub.deps.db, "link")!.publicKey];
  for (let month = 0; month < 2; month++) keys.unshift((await renew(all)).after.publicKey);
  const dialed = await Promise.all(
    [0, 1, 2].map((unknown) => dialKeys(hub.deps, { isHub: true, unknown })),
  );
  deepEqual(dialed.map(({ use }) => use), ["own", "other", "other"]);
  deepEqual(dialed.map((each) => toText(each.keys.publicKey)), keys);
});

Deno.test("a hub has the name under which a host has joined, whatever its key is", async () => {
  await using all = await linkedFleet();
  const { member, hub, host } = all;
  await renew(all);
  equal(await hub.deps.passing.hub()!.key(host.id), selectMembership(member.deps.db)!.hubKey);
});
