import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { connectEngine } from "../../engine/client.ts";
import {
  type LogsQuery,
  type LogsSearchQuery,
  readContainerLogs,
  searchContainerLogs,
} from "../../services/logs/logs.ts";
import { AppError } from "../../services/errors.ts";
import { createLimiters } from "../../services/access/limiters.ts";
import { createInventory } from "../../services/containers/inventory.ts";
import { long } from "../helpers/long.ts";
import { BUSYBOX, engineTest, podmanTest, type RealEngine } from "../helpers/real_engine.ts";
import { collectEvidence } from "../../services/updates/run/evidence.ts";
import { liveApp } from "../helpers/live_app.ts";
import { openLogStream } from "../helpers/log_client.ts";
import { until } from "../helpers/until.ts";

function logsOn({ socketPath }: RealEngine) {
  const engine = connectEngine(socketPath);
  const inventory = createInventory(() => new Date());
  const self = { id: null, hostname: null };
  const deps = { engine, inventory, limiters: createLimiters(), self };
  const caller = { role: "viewer", userId: "u1" } as const;
  return {
    engine,
    read: async (ref: string, query: Partial<LogsQuery> = {}) =>
      (await readContainerLogs(
        deps,
        caller,
        ref,
        { tail: 100, stdout: true, stderr: true, ...query },
      )).lines,
    search: (ref: string, query: LogsSearchQuery) => searchContainerLogs(deps, caller, ref, query),
    [Symbol.dispose]: () => engine.close(),
  };
}

/** Runs a script to its end and leaves the container. */
async function ran(engine: RealEngine, script: string, ...options: string[]) {
  const name = `longshore-test-${crypto.randomUUID().slice(0, 8)}`;
  await engine.docker("create", `--name=${name}`, ...options, BUSYBOX, "sh", "-c", script);
  await engine.docker("start", name);
  await engine.docker("wait", name);
  return {
    name,
    async [Symbol.asyncDispose]() {
      await engine.docker("rm", "--force", "--volumes", name);
    },
  };
}

const STAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d) /;

const texts = (lines: string[]) => lines.map((line) => line.replace(STAMP, ""));

const code = (wanted: string) => (error: unknown) =>
  error instanceof AppError && error.code === wanted;

for (const [kind, test] of [["Docker", engineTest], ["Podman", long(podmanTest)]] as const) {
  test(`logs on ${kind} merge both streams, with times`, async (engine) => {
    using logs = logsOn(engine);
    const script = "for i in 1 2 3; do " +
      "echo out $i; until [ -e /out$i ]; do usleep 20000; done; " +
      "echo err $i >&2; until [ -e /err$i ]; do usleep 20000; done; done";
    await using container = await engine.runContainer({ command: ["sh", "-c", script] });
    // A busy engine reads the two streams in any order, so each line waits for the one before it.
    const written = ["out 1", "err 1", "out 2", "err 2", "out 3", "err 3"];
    for (const [at, line] of written.entries()) {
      await until(
        `${line} is read`,
        async () => (await logs.read(container.name)).length === at + 1,
      );
      // After the last one the container would end, maybe before the command in it.
      if (at === written.length - 1) break;
      await engine.docker("exec", container.name, "touch", `/${line.replace(" ", "")}`);
    }
    const lines = await logs.read(container.name);
    ok(lines.every((line) => STAMP.test(line)), lines[0]);
    deepEqual(texts(lines), written);
    equal((await logs.read(container.name, { since: "1.5" })).length, 6);
    equal((await logs.read(container.name, { since: "2999-01-01" })).length, 0);
    deepEqual(texts(await logs.read(container.name, { tail: 3 })), ["err 2", "out 3", "err 3"]);
    deepEqual(texts(await logs.read(container.name, { stderr: false, tail: 2 })), [
      "out 2",
      "out 3",
    ]);
    deepEqual(texts(await logs.read(container.name, { stdout: false })), [
      "err 1",
      "err 2",
      "err 3",
    ]);
  });

  test(`logs on ${kind} have a line that was written in pieces as one line`, async (engine) => {
    using logs = logsOn(engine);
    const script = "echo one; printf aa; until [ -e /go ]; do usleep 20000; done; " +
      "echo bb; echo two; sleep 1000";
    const options = ["--stop-timeout=0"];
    await using container = await engine.runContainer({ command: ["sh", "-c", script], options });
    const { name, id } = container;
    if (kind === "Podman") {
      await until("a piece is stored", async () => (await logs.read(name)).length === 2);
    }
    await engine.docker("exec", name, "touch", "/go");
    await until("the end is stored", async () => (await logs.read(name)).length === 3);

    const written = ["one", "aabb", "two"];
    for (const tail of [1, 2, 3, 100]) {
      deepEqual(texts(await logs.read(name, { tail })), written.slice(-tail), String(tail));
    }
    const { logLines } = await collectEvidence(logs.engine, { name, id });
    deepEqual(texts(logLines), written);
    await using app = await liveApp(engine.socketPath);
    const stream = await openLogStream(app, `/api/containers/${name}/logs/stream?tail=2`);
    deepEqual((await stream.lines(2)).map(({ message }) => message), ["aabb", "two"]);
    await stream.cancel();
  });

  test(`logs on ${kind} of a terminal have no carriage returns`, async (engine) => {
    using logs = logsOn(engine);
    await using container = await ran(engine, "echo größe; echo err >&2; echo end", "--tty");
    const lines = await logs.read(container.name);
    ok(lines.every((line) => STAMP.test(line)), lines[0]);
    deepEqual(texts(lines), ["größe", "err", "end"]);
  });
}

engineTest("logs begin at the given time, to the nanosecond", async (engine) => {
  using logs = logsOn(engine);
  await using container = await ran(engine, "echo a; sleep 0.01; echo b; sleep 0.01; echo c");
  const lines = await logs.read(container.name);
  const since = lines[1]!.split(" ")[0]!;
  deepEqual(texts(await logs.read(container.name, { since })), ["b", "c"]);
  const seconds = `${Date.parse(since.slice(0, 19) + "Z") / 1000}.${since.slice(20, 29)}`;
  deepEqual(texts(await logs.read(container.name, { since: seconds })), ["b", "c"]);
  deepEqual(await logs.read(container.name, { since: "2999-01-01" }), []);
  await rejects(logs.read(container.name, { since: "soon" }), code("invalid"));
});

long(engineTest)(
  "the last lines of one stream are found behind many of the other",
  async (engine) => {
    using logs = logsOn(engine);
    await using container = await ran(
      engine,
      "echo early >&2; sleep 0.1; i=0; while [ $i -lt 3000 ]; do echo $i; i=$((i+1)); done",
    );
    deepEqual(texts(await logs.read(container.name, { stdout: false, tail: 5 })), ["early"]);
    deepEqual(texts(await logs.read(container.name, { stderr: false, tail: 2 })), [
      "2998",
      "2999",
    ]);
  },
);

engineTest("long lines are one line of 16 KiB each, and count as one", async (engine) => {
  using logs = logsOn(engine);
  const long = (length: number) => `head -c ${length} /dev/zero | tr '\\0' x; echo; `;
  const script = long(40_000) + long(16_384) + long(16_385) + "echo end";
  for (const options of [[], ["--tty"]]) {
    await using container = await ran(engine, script, ...options);
    const lines = texts(await logs.read(container.name, { tail: 4 }));
    deepEqual(lines.map(({ length }) => length), [16_384, 16_384, 16_384, 3]);
    ok(lines.slice(0, 3).every((line) => /^x+$/.test(line)));
    // The last entries begin in the middle of a line.
    const [last, end] = texts(await logs.read(container.name, { tail: 2 }));
    deepEqual([last?.length, end], [16_384, "end"]);
  }
});

engineTest("odd output stays readable", async (engine) => {
  using logs = logsOn(engine);
  await using container = await ran(
    engine,
    "printf 'a\\377b\\n'; printf '\\n'; printf '\\033[31mred\\033[0m\\r\\n'; printf 'no end'",
  );
  deepEqual(texts(await logs.read(container.name)), [
    "a\ufffdb",
    "",
    "\u001b[31mred\u001b[0m",
    "no end",
  ]);
});

engineTest("a search goes through the last 10 000 lines", async (engine) => {
  using logs = logsOn(engine);
  await using container = await ran(
    engine,
    "i=0; while [ $i -lt 10100 ]; do echo line $i; i=$((i+1)); done; echo 'ERROR at the end'",
  );
  const found = await logs.search(container.name, { query: "error", regex: false, context: 1 });
  equal(found.totalLines, 10_000);
  equal(found.matches.length, 1);
  equal(found.truncated, false);
  equal(found.matches[0]!.lineNumber, 10_000);
  deepEqual(texts(found.matches[0]!.context), ["line 10099", "ERROR at the end"]);

  const byPattern = await logs.search(container.name, {
    query: "^line 10(09|10)\\d$",
    regex: true,
    context: 0,
  });
  equal(byPattern.matches.length, 10);
  equal(byPattern.matches[0]!.lineNumber, 9_990);

  const many = await logs.search(container.name, { query: "line", regex: false, context: 0 });
  equal(many.matches.length, 500);
  equal(many.truncated, true);
});

engineTest("logs that are not there are refused with the reason", async (engine) => {
  using logs = logsOn(engine);
  await using container = await ran(engine, "echo a", "--log-driver=none");
  await rejects(logs.read(container.name), code("conflict"));
  await rejects(logs.read("no-such-container"), code("not_found"));
  await rejects(
    logs.read(container.name, { stdout: false, stderr: false }),
    code("invalid"),
  );
  await rejects(
    logs.search("no-such-container", { query: "(a+)+$", regex: true, context: 0 }),
    code("invalid"),
  );
  await rejects(
    logs.search("no-such-container", { query: "a", regex: false, context: 0 }),
    code("not_found"),
  );
});

engineTest("the log of a container that never ran is empty", async (engine) => {
  using logs = logsOn(engine);
  const name = `longshore-test-${crypto.randomUUID().slice(0, 8)}`;
  await engine.docker("create", `--name=${name}`, BUSYBOX, "true");
  try {
    deepEqual(await logs.read(name), []);
    equal((await logs.search(name, { query: "a", regex: false, context: 0 })).totalLines, 0);
  } finally {
    await engine.docker("rm", name);
  }
});
