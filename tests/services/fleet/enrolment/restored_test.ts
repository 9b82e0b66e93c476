/** Rights in a fleet after a restore from an older backup. @module */

import { deepEqual } from "node:assert/strict";
import type { StateDatabase } from "../../../../db/database.ts";
import { insertFleetBox, selectFleetBoxes } from "../../../../db/fleet_boxes.ts";
import {
  selectEndedMembership,
  upsertEndedMembership,
} from "../../../../db/fleet_ended_membership.ts";
import { insertFleetHost, selectFleetHosts, updateFleetHost } from "../../../../db/fleet_hosts.ts";
import {
  insertFleetInvite,
  selectFleetInvites,
  updateFleetInvite,
} from "../../../../db/fleet_invites.ts";
import {
  replaceFleetKey,
  selectFleetKey,
  selectFormerFleetKey,
} from "../../../../db/fleet_keys.ts";
import { replaceListening, selectListening } from "../../../../db/fleet_listening.ts";
import {
  deleteMembership,
  replaceMembership,
  selectMembership,
  updateMembership,
} from "../../../../db/fleet_membership.ts";
import { insertFleetPending, selectAllFleetPending } from "../../../../db/fleet_pending.ts";
import { upsertSetting } from "../../../../db/settings.ts";
import { firstState } from "../../../../services/fleet/enrolment/join.ts";
import { endFormerRights, readFleet } from "../../../../services/fleet/enrolment/restored.ts";
import { hostOf, inviteOf } from "../../../helpers/fleet_rows.ts";
import { openTestDatabase } from "../../../helpers/test_app.ts";

const AT = "2026-01-01T00:00:00.000Z";
const keyOf = (publicKey: string) => ({ publicKey, privateKey: "", createdAt: AT });

const SERVER = "server-1";

/** Data of this installation. */
function ownDatabase(): StateDatabase {
  const db = openTestDatabase();
  upsertSetting(db, "server_id", SERVER);
  return db;
}

/** A hub that is a member as well, with a host, an invite and a request for the host. */
function fleetOf(key: string): StateDatabase {
  const db = ownDatabase();
  replaceFleetKey(db, { purpose: "link", ...keyOf(key) });
  insertFleetHost(db, hostOf("host-1"));
  insertFleetInvite(db, inviteOf("invite-1"));
  insertFleetPending(db, {
    ...{ id: "left-1", hostId: "host-1", userId: "key", userName: "Ada", apiToken: null },
    ...{ role: "admin", method: "POST", path: "/api/stacks", body: "", base: null },
    ...{ state: "pending", jobId: null, error: null, createdAt: AT, expiresAt: AT },
    ...{ exportedAt: null, endedAt: null },
  });
  replaceMembership(db, {
    ...{ address: "https://hub", hubKey: "", hubNoteKey: "", hubName: "hub", hostId: "self" },
    ...{ name: "self", isPending: false, ...firstState({ now: () => new Date(AT) }) },
  });
  const token = { tokenId: "token-1", secret: "", name: "self", machine: "", expiresAt: AT };
  replaceListening(db, token);
  return db;
}

const stateOf = (db: StateDatabase) => ({
  hosts: selectFleetHosts(db).map(({ id, isPending }) => `${id} ${isPending}`),
  invites: selectFleetInvites(db).map(({ id, uses }) => `${id} ${uses}`),
  pending: selectAllFleetPending(db).map(({ id }) => id),
  membership: selectMembership(db)?.hostId,
  listening: selectListening(db)?.tokenId,
});

const NOTHING = {
  ...{ removed: [], forgotten: [], takenBack: 0 },
  ...{ left: undefined, endedBy: undefined },
};
const KEPT = { hosts: ["host-1 false"], pending: ["left-1"], membership: "self" };
const SECRETS = { invites: ["invite-1 0"], listening: "token-1" };

Deno.test("a restore leaves a fleet as it is that has not changed since", () => {
  const db = fleetOf("key");
  const present = fleetOf("key");
  deepEqual(endFormerRights(db, readFleet(present)), NOTHING);
  deepEqual(stateOf(db), { ...KEPT, ...SECRETS });
});

Deno.test("what has ended since a backup does not come back with it, whatever keys were replaced", () => {
  const db = fleetOf("key");
  const present = ownDatabase();
  replaceFleetKey(present, { purpose: "link", ...keyOf("next") });
  deepEqual(endFormerRights(db, readFleet(present)), {
    ...NOTHING,
    removed: ["host-1"],
    left: "hub",
    takenBack: 1,
  });
  deepEqual(stateOf(db), {
    ...{ hosts: ["host-1 true"], invites: [], pending: [], membership: undefined },
    listening: undefined,
  });
});

Deno.test("a membership that the hub has ended stays so, and is still shown", () => {
  const db = fleetOf("key");
  const present = fleetOf("key");
  deleteMembership(present);
  const ended = { hub: "hub", name: "self", reason: "An admin has removed it", endedAt: AT };
  upsertEndedMembership(present, ended);
  deepEqual(endFormerRights(db, readFleet(present)), { ...NOTHING, endedBy: "hub" });
  deepEqual([selectMembership(db), selectEndedMembership(db)], [undefined, ended]);
});

Deno.test("a membership that has ended does not come back with a backup, if this host has joined since", () => {
  const db = fleetOf("key");
  deleteMembership(db);
  const ended = { hub: "former", name: "self", reason: "An admin has removed it", endedAt: AT };
  upsertEndedMembership(db, ended);
  endFormerRights(db, readFleet(fleetOf("key")));
  deepEqual(selectEndedMembership(db), undefined);
});

Deno.test("a restore names the hosts that have joined since, and not those that have left again", () => {
  const present = fleetOf("key");
  insertFleetHost(present, hostOf("host-2"));
  insertFleetHost(present, { ...hostOf("host-3"), leftAt: AT });
  deepEqual(endFormerRights(fleetOf("key"), readFleet(present)), {
    ...NOTHING,
    forgotten: ["host-2"],
  });
});

Deno.test("hub and host know each other by the keys that they have had since a backup", () => {
  const db = fleetOf("key");
  const present = fleetOf("next");
  updateFleetHost(present, "host-1", { linkKey: "next", noteKey: "next" });
  deepEqual(endFormerRights(db, readFleet(present)), NOTHING);
  const { linkKey, noteKey } = selectFleetHosts(db)[0]!;
  deepEqual([linkKey, noteKey], ["next", "next"]);
  const keys = [selectFleetKey(db, "link"), selectFormerFleetKey(db, "link")];
  deepEqual(keys.map((key) => key?.publicKey), ["key", "next"]);
});

Deno.test("a host that waits, has left or was copied since, and an invite that waits for an admin, stay so", () => {
  const db = fleetOf("key");
  const present = fleetOf("key");
  updateFleetHost(present, "host-1", { isPending: true, leftAt: AT, challenge: 7 });
  updateFleetInvite(present, "invite-1", { acceptsAtOnce: false });
  endFormerRights(db, readFleet(present));
  deepEqual(selectFleetHosts(db), selectFleetHosts(present));
  deepEqual(selectFleetInvites(db), selectFleetInvites(present));
});

Deno.test("a member keeps the newest proof that it is not a copy of its machine", () => {
  const db = fleetOf("key");
  const present = fleetOf("key");
  updateMembership(present, "self", { challenge: 7, challengeProof: "newest" });
  endFormerRights(db, readFleet(present));
  deepEqual(selectMembership(db), selectMembership(present));
});

Deno.test("on another machine, a restored fleet stays but for secrets for one use", () => {
  const other = openTestDatabase();
  upsertSetting(other, "server_id", "server-2");
  for (const before of [undefined, readFleet(openTestDatabase()), readFleet(other)]) {
    const db = fleetOf("key");
    deepEqual(endFormerRights(db, before), NOTHING);
    deepEqual(stateOf(db), { ...KEPT, invites: [], listening: undefined });
  }
});

Deno.test("a box that has run since a backup does not run again", () => {
  const db = fleetOf("key");
  const present = fleetOf("key");
  const received = { state: "waiting", jobId: null, error: null, request: "sealed" } as const;
  const boxOf = (id: string) => ({
    ...{ id, hub: "", userName: "Ada", method: "POST", path: "/api/stacks", ...received },
    ...{ receivedAt: AT, expiresAt: AT, begunAt: null },
  });
  for (const id of ["done", "waiting"]) insertFleetBox(db, boxOf(id));
  insertFleetBox(present, { ...boxOf("done"), state: "done", request: null });
  insertFleetBox(present, { ...boxOf("later"), state: "job", jobId: "job-1", request: null });
  insertFleetBox(present, boxOf("waiting"));
  endFormerRights(db, readFleet(present));
  deepEqual(selectFleetBoxes(db).map(({ id, state, request }) => [id, state, request]), [
    ["done", "done", null],
    ["waiting", "waiting", "sealed"],
    ["later", "done", null],
  ]);
});
