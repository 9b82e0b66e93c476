import { deepEqual } from "node:assert/strict";
import {
  ALL_BYTES_MAX,
  CONNECTION_BYTES_MAX,
  createDeliveries,
  DELIVERY_MS,
} from "../../../commands/listener/deliveries.ts";

/** Deliveries whose clock the test controls. */
function started() {
  const clock = { at: 0 };
  const closed: string[] = [];
  const deliveries = createDeliveries<{ name: string; group: string; isProxy: boolean }>({
    now: () => clock.at,
    close(connection) {
      closed.push(connection.name);
      deliveries.remove(connection);
    },
  });
  return { clock, closed, deliveries };
}

const client = (name: string, group = name) => ({ name, group, isProxy: false });

Deno.test("a delivery has half a minute, and the time of its bytes at 20 kB/s", () => {
  const { clock, closed, deliveries } = started();
  deliveries.begin(client("a"), 1_000_000);
  const end = deliveries.begin(client("b"), 20_000);
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
  const end = deliveries.begin(a, CONNECTION_BYTES_MAX + 1);
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
  const part = ALL_BYTES_MAX / 16;
  deliveries.begin(client("honest"), 2 * part);
  deliveries.begin({ name: "proxy 1", group: "proxy", isProxy: true }, 4 * part);
  deliveries.begin({ name: "proxy 2", group: "proxy", isProxy: true }, 4 * part);
  for (let at = 1; at <= 6; at++) deliveries.begin(client(`attacker ${at}`, "attacker"), part);
  deepEqual(closed, []);
  deliveries.begin(client("honest 2"), part);
  deepEqual(closed, ["attacker 1"]);
});

Deno.test("the end of a delivery counts once, and not after its connection was closed", () => {
  const { closed, deliveries } = started();
  const a = client("a");
  const end = deliveries.begin(a, ALL_BYTES_MAX / 2);
  deliveries.remove(a);
  end();
  const endNext = deliveries.begin(a, ALL_BYTES_MAX / 2);
  endNext();
  endNext();
  deliveries.begin(client("b"), ALL_BYTES_MAX);
  deepEqual(closed, []);
  deliveries.begin(client("c"), 1);
  deepEqual(closed, ["b"]);
});
