/**
 * Many events, one channel of each kind, two thirds of which are broken, and a process that is
 * killed.
 *
 * @module
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { countQueuedMessages } from "../../../db/outbox_messages.ts";
import { openStateDatabase, type StateDatabase } from "../../../db/database.ts";
import { fakeReceiver } from "../../helpers/fake_receiver.ts";
import { type Platform, PLATFORMS } from "../../helpers/notification_platforms.ts";
import { ENDED, readNumber } from "../../helpers/numbered_incidents.ts";
import { type SmtpServer, smtpServer } from "../../helpers/smtp_server.ts";
import { until } from "../../helpers/until.ts";

const EVENTS = 200;

/** Messages that a channel gets in a minute; the other events are in one summary. */
const PER_MINUTE = 20;

/** Every kind has a channel, and each channel a server. */
const KINDS = {
  healthy: ["mattermost", "rocketchat", "pagerduty", "signal", "apprise", "homeassistant"],
  hanging: ["ntfy", "discord", "teams", "matrix", "pushover", "opsgenie"],
  throttled: ["telegram", "slack", "googlechat"],
  failing: ["gotify", "webhook", "email"],
};
type State = keyof typeof KINDS;
const BROKEN = [...KINDS.hanging, ...KINDS.throttled, ...KINDS.failing];

const THROTTLED_SECONDS = 40;

/** Slow machines need minutes for what takes seconds. */
const DEADLINE_MS = 600_000;

const program = new URL("../../helpers/notification_program.ts", import.meta.url);

Deno.test("200 events, 18 channels of which 12 are broken, kill -9: all arrive, in order, once", async () => {
  const directory = await Deno.makeTempDir({ prefix: "longshore-notifications-" });
  await using servers = await startServers();
  const run = (now: string, last: number, speed = "") =>
    startProgram(directory, now, last, servers.channels, speed);
  const got = (kinds: string[], count: number) =>
    kinds.every((kind) => new Set(servers.accepted(kind).map(keyOf)).size >= count);
  const reach = async (
    running: ReturnType<typeof run>,
    what: string,
    isReached: () => boolean,
  ) => {
    await until(what, () => running.ended || isReached(), { deadlineMs: DEADLINE_MS });
    equal(running.ended, false, await running.stderr());
    await running.kill9();
  };

  try {
    {
      await using running = run("2026-01-01T12:00:00Z", 8);
      await reach(running, "the healthy channels have 8 messages", () => got(KINDS.healthy, 8));
    }
    // 12 seconds later, incidents end and many more begin: killed in the middle of them.
    {
      await using running = run("2026-01-01T12:00:12Z", EVENTS);
      await reach(running, "the next messages arrive", () => got(KINDS.healthy, 10));
    }
    {
      await using running = run("2026-01-01T12:00:13Z", EVENTS);
      await reach(
        running,
        "the healthy channels have what the limit allows",
        () => running.hasEmitted && got(KINDS.healthy, PER_MINUTE),
      );
    }
    // Retries are due, and fail again.
    {
      const before = servers.requests("gotify");
      await using running = run("2026-01-01T12:00:25Z", EVENTS);
      await reach(
        running,
        "a failed message is tried again",
        () => servers.requests("gotify") > before,
      );
    }
    deepEqual(BROKEN.map((kind) => servers.accepted(kind)), BROKEN.map(() => []));
    servers.recover();
    {
      // A space of Google Chat gets a message a second.
      await using running = run("2026-01-01T12:01:40Z", EVENTS, "20");
      await reach(
        running,
        "nothing is queued",
        () => withDatabase(directory, countQueuedMessages) === 0,
      );
    }
    withDatabase(directory, assertLog);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }

  const numbers = Array.from({ length: PER_MINUTE }, (_, at) => at + 1);
  const summary = { summaryOf: EVENTS - PER_MINUTE };
  for (const kind of KINDS.healthy) {
    // The program does not know what became of a request in flight when it was killed.
    const arrived = servers.accepted(kind);
    const once = arrived.filter((each, at) => at === 0 || keyOf(each) !== keyOf(arrived[at - 1]!));
    deepEqual(once, [...numbers, summary], kind);
    ok(arrived.length - once.length <= 4, `${kind}: ${arrived.map(keyOf)}`);
  }
  for (const kind of BROKEN) {
    // Problems that began and ended in the meantime are reported as ended only.
    const stillTrue = numbers.filter((number) => number > ENDED.incidents);
    deepEqual(servers.accepted(kind), [...stillTrue, summary], kind);
  }
});

type Arrived = ReturnType<typeof readNumber>;
const keyOf = (arrived: Arrived) => JSON.stringify(arrived);

/** The servers of all channels. */
async function startServers() {
  let isBroken = true;
  const recovered = Promise.withResolvers<void>();
  const accepted = new Map<string, Arrived[]>();
  const requests = new Map<string, number>();
  const channels: { kind: string; config: object }[] = [];
  const stack = new AsyncDisposableStack();
  let smtp: SmtpServer;
  for (const [state, kinds] of Object.entries(KINDS) as [State, string[]][]) {
    for (const kind of kinds) {
      accepted.set(kind, []);
      requests.set(kind, 0);
      if (kind === "email") {
        smtp = stack.use(await smtpServer({ refuse: () => isBroken ? 451 : undefined }));
        channels.push({ kind, config: { to: ["ada@example.com"], smtpUrl: smtp.url } });
        continue;
      }
      const platform = PLATFORMS[kind]!;
      const receiver = stack.use(fakeReceiver(async (request) => {
        requests.set(kind, requests.get(kind)! + 1);
        if (isBroken && state !== "healthy") return await refusal(state, recovered.promise);
        return accept(platform, request, accepted.get(kind)!);
      }));
      channels.push({ kind, config: platform.config(receiver.url.replace(/\/$/, "")) });
    }
  }
  equal(channels.length, 18);
  const recover = () => {
    isBroken = false;
    recovered.resolve();
  };
  return {
    channels,
    recover,
    requests: (kind: string) => requests.get(kind)!,
    accepted: (kind: string): readonly Arrived[] =>
      kind === "email"
        ? smtp.mails.map(({ headers }) => readNumber(headers.subject!))
        : accepted.get(kind)!,
    async [Symbol.asyncDispose]() {
      recover();
      await stack.disposeAsync();
    },
  };
}

async function refusal(state: State, recovered: Promise<void>): Promise<Response> {
  if (state === "throttled") {
    const wait = { retry_after: THROTTLED_SECONDS };
    return Response.json({ ...wait, ok: false, parameters: wait }, {
      status: 429,
      headers: { "retry-after": String(THROTTLED_SECONDS) },
    });
  }
  if (state === "hanging") await recovered;
  return new Response("no", { status: 500 });
}

function accept(
  { problem, shown, answer = {} }: Platform,
  request: Parameters<Platform["shown"]>[1],
  accepted: Arrived[],
): Response {
  const isJson = request.headers["content-type"]?.startsWith("application/json");
  const body = isJson ? JSON.parse(request.body) : undefined;
  const refused = problem(body, request);
  if (refused) return new Response(refused, { status: 400 });
  accepted.push(readNumber(shown(body, request)));
  return Response.json(answer);
}

/** @param speed Milliseconds of a second of the clock; empty: it stands still. */
function startProgram(
  directory: string,
  now: string,
  last: number,
  channels: object[],
  speed: string,
) {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--no-check", "--no-lock", "-A", program.href],
      ...[`${directory}/state.sqlite`, now, String(last), JSON.stringify(channels), speed],
    ],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const stderr = new Response(child.stderr).text();
  let hasEmitted = false;
  const stdout = (async () => {
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      hasEmitted ||= text.includes("emitted");
    }
  })();
  let ended = false;
  const end = child.status.then(() => ended = true);
  const kill9 = async () => {
    if (!ended) child.kill("SIGKILL");
    await Promise.all([end, stdout, stderr]);
  };
  return {
    get ended() {
      return ended;
    },
    get hasEmitted() {
      return hasEmitted;
    },
    stderr: () => ended ? stderr : "",
    kill9,
    [Symbol.asyncDispose]: kill9,
  };
}

function withDatabase<Result>(directory: string, read: (db: StateDatabase) => Result): Result {
  const db = openStateDatabase(`${directory}/state.sqlite`);
  try {
    return read(db);
  } finally {
    db.close();
  }
}

/** Every message was sent, except those about what ended before. */
function assertLog(db: StateDatabase): void {
  const rows = db.all<{ kind: string; status: string; error: string | null; n: number }>(
    `SELECT kind, status, outbox_messages.last_error AS error, count(*) AS n
     FROM outbox_messages JOIN notification_channels ON notification_channels.id = target_id
     GROUP BY kind, status, error`,
  );
  for (const kind of KINDS.healthy) {
    deepEqual(statusesOf(rows, kind), [["sent", null, PER_MINUTE + 1]]);
  }
  for (const kind of BROKEN) {
    deepEqual(statusesOf(rows, kind), [
      ["failed", "It ended before", ENDED.incidents],
      ["sent", null, PER_MINUTE + 1 - ENDED.incidents],
    ]);
  }
}

const statusesOf = (
  rows: { kind: string; status: string; error: string | null; n: number }[],
  kind: string,
) =>
  rows.filter((row) => row.kind === kind).map(({ status, error, n }) => [status, error, n])
    .sort();
