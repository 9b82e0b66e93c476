/** A hub that adds a host on loopback, with both ends as they are. */

import { deepEqual, equal, notEqual, rejects } from "node:assert/strict";
import { selectFleetHosts, type StoredHost } from "../../../../db/fleet_hosts.ts";
import { replaceMembership, selectMembership } from "../../../../db/fleet_membership.ts";
import { enrol, leaveFleet } from "../../../../services/fleet/enrolment/join.ts";
import { noteKeys } from "../../../../services/fleet/enrolment/keys.ts";
import { listenForHub } from "../../../../services/fleet/enrolment/listen.ts";
import { KEY_MAX_MS } from "../../../../services/fleet/enrolment/rotation.ts";
import { decodeToken } from "../../../../services/fleet/enrolment/token.ts";
import { addHost } from "../../../../services/fleet/hosts/add.ts";
import { renewHubKey } from "../../../../services/fleet/hosts/hub_keys.ts";
import { createSecrets } from "../../../../services/secrets/secrets.ts";
import { serveApp } from "../../../helpers/served_app.ts";
import { testApp } from "../../../helpers/test_app.ts";

const AS = { name: "edge-7", machine: "edge-7, Linux x86_64" };
const KEY = new Uint8Array(32).fill(9);

/** Steps that one end adds to the conversation. */
interface Steps {
  /** The host has proved its key, and has not said its name yet. */
  beforeName?: () => Promise<void>;
  /** The host has the answer, and has not stored it yet. */
  onAnswer?: () => void;
}

function pair() {
  const stack = new AsyncDisposableStack();
  const hub = stack.use(testApp({ config: { fleetInsecure: "on", outboundAllow: ["127.0.0.1"] } }));
  const member = stack.use(testApp({
    config: { fleetInsecure: "on" },
    secrets: createSecrets({ jwtSecret: KEY, secretKey: KEY }),
  }));
  const served = stack.use(serveApp(member));

  /** Lets the host wait with a new token, and the hub add it. */
  async function add({ beforeName, onAnswer }: Steps = {}): Promise<StoredHost> {
    const given = await listenForHub(member.deps, { ...AS, address: served.url });
    const token = decodeToken(given.token, "add");
    member.deps.fleet.hub.accept = async (connection) => {
      let [sent, received] = [0, 0];
      await enrol(member.deps, {
        ...connection,
        async send(message) {
          if (++sent === 3) await beforeName?.();
          await connection.send(message);
        },
        async receive() {
          const message = await connection.receive();
          if (++received === 2) onAnswer?.();
          return message;
        },
      }, { ...AS, address: "", invite: { id: token.inviteId, secret: token.secret } })
        .catch(() => {});
    };
    const how = { address: served.url, labels: {} };
    return await addHost(hub.deps, token, how, new AbortController().signal);
  }

  /** Lets the hub make its next key. */
  async function renew(): Promise<void> {
    hub.clock.advance({ seconds: KEY_MAX_MS / 1000 });
    await renewHubKey(hub.deps);
  }
  const keyFor = (id: string) => hub.deps.passing.hub()!.key(id);
  return { hub, member, add, renew, keyFor, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

Deno.test("a host knows the key with which the hub has added it, though the hub makes another meanwhile", async () => {
  await using all = pair();
  const { id } = await all.add({ beforeName: all.renew });
  equal(await all.keyFor(id), selectMembership(all.member.deps.db)!.hubKey);
});

Deno.test("a host that does not join again is at the hub as it was", async () => {
  await using all = pair();
  const { hub, member, add, renew, keyFor } = all;
  const host = await add();
  const key = await keyFor(host.id);
  await renew();
  const { db } = member.deps;
  const other = selectMembership(db)!;
  leaveFleet(member.deps);
  // Another hub is quicker.
  await rejects(add({ onAnswer: () => replaceMembership(db, other) }), /The host has not joined/);
  deepEqual(selectFleetHosts(hub.deps.db), [host]);
  equal(await keyFor(host.id), key);
  leaveFleet(member.deps);
  await add();
  notEqual(await keyFor(host.id), key);
});

Deno.test("a host that may have joined is dialled", async () => {
  await using all = pair();
  const { hub, add } = all;
  await noteKeys(hub.deps);
  hub.deps.db.run("UPDATE fleet_keys SET private_key = 'damaged' WHERE purpose = 'note'");
  await rejects(add(), { code: "conflict" });
  equal(hub.deps.fleet.dialled.length, 1);
});
