/** A hub and its member in one process, with both ends of the link as they are. @module */

import { equal } from "node:assert/strict";
import { serveFleet } from "../../commands/fleet_socket.ts";
import { selectFleetHosts } from "../../db/fleet_hosts.ts";
import { selectMembership } from "../../db/fleet_membership.ts";
import { createInvite } from "../../services/fleet/enrolment/invites.ts";
import { enrol } from "../../services/fleet/enrolment/join.ts";
import { fingerprintOf } from "../../services/fleet/enrolment/keys.ts";
import { type Dialing, linkToHub } from "../../services/fleet/enrolment/member.ts";
import { decodeToken } from "../../services/fleet/enrolment/token.ts";
import { serveLink } from "../../services/fleet/hosts/serve.ts";
import { createConnection } from "../../services/fleet/link/connection.ts";
import { createSocketPair } from "./socket_pair.ts";
import { type TestApp, testApp } from "./test_app.ts";
import { until } from "./until.ts";

export const HUB = { serverName: "hub", serviceBaseUrl: "https://hub.example.com" };

/** Dials a hub, as a connection in memory. */
export function connect(hub: TestApp) {
  const [near, far] = createSocketPair();
  void serveLink(hub.deps, far, "192.0.2.7");
  return createConnection(near);
}

export const invite = (hub: TestApp) =>
  createInvite(hub.deps, {
    ...{ labels: {}, count: 1, expiresMinutes: 30, acceptsAtOnce: true },
  }, { userId: "key" });

/** Lets an application join, which checks the fingerprint in the token. */
export async function join(member: TestApp, hub: TestApp, name: string, token: string) {
  const { inviteId, secret, fingerprint } = decodeToken(token);
  await enrol(member.deps, connect(hub), {
    ...{ name, machine: "test", address: HUB.serviceBaseUrl, invite: { id: inviteId, secret } },
    assertHub: async (key) => equal(await fingerprintOf(key), fingerprint),
  });
  member.deps.fleet.refresh();
}

/** A hub and its member edge-7, both real applications. */
export async function linkedFleet() {
  await using stack = new AsyncDisposableStack();
  const dataDir = await Deno.makeTempDir({ prefix: "longshore-fleet-" });
  stack.defer(() => Deno.remove(dataDir, { recursive: true }));
  const hub = stack.use(testApp({ config: HUB }));
  const member = stack.use(testApp({ config: { ...HUB, serverName: "edge-7", dataDir } }));
  const served = serveFleet(member.deps, member.app);
  stack.defer(() => served.shutdown());
  await join(member, hub, "edge-7", (await invite(hub)).token);
  const [host] = selectFleetHosts(hub.deps.db);
  const dialing: Dialing = { unknown: 0, unproved: 0 };

  /** Opens the link, and ends it after `work`. */
  async function linked(work: () => Promise<void> = async () => {}): Promise<void> {
    const end = new AbortController();
    const opened = Promise.withResolvers<void>();
    const ended = linkToHub(member.deps, selectMembership(member.deps.db)!, {
      ...{ connection: connect(hub), dialing, onOpen: opened.resolve },
    }, end.signal);
    await Promise.race([opened.promise, ended]);
    await until(
      "both have the link",
      () => hub.deps.fleet.link(host!.id) && member.deps.fleet.hub.link,
    );
    try {
      // The clocks are compared before the test changes them.
      await hub.deps.fleet.hosts.get(host!.id)!.link.probe();
      await work();
      // A round trip: what the hub has told before has arrived.
      await member.deps.fleet.hub.link?.probe();
    } finally {
      end.abort();
      await ended;
      await until("the hub has no link", () => hub.deps.fleet.hosts.size === 0);
    }
  }

  const all = stack.move();
  return {
    ...{ hub, member, host: host!, linked },
    /** The answer of the member to a request that the hub passes on. */
    async pass() {
      const response = await hub.fetch("GET", "/api/fleet/hosts/edge-7/api/health");
      await response.body?.cancel();
      return response.status;
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
