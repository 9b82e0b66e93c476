import { equal } from "node:assert/strict";
import { detectLevel, type LogLevel } from "../../../../services/logs/follow/level.ts";

const LINES: [LogLevel | null, string][] = [
  // JSON
  ["error", `{"time":"2026-01-31T12:00:00Z","level":"error","msg":"refused"}`],
  ["warn", `{"severity":"WARNING","message":"slow"}`],
  ["debug", `{"lvl": "dbg"}`],
  ["info", `{"level":30,"time":1700000000000,"msg":"pino"}`],
  ["fatal", `{"level":60}`],
  [null, `{"level":7}`],
  [null, `{"level":"loud"}`],
  [null, `{"message":"no level"}`],
  ["error", `{"message":"${"x".repeat(3_000)}","level":"error"}`],
  // logfmt
  ["info", `time="2026-01-31T12:00:00Z" level=info msg="started"`],
  ["warn", `ts=1 lvl="warn" msg=x`],
  ["error", `level=error`],
  [null, `sublevel=error`],
  // klog
  ["info", "I0131 12:00:00.000000       1 main.go:1] started"],
  ["fatal", "F0131 12:00:00.000000       1 main.go:1] gone"],
  // syslog
  ["error", "<3>disk failure"],
  ["info", "<165>1 2026-01-31T12:00:00Z host app - - - started"],
  ["fatal", "<0>panic"],
  [null, "<html>"],
  [null, "<999>text"],
  // Prefixes
  ["error", "ERROR cannot connect"],
  ["error", "ERROR: cannot connect"],
  ["error", "ERROR:root:cannot connect"],
  ["warn", "WARNING:root:careful"],
  ["info", "2026-01-31 12:00:00.123  INFO 1 --- [main] c.e.App : Started"],
  ["error", "2026/01/31 12:00:00 [error] 7#7: *1 open() failed"],
  ["error", "[Sat Jan 31 12:00:00.000000 2026] [core:error] [pid 1] AH00037"],
  ["fatal", "2026-01-31 12:00:00.000 UTC [1] FATAL:  role does not exist"],
  ["info", "2026-01-31 12:00:00.000 UTC [1] LOG:  database system is ready"],
  ["info", "[12:00:00 INF] Now listening"],
  ["error", "fail: Microsoft.Hosting[0]"],
  ["info", "info: Microsoft.Hosting.Lifetime[14]"],
  ["debug", "12:00PM DBG loaded"],
  ["info", "2026-01-31T12:00:00.000Z\tINFO\tmain.go:1\tstarted"],
  ["warn", "2026-01-31T12:00:00Z 0 [Warning] [MY-010068] [Server] CA is self signed"],
  ["info", "[2026-01-31T12:00:00Z INFO  app::server] listening"],
  ["warn", "warn: something"],
  ["error", "\x1b[31mERROR\x1b[0m red"],
  ["trace", "[TRACE] x"],
  // No level
  [null, ""],
  [null, "GET /errors 200"],
  [null, "An error occurred"],
  [null, "the user took note of it"],
  [null, "ERRORS=0"],
  [null, "one two three four five six seven ERROR"],
  [null, "constructor:"],
];

for (const [level, line] of LINES) {
  Deno.test(`detectLevel() returns ${level} for ${line.slice(0, 60)}`, () => {
    equal(detectLevel(line), level);
  });
}

Deno.test("detectLevel() takes linear time for hostile lines", () => {
  for (const part of [" ", "[", "a:", "\x1b[", "level=", `"level":`, "A"]) {
    detectLevel(part.repeat(16_384 / part.length));
    detectLevel("{" + part.repeat(16_384 / part.length));
  }
});
