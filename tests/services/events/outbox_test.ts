import { deepEqual, equal, rejects } from "node:assert/strict";
import { selectOutboxMessages } from "../../../db/outbox_messages.ts";
import { outboxDeliverer } from "../../../services/events/outbox_deliverer.ts";
import type { Deps } from "../../../services/deps.ts";
import {
  createDeliverer,
  enqueueMessage,
  outboxDepth,
  sweepOutbox,
} from "../../../services/events/outbox.ts";
import type { OutboxMessage, OutboxOutcome } from "../../../services/events/outbox_channel.ts";
import { deliverDue } from "../../helpers/outbox_delivery.ts";
import { type TestApp, testApp } from "../../helpers/test_app.ts";
import { until } from "../../helpers/until.ts";
import { isInTime } from "../../helpers/in_time.ts";

const SENT: OutboxOutcome = { result: "sent", status: 200, error: null };
const RETRY: OutboxOutcome = { result: "retry", status: 500, error: "HTTP 500" };

/** An application whose only channel does as the test says, and a record of what it was given. */
function outboxApp(
  send: (
    message: OutboxMessage,
    signal: AbortSignal,
  ) => OutboxOutcome | Promise<OutboxOutcome> = () => SENT,
) {
  const app = testApp();
  const sent: string[] = [];
  app.deps.channels = [{
    name: "test",
    edition: "ce",
    resource: "/api/test",
    // deno-lint-ignore require-await
    async send(_, message, signal) {
      sent.push(message.payload);
      return send(message, signal);
    },
  }];
  const end = new AbortController();
  return {
    ...app,
    sent,
    end,
    deliver: () => deliverDue(app.deps, { signal: end.signal }),
    [Symbol.dispose]: () => app[Symbol.dispose](),
  };
}

const put = (deps: Deps, payload: string, targetId = "a") =>
  enqueueMessage(deps, { channel: "test", targetId, eventKind: "test", payload });

const messages = ({ deps }: Pick<TestApp, "deps">, targetId = "a") =>
  selectOutboxMessages(deps.db, { channel: "test", targetId }, { limit: 500, offset: 0 });

Deno.test("messages of a target are sent in the order in which they came", async () => {
  using app = outboxApp();
  for (let i = 0; i < 20; i++) put(app.deps, String(i));
  equal(outboxDepth(app.deps), 20);
  await app.deliver();
  deepEqual(app.sent, Array.from({ length: 20 }, (_, i) => String(i)));
  equal(outboxDepth(app.deps), 0);
  const [last] = messages(app);
  deepEqual([last!.status, last!.attempts, last!.lastStatus, last!.lastError], [
    "sent",
    1,
    200,
    null,
  ]);
});

Deno.test("a failed message is tried again after 5 s, 30 s, 2 min, 10 min, 1 h, then given up", async () => {
  using app = outboxApp(() => RETRY);
  put(app.deps, "x");
  const pauses: number[] = [];
  for (let attempt = 1; attempt <= 6; attempt++) {
    await app.deliver();
    equal(app.sent.length, attempt);
    const [message] = messages(app);
    equal(message!.attempts, attempt);
    equal(message!.lastError, "HTTP 500");
    if (message!.nextAttemptAt === null) break;
    const pauseMs = Date.parse(message!.nextAttemptAt) - app.clock.now().getTime();
    pauses.push(pauseMs);
    app.clock.advance({ ms: pauseMs - 1 });
    await app.deliver();
    equal(app.sent.length, attempt, "not before its time");
    app.clock.advance({ ms: 1 });
  }
  const expected = [5, 30, 120, 600, 3600];
  equal(pauses.length, expected.length);
  for (const [i, pauseMs] of pauses.entries()) {
    const share = pauseMs / (expected[i]! * 1000);
    equal(share >= 0.9 && share <= 1.1, true, String(pauseMs));
  }
  const [message] = messages(app);
  deepEqual([message!.status, message!.nextAttemptAt, message!.sentAt], ["failed", null, null]);
  equal(outboxDepth(app.deps), 0);
});

Deno.test("the receiver's own wish counts where it is longer, up to an hour", async () => {
  for (const [afterMs, expectedMs] of [[60_000, 60_000], [99_999_999, 3_600_000]] as const) {
    using app = outboxApp(() => ({ ...RETRY, afterMs }));
    put(app.deps, "x");
    await app.deliver();
    const at = Date.parse(messages(app)[0]!.nextAttemptAt!);
    equal(at - app.clock.now().getTime(), expectedMs);
  }
});

Deno.test("what failed in order is tried again in order, and later messages do not wait", async () => {
  let isDown = true;
  using app = outboxApp(() => isDown ? RETRY : SENT);
  for (const payload of ["1", "2", "3"]) put(app.deps, payload);
  await app.deliver();
  isDown = false;
  app.clock.advance({ seconds: 1 });
  put(app.deps, "4");
  await app.deliver();
  app.clock.advance({ seconds: 6 });
  await app.deliver();
  deepEqual(app.sent, ["1", "2", "3", "4", "1", "2", "3"]);
});

Deno.test("a receiver that is gone gets nothing more", async () => {
  using app = outboxApp(() => ({ result: "gone", status: 410, error: "HTTP 410: gone" }));
  for (const payload of ["1", "2", "3"]) put(app.deps, payload);
  await app.deliver();
  deepEqual(app.sent, ["1"]);
  deepEqual(messages(app).map(({ status, attempts }) => [status, attempts]), [
    ["failed", 0],
    ["failed", 0],
    ["failed", 1],
  ]);
});

Deno.test("each attempt is a change of what shows the deliveries", async () => {
  const outcomes = [RETRY, SENT];
  using app = outboxApp(() => outcomes.shift()!);
  put(app.deps, "1");
  await app.deliver();
  deepEqual(app.deps.changes.counts, { "/api/test": 1 });
  app.clock.advance({ seconds: 10 });
  await app.deliver();
  deepEqual(app.deps.changes.counts, { "/api/test": 2 });
});

Deno.test("a message that can never be sent is given up at once, and the next one goes on", async () => {
  using app = outboxApp(({ payload }) =>
    payload === "1" ? { result: "failed", status: null, error: "no" } : SENT
  );
  put(app.deps, "1");
  put(app.deps, "2");
  await app.deliver();
  deepEqual(messages(app).map(({ status }) => status), ["sent", "failed"]);
});

Deno.test("a bug in a channel costs an attempt and is reported only in the log", async () => {
  using app = outboxApp(() => {
    throw new Error("password of the database");
  });
  put(app.deps, "x");
  await app.deliver();
  const [message] = messages(app);
  deepEqual([message!.status, message!.attempts, message!.lastError], [
    "queued",
    1,
    "Internal error",
  ]);
});

Deno.test("one target has one attempt at a time, all together 32", async () => {
  const release = Promise.withResolvers<void>();
  using app = outboxApp(() => release.promise.then(() => SENT));
  for (let target = 0; target < 40; target++) {
    put(app.deps, "1", `t${target}`);
    put(app.deps, "2", `t${target}`);
  }
  const deliverer = createDeliverer(app.deps, { signal: app.end.signal });
  deliverer.start();
  deliverer.start();
  equal(deliverer.busy, 32);
  equal(app.sent.filter((payload) => payload === "1").length, 32);
  release.resolve();
  await deliverer.idle();
  await app.deliver();
  equal(app.sent.length, 80);
});

Deno.test("targets that failed before take half of the room at most", async () => {
  const hang = Promise.withResolvers<void>();
  using app = outboxApp(async ({ targetId, attempts }) => {
    if (targetId === "alive") return SENT;
    if (attempts > 0) await hang.promise;
    return RETRY;
  });
  for (let target = 0; target < 100; target++) put(app.deps, "dead", `dead ${target}`);
  await app.deliver();
  app.clock.advance({ seconds: 6 });
  // As after a restart: it has seen none of the failures.
  const deliverer = createDeliverer(app.deps, { signal: app.end.signal });
  deliverer.start();
  equal(deliverer.busy, 16);
  put(app.deps, "hello", "alive");
  deliverer.start();
  await until("the living one has its message", () => messages(app, "alive")[0]!.status === "sent");
  hang.resolve();
  await deliverer.idle();
});

Deno.test("a message whose attempt was interrupted is queued as before", async () => {
  using app = outboxApp((_, signal) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
  );
  const id = put(app.deps, "x");
  const delivering = app.deliver();
  app.end.abort();
  await delivering;
  const [message] = messages(app);
  deepEqual([message!.id, message!.status, message!.attempts], [id, "queued", 0]);
});

Deno.test("messages of a channel that is not licensed wait", async () => {
  using app = outboxApp();
  app.deps.channels = app.deps.channels.map((channel) => ({ ...channel, edition: "pro" as const }));
  put(app.deps, "x");
  await app.deliver();
  deepEqual([app.sent, outboxDepth(app.deps)], [[], 1]);
});

Deno.test("a transaction that is undone leaves no message", () => {
  using app = outboxApp();
  try {
    app.deps.db.transaction(() => {
      put(app.deps, "x");
      throw new Error("the cause could not be stored");
    });
  } catch { /* as the test wants it */ }
  equal(outboxDepth(app.deps), 0);
});

Deno.test("what settles an attempt is committed with it, or not at all", async () => {
  using app = outboxApp();
  app.deps.channels = app.deps.channels.map((channel) => ({
    ...channel,
    settle: () => {
      throw new Error("the disk is full");
    },
  }));
  put(app.deps, "x");
  await rejects(app.deliver(), /the disk is full/);
  equal(messages(app)[0]!.status, "queued");
});

Deno.test("for one more than 10 000 waiting messages the oldest is given up", () => {
  using app = outboxApp();
  app.deps.db.transaction(() => {
    for (let i = 0; i <= 10_000; i++) put(app.deps, String(i));
  });
  equal(outboxDepth(app.deps), 10_000);
  put(app.deps, "other", "b");
  equal(outboxDepth(app.deps), 10_001);
  const oldest = selectOutboxMessages(
    app.deps.db,
    { channel: "test", targetId: "a" },
    { limit: 1, offset: 10_000 },
  );
  deepEqual(oldest.map(({ payload, status }) => [payload, status]), [["0", "failed"]]);
});

Deno.test("messages are kept for 7 days, and the last 1 000 of each target", async () => {
  using app = outboxApp();
  put(app.deps, "old", "b");
  app.clock.advance({ days: 6 });
  app.deps.db.transaction(() => {
    for (let i = 0; i < 1_100; i++) put(app.deps, String(i));
  });
  await app.deliver();
  put(app.deps, "waits");
  sweepOutbox(app.deps);
  const kept = (target: string) =>
    selectOutboxMessages(app.deps.db, { channel: "test", targetId: target }, {
      limit: 5_000,
      offset: 0,
    }).map(({ payload }) => payload);
  equal(kept("a").length, 1_001);
  deepEqual([kept("a")[0], kept("a").at(-1)], ["waits", "100"]);
  deepEqual(kept("b"), ["old"]);

  app.clock.advance({ days: 1, seconds: 1 });
  sweepOutbox(app.deps);
  deepEqual(kept("b"), []);
});

Deno.test("the worker sends what comes at once, without waiting for its round", async () => {
  using app = outboxApp();
  const working = outboxDeliverer.run(app.deps, app.end.signal, () => {});
  const startMs = performance.now();
  for (let i = 0; i < 5; i++) {
    put(app.deps, String(i));
    await until("it is sent", () => app.sent.length === i + 1);
  }
  // By its rounds alone it would take five times as long as one of them.
  equal(isInTime(performance.now() - startMs, 10_000), true);
  app.end.abort();
  await working;
});
