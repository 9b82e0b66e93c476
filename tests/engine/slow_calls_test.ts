import { deepEqual, rejects } from "node:assert/strict";
import { containerCreate, containerRemove, containerStart } from "../../engine/containers.ts";
import type { Engine } from "../../engine/client.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { until } from "../helpers/until.ts";

const MINUTE_MS = 60_000;

/** Timers of a minute or more run out only when the test says that time has passed. */
function longTimers(): Disposable & { advance(ms: number): void } {
  const { setTimeout: start, clearTimeout: clear } = globalThis;
  const timers = new Map<number, { atMs: number; run: () => void }>();
  let nowMs = 0;
  let lastId = 0;
  globalThis.setTimeout = ((run: () => void, ms = 0) => {
    if (ms < MINUTE_MS) return start(run, ms);
    const id = --lastId;
    timers.set(id, { atMs: nowMs + ms, run });
    return id;
  }) as typeof start;
  globalThis.clearTimeout = (id) => {
    if (id !== undefined && !timers.delete(id as number)) clear(id);
  };
  return {
    advance(ms) {
      nowMs += ms;
      for (const [id, { atMs, run }] of timers) {
        if (atMs <= nowMs && timers.delete(id)) run();
      }
    },
    [Symbol.dispose]() {
      Object.assign(globalThis, { setTimeout: start, clearTimeout: clear });
    },
  };
}

const CALLS: Record<string, (engine: Engine) => Promise<unknown>> = {
  creation: (engine) => containerCreate(engine, { name: "web", body: { Image: "busybox" } }),
  start: (engine) => containerStart(engine, "c1"),
  removal: (engine) => containerRemove(engine, "c1", { force: true }),
};

for (const [what, call] of Object.entries(CALLS)) {
  Deno.test(`the ${what} of a container on a slow engine may take ten minutes, and not longer`, async () => {
    let gate = Promise.withResolvers<void>();
    let asked = 0;
    const slow = (answer: () => Response) => async () => {
      asked++;
      await gate.promise;
      return answer();
    };
    const nothing = () => new Response(null, { status: 204 });
    await using fake = fakeEngine({
      "POST /containers/create": slow(() => Response.json({ Id: "c1" }, { status: 201 })),
      "POST /containers/c1/start": slow(nothing),
      "DELETE /containers/c1": slow(nothing),
    });
    using timers = longTimers();

    const patient = call(fake.engine);
    await until("the engine has the call", () => asked === 1);
    timers.advance(9 * MINUTE_MS);
    gate.resolve();
    await patient;

    gate = Promise.withResolvers();
    const overdue = rejects(call(fake.engine), { reason: "timeout" });
    await until("the engine has the next call", () => asked === 2);
    timers.advance(11 * MINUTE_MS);
    await overdue;
    gate.resolve();
    deepEqual(asked, 2);
  });
}
