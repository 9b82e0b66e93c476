import { deepEqual, equal, match } from "node:assert/strict";
import { liveApp } from "../helpers/live_app.ts";
import { openLogStream } from "../helpers/log_client.ts";
import { journaldTest } from "../helpers/journald.ts";
import { long } from "../helpers/long.ts";
import { engineTest, podmanTest, type RealEngine } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";

/** Messages of lines. */
const messages = (lines: { message: string }[]) => lines.map(({ message }) => message);

/** A container that writes each line of its standard input. */
const COUNTER = (from: number, to: number) =>
  `i=${from}; while [ $i -le ${to} ]; do echo $i; i=$((i+1)); done; `;

/** Engines store it in pieces. */
const LONG_LINE = "head -c 40000 /dev/zero | tr '\\0' x";

/** It sends the last lines, then new ones. */
async function sendsNewLines(engine: RealEngine, options: string[]): Promise<void> {
  await using app = await liveApp(engine.socketPath);
  await using container = await engine.runContainer({
    command: [
      "sh",
      "-c",
      `${COUNTER(1, 20)} until [ -e /go ]; do sleep 0.1; done; ` +
      "echo 'level=warn msg=x' >&2; echo new; sleep 1000",
    ],
    options,
  });
  await until(
    "the lines are there",
    async () => (await engine.docker("logs", container.name)).includes("20"),
  );
  const client = await openLogStream(
    app,
    `/api/containers/${container.name}/logs/stream?tail=3`,
  );
  const first = await client.lines(3);
  deepEqual(messages(first), ["18", "19", "20"]);
  deepEqual([first[0]!.container, first[0]!.containerId], [container.name, container.id]);
  match(first[0]!.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/);

  await engine.docker("exec", container.name, "touch", "/go");
  const added = await client.lines(2);
  const line = added.find(({ stream }) => stream === "stdout");
  deepEqual([line?.message, line?.level], ["new", null]);
  const warning = added.find(({ stream }) => stream === "stderr");
  deepEqual([warning?.message, warning?.level], ["level=warn msg=x", "warn"]);
  await client.cancel();
  equal(app.deps.logStreams.followed, 0);
}

/** It continues after the last id, in another process. */
async function continuesAfterId(engine: RealEngine, options: string[]): Promise<void> {
  await using container = await engine.runContainer({
    // A slow Podman, or a program that writes blocks, splits some of the lines.
    command: ["sh", "-c", "seq 1 3000; sleep 1000"],
    options,
  });
  await until(
    "the lines are there",
    async () => (await engine.docker("logs", "--tail=1", container.name)) === "3000",
  );
  const path = `/api/containers/${container.id}/logs/stream?tail=2500`;
  const seen: string[] = [];
  let lastId: string | undefined;
  for (let round = 0; seen.length < 2500; round++) {
    await using app = await liveApp(engine.socketPath);
    const client = await openLogStream(app, path, lastId === undefined ? {} : { lastId });
    // Whole frames: a client that leaves within one has not received it.
    for (let frames = 0; frames < 7 && seen.length < 2500; frames++) {
      const frame = await client.next();
      equal(frame?.type, "log");
      seen.push(...messages(frame!.lines));
    }
    lastId = client.lastId;
    await client.cancel();
  }
  deepEqual(seen, Array.from({ length: 2500 }, (_, index) => String(501 + index)));
}

/** It cuts a long line, past or new, and has the unfinished last one. */
async function cutsLongLines(engine: RealEngine, options: string[]): Promise<void> {
  await using app = await liveApp(engine.socketPath);
  await using container = await engine.runContainer({
    command: [
      "sh",
      "-c",
      `${LONG_LINE}; echo; echo next; until [ -e /go ]; do sleep 0.1; done; ` +
      `${LONG_LINE}; printf "\\nunfinished"`,
    ],
    options,
  });
  // A part of a long line of Podman would be taken for an unfinished one.
  await until(
    "the first lines are there",
    async () => (await engine.docker("logs", "--tail=1", container.name)) === "next",
  );
  const client = await openLogStream(app, `/api/containers/${container.name}/logs/stream`);
  const lines = await client.lines(2);
  await engine.docker("exec", container.name, "touch", "/go");
  lines.push(...await client.lines(1));
  // Not before: a long line of which a part arrived late would be taken for an unfinished one.
  const ticking = setInterval(() => app.deps.logStreams.tick(), 1_000);
  lines.push(...await client.lines(1));
  clearInterval(ticking);
  const cut = ["x".repeat(16_384), true];
  deepEqual(lines.map(({ message, truncated = false }) => [message, truncated]), [
    cut,
    ["next", false],
    cut,
    ["unfinished", false],
  ]);
  await client.cancel();
}

for (
  const { kind, test, options = [] } of [
    { kind: "Docker", test: engineTest },
    { kind: "Docker with the driver local", test: engineTest, options: ["--log-driver=local"] },
    {
      kind: "Docker with the driver journald",
      test: long(journaldTest),
      options: ["--log-driver=journald"],
    },
    { kind: "Podman", test: long(podmanTest) },
  ]
) {
  test(`a stream on ${kind} sends all lines, continues, and cuts long ones`, async (engine) => {
    await sendsNewLines(engine, options);
    await continuesAfterId(engine, options);
    await cutsLongLines(engine, options);
  });
}

long(engineTest)("a stream reports restarts and the removal", async (engine) => {
  await using app = await liveApp(engine.socketPath);
  await using container = await engine.runContainer({
    command: [
      "sh",
      "-c",
      "echo started; trap 'echo stopping; exit' TERM; while :; do sleep 0.1; done",
    ],
  });
  const client = await openLogStream(app, `/api/containers/${container.name}/logs/stream`);
  equal((await client.lines(1))[0]?.message, "started");
  const ticking = setInterval(() => app.deps.logStreams.tick(), 50);
  /** Lines and the restart between them, in the order in which they come. */
  const expectFrames = async (...expected: string[]) => {
    const seen: string[] = [];
    while (seen.length < expected.length) {
      const frame = (await client.next())!;
      if (frame.type === "restarted") {
        deepEqual(frame.data, { container: container.name, containerId: container.id });
        seen.push("<restarted>");
      } else seen.push(...frame.lines.map(({ message }) => message));
    }
    deepEqual(seen, expected);
  };
  try {
    for (let round = 0; round < 5; round++) {
      await engine.docker("restart", "--time=10", container.name);
      await expectFrames("stopping", "<restarted>", "started");
    }
    await engine.docker("kill", container.name);
    await engine.docker("start", container.name);
    await expectFrames("<restarted>", "started");
    await engine.docker("rm", "--force", container.name);
    const rest = await client.rest();
    deepEqual(rest.map(({ type, data }) => [type, data.reason]), [["end", "removed"]]);
  } finally {
    clearInterval(ticking);
  }
});

for (const driver of ["json-file", "local"]) {
  long(engineTest)(
    `a stream of the driver ${driver} has no line twice after rotations`,
    async (engine) => {
      await using app = await liveApp(engine.socketPath);
      const portion =
        `awk -v i=$i 'BEGIN { for (j = i; j < i + 500; j++) printf "%d %60d\\n", j, j }'`;
      await using container = await engine.runContainer({
        command: [
          "sh",
          "-c",
          "until [ -e /go ]; do sleep 0.1; done; i=1; " +
          `while [ $i -lt 20000 ]; do ${portion}; i=$((i+500)); usleep 30000; done; echo done; sleep 1000`,
        ],
        options: [`--log-driver=${driver}`, "--log-opt=max-size=500k", "--log-opt=max-file=3"],
      });
      const client = await openLogStream(app, `/api/containers/${container.name}/logs/stream`);
      await engine.docker("exec", container.name, "touch", "/go");
      const received: string[] = [];
      // The engine itself may lose lines on a busy machine, even the last ones.
      const ticking = setInterval(() => app.deps.logStreams.tick(), 1_000);
      while (received.at(-1) !== "done") {
        const frame = (await client.next())!;
        received.push(...messages(frame.lines));
      }
      clearInterval(ticking);
      await client.cancel();
      const numbers = received.slice(0, -1).map((line) => parseInt(line));
      deepEqual(numbers, [...new Set(numbers)].sort((a, b) => a - b));
    },
  );
}

long(engineTest)(
  "a log that the engine does not keep ends as unreadable, beside others",
  async (engine) => {
    await using app = await liveApp(engine.socketPath);
    await using silent = await engine.runContainer({
      command: ["sleep", "1000"],
      options: ["--log-driver=none"],
    });
    await using other = await engine.runContainer();
    const path = `/api/logs/stream?container=${silent.name}&container=${other.name}`;
    const client = await openLogStream(app, path);
    const frames = [await client.next(), await client.next()];
    deepEqual(frames.map((frame) => frame?.type).sort(), ["end", "log"]);
    const end = frames.find((frame) => frame?.type === "end");
    deepEqual([end?.data.container, end?.data.reason], [silent.name, "unreadable"]);
    await client.cancel();
  },
);
