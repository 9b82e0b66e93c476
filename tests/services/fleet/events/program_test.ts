/** Events on their way between a hub and a member that are killed. @module */

import { deepEqual, equal } from "node:assert/strict";
import { openStateDatabase, type StateDatabase } from "../../../../db/database.ts";
import { selectMembership } from "../../../../db/fleet_membership.ts";
import { countOutgoingEvents } from "../../../../db/fleet_outgoing_events.ts";
import { idOf, simulateContainers } from "../../../helpers/fake_containers.ts";
import { fakeEngine } from "../../../helpers/fake_engine.ts";
import { fakeReceiver } from "../../../helpers/fake_receiver.ts";
import { freePort } from "../../../helpers/free_port.ts";
import { joinFleet } from "../../../helpers/joined_host.ts";
import { long } from "../../../helpers/long.ts";
import { startLongshore } from "../../../helpers/longshore.ts";
import { until } from "../../../helpers/until.ts";

long(Deno.test)(
  "events of a member arrive once at the hub's webhook, although both are killed",
  async () => {
    let feed: ReadableStreamDefaultController<Uint8Array> | undefined;
    await using engine = fakeEngine({
      ...simulateContainers([{ name: "shop" }]),
      "GET /events": () => new Response(new ReadableStream({ start: (own) => void (feed = own) })),
    });
    /** Lets the engine report that the container ran out of memory. */
    const happen = async () => {
      await until("the member follows its engine", () => feed);
      const Actor = { ID: idOf("shop"), Attributes: { name: "shop" } };
      const event = { Type: "container", Action: "oom", Actor, time: 0, timeNano: 0 };
      feed!.enqueue(new TextEncoder().encode(JSON.stringify(event) + "\n"));
    };
    await using receiver = fakeReceiver();
    await using stack = new AsyncDisposableStack();
    const folder = await Deno.makeTempDir({ prefix: "longshore-fleet-" });
    stack.defer(() => Deno.remove(folder, { recursive: true }));
    const start = (name: string, port: number) =>
      startLongshore({
        dataDir: `${folder}/${name}`,
        ...name === "member" && { engineSocket: engine.socketPath },
        env: {
          PORT: String(port),
          API_KEY: "lsk_of-this-test",
          FLEET_INSECURE: "on",
          OUTBOUND_ALLOW: "127.0.0.1",
          SERVER_NAME: name,
        },
      });
    const ports = { hub: freePort(), member: freePort() };
    const hub = await start("hub", ports.hub);
    const member = await start("member", ports.member);
    stack.defer(() => hub.kill9());
    stack.defer(() => member.kill9());
    const { status } = await hub.call("POST", "/api/webhooks", {
      ...{ name: "All", url: receiver.url, events: ["container.oom"] },
    });
    equal(status, 201);
    await joinFleet(hub, member);
    // Until then, the member tells people itself.
    await until("the member knows that its hub takes events", () => takesEvents(member.dataDir));
    /** Events by the id of their message: a delivery that the kill interrupted is repeated with its id. */
    const received = () =>
      new Map(
        receiver.received.map(({ headers, body }) => [headers["webhook-id"], JSON.parse(body)]),
      );

    await happen();
    await until("the first event", () => received().size === 1);
    await hub.kill9();
    await happen();
    await until("the member has stored the second one", () => waiting(member.dataDir) === 1);
    await member.kill9();

    feed = undefined;
    // The hub first: a member that does not reach it dials again after up to 30 seconds.
    stack.use(await start("hub", ports.hub));
    stack.use(await start("member", ports.member));
    await happen();
    await until("the others", () => received().size >= 3 && waiting(member.dataDir) === 0);
    const events = [...received().values()];
    const sent = events.map(({ event, host, server }) => [event, host, server]);
    deepEqual(sent, Array(3).fill(["container.oom", "edge-7", "edge-7"]));
    equal(new Set(events.map(({ eventId }) => eventId)).size, 3);
  },
);

/** Events of a member that its hub has not acknowledged. */
const waiting = (dataDir: string): number => read(dataDir, countOutgoingEvents);

const takesEvents = (dataDir: string): boolean =>
  read(dataDir, (db) => selectMembership(db)?.hubTakesEvents ?? false);

function read<T>(dataDir: string, query: (db: StateDatabase) => T): T {
  const db = openStateDatabase(`${dataDir}/state.sqlite`);
  try {
    return query(db);
  } finally {
    db.close();
  }
}
