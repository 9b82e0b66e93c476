import { deepEqual, equal, match } from "node:assert/strict";
import {
  createLog,
  errorFields,
  LOG_LEVELS,
  type LogFormat,
  silentLog,
} from "../../services/log.ts";

const now = () => new Date("2026-01-31T12:00:00.123Z");

/** The lines that a log of the level writes in a format. */
function lines(format: LogFormat, level: (typeof LOG_LEVELS)[number] = "debug") {
  const written: string[] = [];
  return { written, log: createLog({ level, format, now }, (line) => written.push(line)) };
}

Deno.test("a JSON line holds time, level, message and fields", () => {
  const { log, written } = lines("json");
  log.info("started", { port: 3000, path: "/tmp/a b", nothing: null, unset: undefined });
  deepEqual(written, [
    '{"time":"2026-01-31T12:00:00.123Z","level":"info","message":"started","port":3000,' +
    '"path":"/tmp/a b","nothing":null}',
  ]);
});

Deno.test("a text line holds the same for a person", () => {
  const { log, written } = lines("text");
  log.warn("slow", { ms: 1200, path: "/api", list: [1], unset: undefined });
  deepEqual(written, ["2026-01-31T12:00:00.123Z WARN  slow ms=1200 path=/api list=[1]"]);
});

Deno.test("a text line shows the stack of errors only", () => {
  const { log, written } = lines("text");
  log.warn("a", { error: "x", stack: "at y" });
  log.error("b", { error: "x", stack: "at y" });
  deepEqual(written, [
    "2026-01-31T12:00:00.123Z WARN  a error=x",
    '2026-01-31T12:00:00.123Z ERROR b error=x stack="at y"',
  ]);
});

for (const [index, level] of LOG_LEVELS.entries()) {
  Deno.test(`a log of the level ${level} leaves out what is below, unless it is always written`, () => {
    const { log, written } = lines("json", level);
    for (const each of LOG_LEVELS) log[each]("said");
    log.always("said");
    deepEqual(written.map((line) => JSON.parse(line).level), [...LOG_LEVELS.slice(index), "info"]);
  });
}

Deno.test("a line stays one line in JSON, whatever is in it", () => {
  const { log, written } = lines("json");
  log.info("a\nb", { text: "c\r\nd\u2028" });
  equal(written[0]!.includes("\n"), false);
  deepEqual(JSON.parse(written[0]!).message, "a\nb");
});

Deno.test("an error is told with its causes and its stack", () => {
  const error = new Error("outer", { cause: new Error("middle", { cause: "inner" }) });
  const { error: message, stack } = errorFields(error);
  equal(message, "outer: middle: inner");
  match(String(stack), /^Error: outer\n\s+at /);
});

Deno.test("what is thrown without being an error is told, too", () => {
  for (
    const [thrown, message] of [
      ["a text", "a text"],
      [null, "null"],
      [{ cause: new Error("hidden") }, "[object Object]"],
      [42, "42"],
    ] as const
  ) deepEqual(errorFields(thrown), { error: message });
});

Deno.test("causes that lead in a circle come to an end", () => {
  const [a, b] = [new Error("a"), new Error("b")];
  a.cause = b;
  b.cause = a;
  equal(errorFields(a).error, "a: b: a: b: a");
});

Deno.test("the silent log says nothing", () => {
  for (const level of LOG_LEVELS) equal(silentLog[level]("anything"), undefined);
});

Deno.test("a closed standard error does not end the process", async () => {
  const program = `
    import { createLog } from ${JSON.stringify(import.meta.resolve("../../services/log.ts"))};
    const log = createLog({ level: "info", format: "json", now: () => new Date() });
    log.info("first");
    await Deno.stdin.read(new Uint8Array(1));
    for (let n = 0; n < 100; n++) log.info("not written");
    console.log("still here");
  `;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["eval", "--no-lock", program],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  // The first line shows that it runs; after that nothing reads the pipe.
  const reader = child.stderr.getReader();
  const { value } = await reader.read();
  match(new TextDecoder().decode(value), /"message":"first"/);
  await reader.cancel();
  const stdin = child.stdin.getWriter();
  await stdin.write(new Uint8Array([10]));
  await stdin.close();

  const output = await new Response(child.stdout).text();
  deepEqual([(await child.status).code, output], [0, "still here\n"]);
});

Deno.test("a field cannot pass for another line or field", () => {
  const { log, written } = lines("text");
  log.info("login", {
    address: "1.2.3.4\n2026 INFO  login",
    agent: 'a role=admin "x"',
    esc: "\x1b[2J",
  });
  deepEqual(written, [
    '2026-01-31T12:00:00.123Z INFO  login address="1.2.3.4\\n2026 INFO  login" ' +
    'agent="a role=admin \\"x\\"" esc="\\u001b[2J"',
  ]);
});

Deno.test("a field that is not JSON does not cost the line", () => {
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  for (const format of ["json", "text"] as const) {
    const { log, written } = lines(format);
    log.info("odd", { big: 10n });
    log.info("odd", { circle });
    equal(written.length, 2);
    match(written[0]!, /10/);
    match(written[1]!, /not serializable/);
  }
});
