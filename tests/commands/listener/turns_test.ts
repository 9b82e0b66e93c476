import { deepEqual, equal } from "node:assert/strict";
import {
  createTurns,
  GROWTH_BYTES_MAX,
  RUNNING_MAX,
  WAITING_CONNECTIONS_MAX,
  WAITING_MS,
} from "../../../commands/listener/turns.ts";

interface Sender {
  group: string;
  isProxy: boolean;
}

/** Turns whose clock and memory the test controls. */
function started() {
  const clock = { at: 0, memory: 0, looks: new Set<() => void>() };
  const turns = createTurns({
    now: () => clock.at,
    memory: () => clock.memory,
    repeat(look) {
      clock.looks.add(look);
      return () => void clock.looks.delete(look);
    },
  });
  const log: string[] = [];
  const gates = new Map<string, () => void>();
  /** Requests of a connection, which run until they are ended. */
  const request = (name: string, connection: Sender, client: string | Sender = connection.group) =>
    turns.take(connection, client, () => {
      log.push(name);
      return new Promise<true>((resolve) => gates.set(name, () => resolve(true)));
    }).then((result) => {
      if (!result) log.push(`${name} refused`);
    });
  /** Lets as many requests of a client run as may. */
  const occupy = (connection: Sender, client: string | Sender = connection.group) => {
    for (let at = 0; at < RUNNING_MAX; at++) {
      void request(`${connection.group} ${at}`, connection, client);
    }
    log.length = 0;
  };
  const settled = () => new Promise<void>((resolve) => setTimeout(resolve));
  const end = (name: string) => {
    gates.get(name)!();
    return settled();
  };
  return { clock, turns, log, request, occupy, end, settled };
}

const sender = (group: string, isProxy = false): Sender => ({ group, isProxy });

Deno.test("a waiting request gets the next turn of its client, in the order of arrival", async () => {
  const { log, request, occupy, end } = started();
  const a = sender("a");
  occupy(a);
  void request("first", a);
  void request("second", sender("a"));
  void request("other", sender("b"));
  deepEqual(log, ["other"]);
  await end("a 0");
  deepEqual(log, ["other", "first"]);
  await end("a 1");
  deepEqual(log, ["other", "first", "second"]);
});

Deno.test("a request waits for a turn ten seconds at most", async () => {
  const { clock, turns, log, request, occupy, end, settled } = started();
  const a = sender("a");
  occupy(a);
  void request("early", a);
  clock.at = 1;
  void request("late", a);
  clock.at = WAITING_MS;
  turns.refuseOverdue();
  await settled();
  deepEqual(log, ["early refused"]);
  await end("a 0");
  deepEqual(log, ["early refused", "late"]);
});

Deno.test("the waiting requests of a connection that was closed are refused at once", async () => {
  const { turns, log, request, occupy, settled } = started();
  const [a, other] = [sender("a"), sender("a")];
  occupy(a);
  void request("first", a);
  void request("second", a);
  void request("other", other);
  turns.refuse(a);
  await settled();
  deepEqual(log, ["first refused", "second refused"]);
});

Deno.test("too many waiting connections refuse those of the client with the most, proxies for themselves", async () => {
  const { log, request, occupy, settled } = started();
  for (const group of ["attacker", "honest", "proxied"]) occupy(sender(group));
  void request("honest", sender("honest"));
  for (let at = 0; at < 20; at++) void request(`proxy ${at}`, sender("proxy", true), "proxied");
  for (let at = 0; at < 19; at++) {
    void request(`attacker ${at}`, sender("attacker"));
    void request(`again ${at}`, sender("attacker"));
  }
  await settled();
  deepEqual(log, []);
  for (let at = 0; at < WAITING_CONNECTIONS_MAX; at++) {
    void request(`more ${at}`, sender("attacker"));
  }
  await settled();
  equal(log.length, 19 * 2 + 21);
  equal(log[0], "attacker 0 refused");
  equal(log.every((line) => /^(attacker|again|more) \d+ refused$/.test(line)), true);
});

Deno.test("a connection of a proxy that names no clients has turns of its own", () => {
  const { log, request, occupy } = started();
  const [one, two] = [sender("proxy", true), sender("proxy", true)];
  occupy(one, one);
  void request("waits", one, one);
  void request("runs", two, two);
  deepEqual(log, ["runs"]);
});

Deno.test("waiting requests are refused when the process has grown too much meanwhile", async () => {
  const { clock, log, request, occupy, settled } = started();
  const look = () => {
    clock.looks.forEach((each) => each());
    return settled();
  };
  const a = sender("a");
  occupy(a);
  equal(clock.looks.size, 0);
  clock.memory = 1_000;
  void request("first", a);
  void request("second", sender("a"));
  equal(clock.looks.size, 1);
  clock.memory += GROWTH_BYTES_MAX;
  await look();
  deepEqual(log, []);
  clock.memory++;
  await look();
  deepEqual(log, ["first refused", "second refused"]);
  equal(clock.looks.size, 0);
  void request("third", a);
  await look();
  deepEqual(log, ["first refused", "second refused"]);
});
