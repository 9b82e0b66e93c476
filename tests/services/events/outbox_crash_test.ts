/** Every message arrives, however often the process is ended without a word. */

import { deepEqual, equal } from "node:assert/strict";
import { openStateDatabase } from "../../../db/database.ts";
import { fakeReceiver, type Received } from "../../helpers/fake_receiver.ts";
import { long } from "../../helpers/long.ts";
import { startLongshore } from "../../helpers/longshore.ts";
import { until } from "../../helpers/until.ts";
import { isInTime } from "../../helpers/in_time.ts";

const EVENTS = 100;
const KILLS = 2;

/**
 * Longest wait of an event for the healthy receiver while the program runs, once those before it
 * have arrived, in milliseconds. A dead receiver is waited for ten seconds.
 */
const DELAY_MS_MAX = 5_000;

const program = new URL("../../helpers/outbox_program.ts", import.meta.url);

long(Deno.test)(
  "events, a receiver that fails at random and two kill -9: none is lost",
  async () => {
    const directory = await Deno.makeTempDir({ prefix: "longshore-outbox-" });
    const random = randomNumbers(42);
    const arrivedAt: number[] = [];
    /** When the program was killed, and when something arrived again. */
    const pauses: { from: number; to: number }[] = [];
    const noteLife = () => {
      const last = pauses.at(-1);
      if (last?.to === Infinity) last.to = Date.now();
    };
    await using flaky = fakeReceiver(async () => {
      noteLife();
      // A failure after the message was read is the hard case: the sender does not know.
      const chance = random();
      if (chance < 0.2) return new Response("no", { status: 500 });
      if (chance < 0.22) await new Promise((resolve) => setTimeout(resolve, 200));
      return new Response(null, { status: 204 });
    });
    await using healthy = fakeReceiver(() => {
      noteLife();
      arrivedAt.push(Date.now());
      return new Response(null, { status: 204 });
    });
    // Accepts connections and never answers.
    using dead = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const urls = [flaky.url, healthy.url, `http://127.0.0.1:${dead.addr.port}/`];

    try {
      for (let kills = 0; kills < KILLS; kills++) {
        await using running = startProgram(directory, urls);
        const share = Math.round(EVENTS / (KILLS + 1) * (kills + 1));
        await until(
          `${share} events have arrived`,
          () => running.ended || distinct(flaky.received).size >= share,
          { deadlineMs: 600_000 },
        );
        equal(running.ended, false, await running.stderr());
        running.kill9();
        await running.end;
        pauses.push({ from: Date.now(), to: Infinity });
      }
      await using running = startProgram(directory, urls);
      await until(
        "every event has arrived",
        () =>
          running.ended ||
          distinct(flaky.received).size === EVENTS && distinct(healthy.received).size === EVENTS,
        { deadlineMs: 600_000 },
      );
      equal(running.ended, false, await running.stderr());
      running.kill9();
      await running.end;
      assertLog(directory);
    } finally {
      await Deno.remove(directory, { recursive: true });
    }

    for (const { received } of [flaky, healthy]) {
      // Each event has one id, at each attempt and after each restart, and each id one event.
      const ids = distinct(received);
      deepEqual(
        [...ids.keys()].sort((a, b) => a - b),
        Array.from({ length: EVENTS }, (_, i) => i + 1),
      );
      deepEqual([...ids.values()].map((ofEvent) => ofEvent.size), Array(EVENTS).fill(1));
      equal(new Set([...ids.values()].flatMap((ofEvent) => [...ofEvent])).size, EVENTS);
    }
    // Late messages of the healthy one are only those of the time when the program was down.
    const late = healthy.received.filter(({ body }, index) => {
      const to = arrivedAt[index]!;
      const from = Math.max(Date.parse(JSON.parse(body).timestamp), arrivedAt[index - 1] ?? 0);
      const downMs = pauses
        .map((pause) => Math.min(to, pause.to) - Math.max(from, pause.from))
        .filter((ms) => ms > 0)
        .reduce((sum, ms) => sum + ms, 0);
      return !isInTime(to - from - downMs, DELAY_MS_MAX);
    });
    deepEqual(late, []);
  },
);

Deno.test("after a crash the service goes on with what waits, under the same id", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "longshore-outbox-" });
  const never = Promise.withResolvers<Response>();
  await using receiver = fakeReceiver((_, index) =>
    index === 0 ? never.promise : new Response(null, { status: 204 })
  );
  const options = { dataDir, env: { OUTBOUND_ALLOW: "127.0.0.1", API_KEY: crypto.randomUUID() } };
  try {
    let messageId: string;
    let webhookId: string;
    {
      await using service = await startLongshore(options);
      const { status, body } = await service.call("POST", "/api/webhooks", {
        name: "n",
        url: receiver.url,
        events: ["*"],
      });
      equal(status, 201);
      webhookId = body.id;
      const test = await service.call("POST", `/api/webhooks/${webhookId}/test`);
      messageId = test.body.delivery_id;
      await until("the receiver has it", () => receiver.received.length === 1);
      await service.kill9();
    }
    never.resolve(new Response(null, { status: 500 }));

    await using service = await startLongshore(options);
    const startMs = performance.now();
    await until("it is sent again", () => receiver.received.length === 2);
    equal(isInTime(performance.now() - startMs, 5_000), true);
    deepEqual(receiver.received.map(({ headers }) => headers["webhook-id"]), [
      messageId,
      messageId,
    ]);
    const log = await until("the attempt is recorded", async () => {
      const { body } = await service.call("GET", `/api/webhooks/${webhookId}/deliveries`);
      return body.deliveries[0].status === "sent" && body;
    });
    deepEqual([log.total, log.deliveries[0].attempts], [1, 1]);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});

/** The ids by which each event, told by its number, has arrived. */
function distinct(received: readonly Received[]): Map<number, Set<string>> {
  const ids = new Map<number, Set<string>>();
  for (const { headers, body } of received) {
    const number = Number(JSON.parse(body).data.id);
    if (!ids.has(number)) ids.set(number, new Set());
    ids.get(number)!.add(headers["webhook-id"]!);
  }
  return ids;
}

function startProgram(directory: string, urls: string[]) {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--no-check", "--no-lock", "-A", program.href],
      `${directory}/state.sqlite`,
      String(EVENTS),
      ...urls,
    ],
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const stderr = new Response(child.stderr).text();
  let ended = false;
  const end = child.status.then(() => ended = true);
  const kill9 = () => {
    if (!ended) child.kill("SIGKILL");
  };
  return {
    get ended() {
      return ended;
    },
    stderr: () => ended ? stderr : "",
    kill9,
    end,
    async [Symbol.asyncDispose]() {
      kill9();
      await Promise.all([end, stderr]);
    },
  };
}

/** Every message is stored once, and none was given up. */
function assertLog(directory: string): void {
  const db = openStateDatabase(`${directory}/state.sqlite`);
  try {
    const rows = db.all<{ status: string; n: number }>(
      "SELECT status, count(*) AS n FROM outbox_messages GROUP BY status ORDER BY status",
    );
    equal(rows.reduce((sum, { n }) => sum + n, 0), 3 * EVENTS);
    deepEqual(rows.filter(({ status }) => status === "failed"), []);
  } finally {
    db.close();
  }
}

/** The same sequence in every run (mulberry32), from 0 to 1. */
function randomNumbers(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
