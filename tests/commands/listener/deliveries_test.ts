import { deepEqual, equal, ok } from "node:assert/strict";
import {
  ALL_BYTES_MAX,
  CONNECTION_BYTES_MAX,
  createDeliveries,
  DELIVERY_MS,
  SAMPLED,
  STALLED_BYTES,
  STALLED_MS,
  STREAM_BYTES,
} from "../../../commands/listener/deliveries.ts";
import { SMALL_BYTES } from "../../../routes/pipeline/exchange.ts";

/** Deliveries whose clock the test controls. */
function started() {
  const clock = { at: 0, random: 0 };
  const closed: string[] = [];
  const groups: string[] = [];
  const deliveries = createDeliveries<{ name: string; group: string; isProxy: boolean }>({
    closeGroup: (connection) => {
      groups.push(connection.group);
      deliveries.remove(connection);
    },
    random: () => clock.random,
    now: () => clock.at,
    close(connection) {
      closed.push(connection.name);
      deliveries.remove(connection);
    },
  });
  return { clock, closed, groups, deliveries };
}

const client = (name: string, group = name) => ({ name, group, isProxy: false });

Deno.test("a delivery has half a minute, and the time of its bytes at 20 kB/s", () => {
  const { clock, closed, deliveries } = started();
  deliveries.begin(client("a"), 1_000_000);
  const end = deliveries.begin(client("b"), 20_000)!;
  clock.at = DELIVERY_MS + 1_000;
  end();
  deliveries.closeOverdue();
  deepEqual(closed, []);
  clock.at = DELIVERY_MS + 50_000;
  deliveries.closeOverdue();
  deepEqual(closed, ["a"]);
});

Deno.test("a connection is closed if too much is on the way to it, but not for a single body", () => {
  const { closed, deliveries } = started();
  const [a, b] = [client("a"), client("b")];
  const end = deliveries.begin(a, CONNECTION_BYTES_MAX + 1)!;
  deepEqual(closed, []);
  end();
  deliveries.begin(a, CONNECTION_BYTES_MAX);
  deliveries.begin(b, CONNECTION_BYTES_MAX);
  deepEqual(closed, []);
  deliveries.begin(a, 1);
  deepEqual(closed, ["a"]);
});

Deno.test("if too much is on the way to all, the address with the most loses a connection", () => {
  const { closed, deliveries } = started();
  const begin = (connection: ReturnType<typeof client>, sixteenths: number) =>
    deliveries.begin(connection, sixteenths * ALL_BYTES_MAX / 16 - STREAM_BYTES);
  begin(client("honest"), 2);
  begin({ name: "proxy 1", group: "proxy", isProxy: true }, 4);
  begin({ name: "proxy 2", group: "proxy", isProxy: true }, 4);
  for (let at = 1; at <= 6; at++) begin(client(`attacker ${at}`, "attacker"), 1);
  deepEqual(closed, []);
  begin(client("honest 2"), 1);
  deepEqual(closed, ["attacker 1", "attacker 2"]);
});

Deno.test("small bodies that are not taken at once count with what their connections have sent", () => {
  const { clock, closed, deliveries } = started();
  const count = Math.floor(ALL_BYTES_MAX / (STALLED_BYTES + STREAM_BYTES));
  const large = deliveries.begin(client("slow"), 100_000)!;
  for (let at = 0; at < count; at++) deliveries.begin(client(`attacker ${at}`, "attacker"), 0);
  clock.at = STALLED_MS;
  const end = deliveries.begin(client("a"), 0)!;
  equal(closed.length, 0, "as much as there may be");
  clock.at = 2 * STALLED_MS;
  deliveries.begin(client("b"), 0)!();
  const attackers = closed.length;
  ok(attackers > 0, "a stalls, too");
  ok(!["slow", "a"].some((name) => closed.includes(name)));
  end();
  large();
  clock.at = 3 * STALLED_MS;
  deliveries.begin(client("c"), 0)!();
  equal(closed.length, attackers);
});

Deno.test("many small bodies that are not taken are bounded at once", () => {
  const { closed, deliveries } = started();
  const connections = Array.from({ length: 16 }, (_, at) => client(`attacker ${at}`, "attacker"));
  deliveries.begin(client("honest"), 15);
  for (const connection of connections) {
    for (let request = 0; request < 200; request++) deliveries.begin(connection, 15);
  }
  equal(closed.length >= 8, true, `${closed.length} are closed`);
  equal(closed.includes("honest"), false);
});

Deno.test("of small bodies the first of a connection is tracked, then a random part of them", () => {
  const { clock, deliveries } = started();
  const a = client("a");
  const isTracked = (length: number, random: number) => {
    clock.random = random;
    const end = deliveries.begin(a, length);
    end?.();
    return end !== undefined;
  };
  equal(isTracked(15, 0.99), true, "the first");
  equal(isTracked(15, 1 / SAMPLED), false);
  equal(isTracked(SMALL_BYTES, 0.99), false);
  equal(isTracked(SMALL_BYTES + 1, 0.99), true);
  equal(isTracked(15, 1 / SAMPLED - 0.001), true);
});

Deno.test("a tracked small body that is not taken counts for those of its group that are not tracked", () => {
  const { clock, closed, groups, deliveries } = started();
  const begin = (connection: ReturnType<typeof client>) => {
    deliveries.begin(connection, 15)!();
    deliveries.begin(connection, 15);
  };
  for (let at = 0; at < 3; at++) begin(client(`attacker ${at}`, "attacker"));
  deliveries.begin(client("honest"), 15);
  clock.at = STALLED_MS;
  deliveries.closeOverdue();
  deepEqual(groups, []);
  begin(client("attacker 3", "attacker"));
  clock.at = 2 * STALLED_MS;
  deliveries.closeOverdue();
  deepEqual([groups, closed], [["attacker"], []]);
});

Deno.test("the end of a delivery counts once, and not after its connection was closed", () => {
  const { closed, deliveries } = started();
  const a = client("a");
  const end = deliveries.begin(a, ALL_BYTES_MAX / 2)!;
  deliveries.remove(a);
  end();
  const endNext = deliveries.begin(a, ALL_BYTES_MAX / 2)!;
  endNext();
  endNext();
  deliveries.begin(client("b"), ALL_BYTES_MAX - STREAM_BYTES);
  deepEqual(closed, []);
  deliveries.begin(client("c"), 1);
  deepEqual(closed, ["b"]);
});
