import { deepEqual, equal } from "node:assert/strict";
import {
  type Connection,
  createConnections,
  FIRST_REQUEST_MS,
  FURTHER_REQUESTS_MAX,
  IDLE_MS,
  REQUESTS_MAX,
} from "../../../commands/listener/connections.ts";
import { STALLED_MS } from "../../../commands/listener/deliveries.ts";

/** Connections whose clock and descriptors the test controls. */
function limited({ max = 100, descriptors = 1 } = {}) {
  const closed: string[] = [];
  const state = { at: 0, hasReserve: true, checks: 0, reserve: 0 };
  const connections = createConnections({
    max,
    descriptors,
    now: () => state.at,
    hasReserve: (count) => {
      state.checks++;
      state.reserve = count;
      return state.hasReserve;
    },
  });
  /** Admits a connection, one millisecond after the previous one. */
  const admit = (group: string, { isProxy = false, busy = false } = {}) => {
    state.at++;
    const connection = connections.admit({ group, isProxy, close: () => void closed.push(group) });
    if (connection && busy) connections.beginRequest(connection);
    return connection;
  };
  const admitMany = (group: string, count: number, options = {}) =>
    Array.from({ length: count }, () => admit(group, options)).filter((each) => each !== undefined);
  return { connections, closed, state, admit, admitMany };
}

Deno.test("a connection without a first request is closed after half a minute", () => {
  const { connections, closed, state, admit } = limited();
  admit("a");
  state.at = FIRST_REQUEST_MS;
  connections.closeOverdue();
  deepEqual(closed, []);
  state.at = FIRST_REQUEST_MS + 1;
  connections.closeOverdue();
  deepEqual([closed, connections.size], [["a"], 0]);
});

Deno.test("a connection is idle from the end of its last request, and never during one", () => {
  const { connections, closed, state, admit } = limited();
  const connection = admit("a")!;
  connections.beginRequest(connection);
  connections.beginRequest(connection);
  state.at = 10 * IDLE_MS;
  connections.closeOverdue();
  connections.endRequest(connection);
  connections.closeOverdue();
  connections.endRequest(connection);
  state.at += IDLE_MS - 1;
  connections.closeOverdue();
  deepEqual(closed, []);
  state.at++;
  connections.closeOverdue();
  deepEqual(closed, ["a"]);
});

Deno.test("an address group has a quarter of the connections, a trusted proxy all of them", () => {
  const { connections, closed, admit, admitMany } = limited();
  equal(admitMany("a", 30, { busy: true }).length, 25);
  equal(admitMany("b", 30, { busy: true }).length, 25);
  equal(admitMany("proxy", 60, { isProxy: true, busy: true }).length, 50);
  equal(connections.size, 100);
  equal(admit("proxy", { isProxy: true }), undefined);
  deepEqual(closed, []);
});

Deno.test("of a full listener a new client takes the place of much larger groups", () => {
  const { connections, closed, admit, admitMany } = limited();
  for (const group of ["a", "b", "c", "d"]) admitMany(group, 25, { busy: true });
  // Until the others have 22 or 23.
  equal(admitMany("new", 20, { busy: true }).length, 11);
  equal(closed.length, 11);
  deepEqual(new Set(closed), new Set(["a", "b", "c", "d"]));
  equal(admit("other") !== undefined, true);
  equal(connections.size, 100);
});

Deno.test("of the largest groups the connections that only wait are closed before streams", () => {
  const { connections, closed, admit, admitMany } = limited({ max: 8 });
  for (const group of ["a", "b", "c"]) admitMany(group, 2, { busy: true });
  const [stream, waiting] = admitMany("d", 2, { busy: true });
  connections.beginRequest(stream!);
  for (const each of [stream!, waiting!]) {
    void connections.answer(each, () => "d", () => new Promise<never>(() => {}));
  }
  equal(admit("new", { busy: true }) !== undefined, true);
  deepEqual(closed, ["d"]);
  // It was the one that waits.
  connections.remove(waiting!);
  equal(connections.size, 8);
  connections.remove(stream!);
  equal(connections.size, 7);
});

Deno.test("a group at its share loses its own longest idle connections for new ones", () => {
  const { connections, closed, admitMany } = limited();
  const first = admitMany("a", 25);
  admitMany("b", 5);
  connections.beginRequest(first[0]!);
  equal(admitMany("a", 1).length, 1);
  // A sixteenth of those without a request, so that not every new connection needs a search.
  deepEqual(closed, ["a", "a"]);
});

Deno.test("a full listener closes idle connections of the largest group for a new client", () => {
  const { closed, admitMany, admit } = limited();
  admitMany("proxy", 60, { isProxy: true });
  admitMany("a", 15);
  admitMany("b", 25);
  equal(admit("c") !== undefined, true);
  deepEqual(new Set(closed), new Set(["b"]));
});

Deno.test("connections stop at the number that leaves descriptors for the rest of the service", () => {
  const { connections, state, admitMany, admit } = limited({ max: 1_000 });
  admitMany("proxy", 80, { isProxy: true, busy: true });
  state.hasReserve = false;
  // One check allows the connections up to half of the reserve.
  const admitted = admitMany("proxy", 100, { isProxy: true, busy: true }).length;
  equal(connections.size, 80 + admitted);
  equal(admitted, 16);

  state.hasReserve = true;
  equal(admit("proxy", { isProxy: true }), undefined);
  connections.closeOverdue();
  equal(admit("proxy", { isProxy: true }) !== undefined, true);
});

Deno.test("where descriptors run short, a new client takes the place of a group above its share", () => {
  const { closed, state, admitMany, admit } = limited({ max: 1_000 });
  state.hasReserve = false;
  const attacker = admitMany("a", 200, { busy: true });
  equal(attacker.length, 64);
  equal(admit("a"), undefined);
  deepEqual(closed, []);
  equal(admit("b") !== undefined, true);
  deepEqual(closed, ["a"]);
});

Deno.test("the descriptors are checked now and then, not for each connection", () => {
  const { state, admitMany } = limited({ max: 1_000 });
  admitMany("proxy", 64, { isProxy: true });
  equal(state.checks, 0);
  admitMany("proxy", 320, { isProxy: true });
  equal(state.checks, 10);
});

Deno.test("a relayed connection counts for three descriptors", () => {
  const { state, admitMany } = limited({ max: 1_000, descriptors: 3 });
  admitMany("proxy", 21, { isProxy: true });
  equal(state.checks, 0);
  admitMany("proxy", 100, { isProxy: true });
  equal(state.checks, 10);
  equal(state.reserve, 64 + 2 * 10);
});

Deno.test("without free descriptors some idle connections are closed, and no busy ones", () => {
  const { connections, closed, admitMany } = limited();
  admitMany("a", 20, { busy: true });
  admitMany("b", 17);
  connections.relieve();
  deepEqual(closed, ["b", "b"]);
});

Deno.test("a connection that has ended on its own counts no more", () => {
  const { connections, admitMany, admit } = limited();
  const all: Connection[] = admitMany("a", 25, { busy: true });
  equal(admit("a"), undefined);
  connections.remove(all[0]!);
  connections.remove(all[0]!);
  equal(connections.size, 24);
  equal(admit("a", { busy: true }) !== undefined, true);
  equal(admit("a"), undefined);
});

Deno.test("small bodies that are not taken close all connections of their group, but not of a proxy", () => {
  const { connections, closed, state, admit } = limited();
  for (const group of ["honest", "attacker"]) admit(group, { busy: true });
  admit("proxy", { busy: true, isProxy: true });
  const stall = (group: string, isProxy: boolean) => {
    const connection = admit(group, { busy: true, isProxy })!;
    let tracked = 0;
    // The first is tracked for itself, and then one of many for all.
    while (tracked < 2) if (connections.beginDelivery(connection, 1)) tracked++;
  };
  for (let at = 0; at < 5; at++) stall("attacker", false);
  state.at += STALLED_MS;
  connections.closeOverdue();
  deepEqual(closed, Array.from({ length: 6 }, () => "attacker"));
  for (let at = 0; at < 5; at++) stall("proxy", true);
  state.at += STALLED_MS;
  connections.closeOverdue();
  deepEqual(closed.slice(6).every((group) => group === "proxy"), true);
  equal(connections.size > 2, true);
});

Deno.test("a client that cancels requests, so that many of a connection do not end, is disconnected", () => {
  const { connections, closed, admit } = limited();
  const connection = admit("a")!;
  for (let at = 0; at < REQUESTS_MAX; at++) connections.beginRequest(connection);
  deepEqual(closed, []);
  connections.beginRequest(connection);
  deepEqual(closed, ["a"]);
});

Deno.test("too many unfinished requests of all close the connections of the busiest client", () => {
  const { connections, closed, admit, admitMany } = limited({ max: 1_000 });
  const quiet = admit("quiet", { busy: true })!;
  const begin = (connection: Connection, count: number) => {
    for (let at = 0; at < count; at++) connections.beginRequest(connection);
  };
  begin(quiet, 20);
  const each = 200;
  const many = admitMany("busy", Math.ceil(FURTHER_REQUESTS_MAX / each));
  for (const connection of many) begin(connection, each);
  equal(closed.length, 0);
  begin(admit("busy")!, each);
  equal(closed.length > many.length, true);
  equal(closed.includes("quiet"), false);

  // Ended requests count no more, also those of closed connections.
  for (const connection of many) {
    for (let at = 0; at < each; at++) connections.endRequest(connection);
  }
  for (let at = 0; at < 20; at++) connections.endRequest(quiet);
  closed.length = 0;
  const next = admitMany("next", 20);
  for (const connection of next) begin(connection, each);
  deepEqual(closed, []);
});
