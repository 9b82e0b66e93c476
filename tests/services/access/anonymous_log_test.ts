import { deepEqual, equal } from "node:assert/strict";
import { createAnonymousLog } from "../../../services/access/anonymous_log.ts";
import { silentLog } from "../../../services/log.ts";
import { testClock } from "../../helpers/test_app.ts";

Deno.test("each message has a quota, and a summary in a later minute", () => {
  const clock = testClock("2026-01-01T12:00:30Z");
  const lines: unknown[] = [];
  const log = {
    ...silentLog,
    warn: (message: string, fields?: object) => void lines.push({ message, ...fields }),
  };
  const anonymousLog = createAnonymousLog(log, clock.now);
  for (let n = 0; n < 1_000; n++) {
    anonymousLog.warn("wrong API key", { address: `203.0.${n >> 8}.${n & 255}` });
  }
  equal(lines.length, 300);
  anonymousLog.warn("login refused", { userId: "u1", address: "192.0.2.1" });
  deepEqual(lines.at(-1), { message: "login refused", userId: "u1", address: "192.0.2.1" });

  clock.advance({ minutes: 1 });
  anonymousLog.warn("wrong API key", { address: "192.0.2.1" });
  const [summary, line] = lines.slice(-2) as { message: string; count: number; since: string }[];
  deepEqual([summary!.message, summary!.count, summary!.since], [
    "wrong API key: more not logged",
    700,
    "2026-01-01T12:00:00.000Z",
  ]);
  equal(line!.message, "wrong API key");
});
