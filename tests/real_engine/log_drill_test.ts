/**
 * Readers of log streams come and go, containers are restarted and recreated, and the service is
 * killed: every line that the engine kept arrives once, or its loss is reported.
 *
 * `LOG_DRILL_CONTAINERS` (default 5) and `LOG_DRILL_LINES` of each run of a container (default
 * 3000) make it larger.
 *
 * @module
 */

import { equal, ok } from "node:assert/strict";
import { createLimiter } from "../../services/limiter.ts";
import { type LogClient, logClient } from "../helpers/log_client.ts";
import { long } from "../helpers/long.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { engineTest, type TestContainer } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";

const CONTAINERS = Number(Deno.env.get("LOG_DRILL_CONTAINERS") ?? 5);
const LINES = Number(Deno.env.get("LOG_DRILL_LINES") ?? 3_000);
/** A container is recreated at the first, and restarted at the second. */
const KILLS = 2;

/** Limit of containers in one stream. */
const STREAM_MAX = 50;

/** As many readers as can follow all of their containers at the same time. */
const connections = createLimiter({ what: "streams", running: 100 / STREAM_MAX, waiting: 100 });

/**
 * A reader leaves after this time without a frame, for others, in milliseconds; later each time that it
 * left without any, because the machine may be slow.
 */
const STAY_MS = 5_000;

/** Limit of frames of one connection. */
const FRAMES_MAX = 5_000;

/** Longest silence before the last lines, in milliseconds. */
const SILENCE_MAX_MS = 300_000;

/** Microseconds between two portions: many containers together write as much as a few. */
const PAUSE_US = CONTAINERS * 10_000;

/** Writes `LINES` lines in each run, in portions; each tenth one to standard error. */
const SCRIPT = `
  run=$(($(cat /run-number 2>/dev/null || echo 0) + 1)); echo $run > /run-number
  i=0
  while [ $i -lt ${LINES} ]; do
    awk -v run=$run -v i=$i 'BEGIN { for (j = i + 1; j <= i + 500; j++) {
      if (j % 10) print run, j, "end"; else print run, j, "end" > "/dev/stderr" } }'
    i=$((i + 500))
    usleep ${PAUSE_US}
  done
  exec sleep 100000`;

/** Lines of one container that a reader has received. */
interface Received {
  /** Complete lines end with "end"; a killed program may write a part of one. */
  lines: string[];
  stdout: string[];
  dropped: number;
  /** Whether an unknown number of lines is missing. */
  hasUnknownGap: boolean;
}

/** Reads a stream, and reconnects with the last id whenever it ends. */
function startReader(open: () => { baseUrl: string; token: string }, names: readonly string[]) {
  const query = names.map((name) => `container=${name}`).join("&");
  const received = new Map<string, Received>();
  const stop = new AbortController();
  let lastId: string | undefined;
  let visits = 0;
  let vain = 0;
  let client: LogClient | undefined;

  const of = (id: string) => {
    if (!received.has(id)) {
      received.set(id, { lines: [], stdout: [], dropped: 0, hasUnknownGap: false });
    }
    return received.get(id)!;
  };
  const connect = async () => {
    const { baseUrl, token } = open();
    const headers = {
      authorization: `Bearer ${token}`,
      ...(lastId && { "last-event-id": lastId }),
    };
    const response = await fetch(`${baseUrl}/api/logs/stream?since=2000-01-01&${query}`, {
      headers,
      signal: stop.signal,
    });
    if (!response.ok) return void await response.body?.cancel();
    client = logClient(response.body!);
    // Leaves after some frames, at a different place each time.
    const frames = Math.min(23 * 2 ** visits++, FRAMES_MAX);
    for (let count = 0; count < frames; count++) {
      if (count === 0) vain++;
      const leaving = setTimeout(client.cancel, STAY_MS * vain);
      const frame = await client.next().finally(() => clearTimeout(leaving));
      if (!frame) return;
      vain = 1;
      for (const { containerId, stream, message } of frame.lines) {
        of(containerId).lines.push(message);
        if (stream === "stdout") of(containerId).stdout.push(message);
      }
      if (frame.type === "gap") {
        const { containerId, dropped } = frame.data;
        if (dropped === null) of(containerId).hasUnknownGap = true;
        else of(containerId).dropped += dropped;
      }
      if (frame.id) lastId = frame.id;
    }
    await client.cancel();
  };
  const running = (async () => {
    while (!stop.signal.aborted) {
      await connections(connect).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  return {
    received,
    async end() {
      stop.abort();
      await client?.cancel().catch(() => {});
      await running;
    },
  };
}

long(engineTest)(
  "every line arrives once, whatever is restarted, recreated or killed",
  async (engine) => {
    const prefix = `longshore-test-drill-${crypto.randomUUID().slice(0, 8)}`;
    const create = (index: number) =>
      engine.runContainer({ name: `${prefix}-${index}`, command: ["sh", "-c", SCRIPT] });
    await using containers = new AsyncDisposableStack();
    const current: TestContainer[] = [];
    for (let index = 0; index < CONTAINERS; index++) {
      current.push(containers.use(await create(index)));
    }
    const dataDir = await Deno.makeTempDir({ prefix: "longshore-test-data-" });
    const start = () => startLongshore({ dataDir, engineSocket: engine.socketPath });
    let service = await start();
    let access = { baseUrl: service.baseUrl, token: await service.token() };
    const names = current.map(({ name }) => name);
    const groups = Array.from(
      { length: Math.ceil(CONTAINERS / STREAM_MAX) },
      (_, index) => names.slice(index * STREAM_MAX, (index + 1) * STREAM_MAX),
    );
    const readers = groups.map((group) => startReader(() => access, group));
    try {
      const countLines = () =>
        readers.flatMap(({ received }) => [...received.values()])
          .reduce((sum, { lines }) => sum + lines.length, 0);
      for (let kill = 0; kill < KILLS; kill++) {
        const index = kill % CONTAINERS;
        await until("lines arrive", () => readers.every(({ received }) => received.size > 0), {
          deadlineMs: SILENCE_MAX_MS,
        });
        const before = countLines();
        if (kill % 2) {
          await engine.docker("restart", "--time=0", names[index]!);
        } else {
          await engine.docker("rm", "--force", names[index]!);
          current[index] = containers.use(await create(index));
        }
        await service.kill9();
        service = await start();
        access = { baseUrl: service.baseUrl, token: await service.token() };
        await until("more lines arrive", () => countLines() > before, {
          deadlineMs: SILENCE_MAX_MS,
        });
      }
      for (const [index, { id, name }] of current.entries()) {
        const reader = readers[Math.floor(index / STREAM_MAX)]!;
        const kept = async () => (await engine.docker("exec", name, "cat", "/run-number")).trim();
        const runs = Number(await kept());
        const last = `${runs} ${LINES} end`;
        const isRead = () => reader.received.get(id)?.lines.includes(last);
        while (!isRead()) {
          const before = countLines();
          await until(`more lines of ${name} arrive`, () => countLines() > before, {
            deadlineMs: SILENCE_MAX_MS,
          });
        }
        const expected = linesOf(await engine.docker("logs", "--timestamps", name));
        // The engine may write the last line of one stream before those of the other.
        const received = reader.received.get(id)!;
        const total = () => received.lines.length + received.dropped;
        const isComplete = () =>
          received.hasUnknownGap ||
          received.stdout.length + received.dropped >= expected.length &&
            (runs > 1 || total() >= LINES);
        const deadline = { deadlineMs: SILENCE_MAX_MS };
        await until(`the log of ${name} is read`, isComplete, deadline).catch((error) => {
          const missing = new Set(expected).difference(new Set(received.stdout));
          const examples = [...missing].slice(0, 5).join(", ");
          throw new Error(`${missing.size} lines are missing: ${examples}, ...`, { cause: error });
        });
        const { lines, stdout, dropped, hasUnknownGap } = received;
        const complete = lines.filter((line) => line.endsWith(" end"));
        equal(new Set(complete).size, complete.length, `${name}: a line was repeated`);
        equal(hasUnknownGap, false, `${name}: an unknown number of lines is missing`);
        if (runs === 1) equal(total(), LINES, `${name}: a wrong number of lines`);
        if (dropped > 0) ok(stdout.length <= expected.length, name);
        else stdout.forEach((line, at) => equal(line, expected[at], `${name}, line ${at + 1}`));
      }
    } finally {
      await Promise.all(readers.map((reader) => reader.end()));
      await service[Symbol.asyncDispose]();
      await Deno.remove(dataDir, { recursive: true });
    }
  },
);

/** Every line begins with its time, also after one without a line feed. */
const linesOf = (text: string) =>
  text.split(/\n?\d{4}-\d\d-\d\dT[\d:.]+Z /).slice(1).map((line) => line.trimEnd());
