import { deepEqual } from "node:assert/strict";
import { readCrashLines } from "../../../services/messages/crash_log.ts";
import { collectNotifications } from "../../../services/messages/queue.ts";
import { emit } from "../../../services/events/emit.ts";
import type { EventKind, EventMap } from "../../../services/events/kinds/mod.ts";
import { type FakeAnswer, fakeEngine, outputFrame } from "../../helpers/fake_engine.ts";
import { fakeLog } from "../../helpers/fake_log.ts";
import { testApp } from "../../helpers/test_app.ts";

const exit = { container: "web", id: "c1", reason: "exited", exitCode: 1 } as const;
type Crash = "container.down" | "container.crash_looping";

/** The lines of the message about a crash. */
async function linesOf(answer: FakeAnswer, kind: Crash = "container.down"): Promise<string[]> {
  await using fake = fakeEngine({
    "GET /containers/c1/json": () => Response.json({ Id: "c1", Name: "/web", Config: {} }),
    "GET /containers/c1/logs": answer,
  });
  using app = testApp({ now: "2026-01-01T12:00:00Z", engine: fake.engine });
  const { deps } = app;
  await app.call("POST", "/api/notifications/channels", {
    name: "Phone",
    kind: "gotify",
    config: { url: "https://gotify.example.com", token: "t" },
  });
  const event = emit(deps, kind as EventKind, exit as EventMap[EventKind]);
  await readCrashLines(deps, event as Parameters<typeof readCrashLines>[1], ended);
  app.clock.advance({ seconds: 3 });
  collectNotifications(deps);
  const sql = "SELECT payload FROM outbox_messages";
  return JSON.parse(deps.db.get<{ payload: string }>(sql)!.payload).lines;
}

const ended = new AbortController().signal;

const REASON = ["Exited (exit code 1)"];

Deno.test("a message about a crash has the last three lines of the run that crashed", async () => {
  for (const kind of ["container.down", "container.crash_looping"] as const) {
    const log = fakeLog("2026-01-01T11:59:00Z");
    for (const line of ["start", "one", "\u001b[31mtwo\u202e", "", "x".repeat(500)]) {
      log.write(line);
    }
    log.write("the next run", { time: "2026-01-01T12:00:00.5Z" });
    deepEqual(await linesOf(log.answer, kind), [
      ...REASON,
      "Log: one",
      "Log: two",
      `Log: ${"x".repeat(197)}...`,
    ]);
  }
});

/** The log of two lines and one of many entries, as Docker stores it. */
function longLog(pieces: number): FakeAnswer {
  const at = (second: number) => `2026-01-01T11:59:${String(second).padStart(2, "0")}.000000000Z `;
  const entries = [
    outputFrame("stdout", `${at(1)}one\n`),
    outputFrame("stdout", `${at(2)}two\n`),
    ...Array.from({ length: pieces }, (_, n) => {
      const isLast = n === pieces - 1;
      const text = n === 0 ? "begin ".padEnd(16_384, "x") : "y".repeat(isLast ? 100 : 16_384);
      return outputFrame("stdout", `${at(3)}${text}${isLast ? "\n" : ""}`);
    }),
  ];
  return ({ query }) => new Response(new Blob(entries.slice(-Number(query.get("tail")))).stream());
}

for (const pieces of [2, 29, 30, 64, 640]) {
  Deno.test(`a last line of ${pieces} entries is cut, after the lines before it`, async () => {
    deepEqual(await linesOf(longLog(pieces)), [
      ...REASON,
      "Log: one",
      "Log: two",
      `Log: begin ${"x".repeat(191)}...`,
    ]);
  });
}

Deno.test("a crash whose log cannot be read is reported without it", async () => {
  const refuse = () => Response.json({ message: "not supported" }, { status: 501 });
  deepEqual(await linesOf(refuse), REASON);
});
