/**
 * Notifications: 1 000 events within 10 seconds for 18 channels, of which 6 hang, 3 are throttled and
 * 3 fail. How long an event takes to its requests, and what the service needs for it.
 *
 * The events are sent at a fixed rate, whatever the service needs to answer, because an outage does not
 * wait either.
 *
 * @module
 */

import { emit } from "../services/events/emit.ts";
import { fakeReceiver, type Received } from "../tests/helpers/fake_receiver.ts";
import { type Platform, PLATFORMS } from "../tests/helpers/notification_platforms.ts";
import { incidentEvent, readNumber } from "../tests/helpers/numbered_incidents.ts";
import { smtpServer } from "../tests/helpers/smtp_server.ts";
import { testApp } from "../tests/helpers/test_app.ts";
import { bundlePrograms, cpuSeconds, type Running, start, tokenOf } from "./programs.ts";
import { median, printTable, printVerdict } from "./table.ts";

const EVENTS = 1_000;
const EVERY_MS = 10;

/** Requests at once; a service that needs more of them is too slow, and gets fewer events. */
const PARALLEL_MAX = 64;

/** Limit of a run, in milliseconds. What was not sent or has not arrived by then is missing. */
const RUN_MS_MAX = 30_000;

/** Events before the measurement, so that everything is loaded. */
const WARM_UP = 50;

/** Later messages of a minute are in a summary. */
const MEASURED = 20;
const MINUTE_MS = 60_000;

const SENDING_S_MAX = 10.5;
const DELAY_MS_MAX = 5_000;
const GROWTH_MB_MAX = 20;

const HANGING = ["ntfy", "discord", "teams", "matrix", "pushover", "opsgenie"];
const THROTTLED = ["telegram", "slack", "googlechat"];
const FAILING = ["gotify", "webhook", "email"];

/** The other channels. */
const HEALTHY = 6;

const INCIDENTS = "/api/ext/service-pro/incidents";
const CHANNELS = "/api/notifications/channels";

export async function benchNotifications(): Promise<void> {
  await using bundles = await bundlePrograms();
  const [without, withoutAgain] = await measure(bundles.service, false);
  const [measured, measuredAgain] = await measure(bundles.service, true);
  const delays = measured.delaysMs.sort((a, b) => a - b);
  printTable(
    `${EVENTS} events, 18 channels, 12 of them broken`,
    Object.entries({
      "without channels": without,
      "without channels, again": withoutAgain,
      "with channels": measured,
      "with channels, again": measuredAgain,
    }).map(([run, { accepted, beforeMb, mostMb, seconds, cpuSeconds, answersMs }]) => ({
      run,
      events: accepted,
      "duration s": seconds,
      "answer p50 ms": median(answersMs),
      "p99 ms": quantile(answersMs, 0.99),
      "CPU s": cpuSeconds,
      "RSS MB before": beforeMb,
      "most MB": mostMb,
    })),
  );
  printTable("From an event to its request, healthy channels", [{
    requests: delays.length,
    "p50 ms": median(delays),
    "p99 ms": quantile(delays, 0.99),
    "max ms": delays.at(-1) ?? NaN,
  }]);
  printVerdict("events that were not accepted", EVENTS - measured.accepted, 0);
  printVerdict("sending the events", measured.seconds, SENDING_S_MAX, " s");
  printVerdict("requests that did not arrive", HEALTHY * MEASURED - delays.length, 0);
  printVerdict("event to request, slowest", delays.at(-1) ?? NaN, DELAY_MS_MAX, " ms");
  printVerdict("growth of memory", measured.mostMb - measured.beforeMb, GROWTH_MB_MAX, " MB");

  printTable("Cost of an event, in milliseconds", [
    { channels: "0", ms: await eventMs(0) },
    { channels: "18", ms: await eventMs(18) },
  ]);
}

/** Measures two runs of one process: the first needs what a process keeps from then on. */
async function measure(script: string, hasChannels: boolean): Promise<[Run, Run]> {
  await using platforms = await startPlatforms();
  await using service = await start(script, {
    DOCKER_HOST: "unix:///nonexistent.sock",
    OUTBOUND_ALLOW: "127.0.0.0/8",
  });
  const call = await caller(service);
  await call("POST", "/api/edition/trial");
  await Promise.all(Array.from({ length: WARM_UP }, () => postIncident(call, 0)));
  if (hasChannels) {
    await warmUp(call, platforms.channels);
    for (const channel of platforms.channels) await call("POST", CHANNELS, channel);
  }
  await sleep(2_000);

  const expected = hasChannels ? HEALTHY * MEASURED : 0;
  const first = await measureRun(service, call, platforms, expected);
  await sleep(MINUTE_MS);
  return [first, await measureRun(service, call, platforms, expected)];
}

type Run = Awaited<ReturnType<typeof measureRun>>;

async function measureRun(
  service: Running,
  call: Call,
  { arrived, eventAt }: Pick<Awaited<ReturnType<typeof startPlatforms>>, "arrived" | "eventAt">,
  expected: number,
) {
  arrived.length = 0;
  eventAt.clear();
  const beforeMb = await service.memoryMb();
  const cpuBefore = await cpuSeconds(service);
  let mostMb = beforeMb;
  const deadline = Date.now() + RUN_MS_MAX;
  let isSending = true;
  const sent = sendEvents(call, deadline).finally(() => isSending = false);
  while ((isSending || arrived.length < expected) && Date.now() < deadline) {
    await sleep(250);
    mostMb = Math.max(mostMb, await service.memoryMb());
  }
  return {
    ...await sent,
    beforeMb,
    mostMb,
    cpuSeconds: await cpuSeconds(service) - cpuBefore,
    delaysMs: arrived.flatMap(({ number, at }) => {
      const happenedAt = eventAt.get(number);
      return happenedAt === undefined ? [] : [at - happenedAt];
    }),
  };
}

/** Sends the events at their rate, and waits for an answer only if too many are missing. */
async function sendEvents(call: Call, deadline: number) {
  const answersMs: number[] = [];
  const open = new Set<Promise<void>>();
  const send = async (number: number) => {
    const sentAt = performance.now();
    try {
      await postIncident(call, number, AbortSignal.timeout(Math.max(0, deadline - Date.now())));
      answersMs.push(performance.now() - sentAt);
    } catch (error) {
      console.error(`event ${number}: ${error}`);
    }
  };
  const startMs = Date.now();
  for (let number = 1; number <= EVENTS && Date.now() < deadline; number++) {
    await sleep(startMs + number * EVERY_MS - Date.now());
    if (open.size >= PARALLEL_MAX) await Promise.race(open);
    const sending = send(number).finally(() => open.delete(sending));
    open.add(sending);
  }
  await Promise.all(open);
  answersMs.sort((a, b) => a - b);
  return { accepted: answersMs.length, answersMs, seconds: (Date.now() - startMs) / 1000 };
}

/** Sends a message by HTTP and one by mail, so that what they need is loaded. */
async function warmUp(call: Call, channels: readonly { kind: string }[]): Promise<void> {
  for (const kind of ["homeassistant", "email"]) {
    const { id } = await call("POST", CHANNELS, channels.find((each) => each.kind === kind));
    await call("POST", `${CHANNELS}/${id}/test`);
    await sleep(2_000);
    await call("DELETE", `${CHANNELS}/${id}`);
  }
}

async function startPlatforms() {
  const stack = new AsyncDisposableStack();
  const end = Promise.withResolvers<void>();
  const arrived: { number: number; at: number }[] = [];
  const eventAt = new Map<number, number>();
  const answer = async (kind: string, platform: Platform, request: Received) => {
    if (HANGING.includes(kind)) await end.promise;
    if (THROTTLED.includes(kind)) {
      return new Response("{}", { status: 429, headers: { "retry-after": "60" } });
    }
    if (HANGING.includes(kind) || FAILING.includes(kind)) return new Response("", { status: 500 });
    const body = JSON.parse(request.body);
    const number = readNumber(platform.shown(body, request));
    if (typeof number === "number" && number > 0) {
      arrived.push({ number, at: Date.now() });
      if (kind === "homeassistant") eventAt.set(number, Date.parse(body.timestamp));
    }
    return Response.json(platform.answer ?? {});
  };
  const channels = Object.entries(PLATFORMS).map(([kind, platform]) => {
    const receiver = stack.use(fakeReceiver((request) => answer(kind, platform, request)));
    return { name: kind, kind, config: platform.config(receiver.url.replace(/\/$/, "")) };
  });
  const smtp = stack.use(await smtpServer({ refuse: () => 451 }));
  const email = { to: ["ada@example.com"], smtpUrl: smtp.url };
  return {
    channels: [...channels, { name: "email", kind: "email", config: email }],
    arrived,
    /** When the events happened. */
    eventAt,
    async [Symbol.asyncDispose]() {
      end.resolve();
      await stack.disposeAsync();
    },
  };
}

/** Time of an event, from its cause to the end of its transaction. */
async function eventMs(channels: number): Promise<number> {
  using app = testApp({ edition: "pro", config: { outboundAllow: ["127.0.0.1"] } });
  for (const [kind, platform] of Object.entries(PLATFORMS).slice(0, channels)) {
    const config = platform.config("http://127.0.0.1:1");
    await app.call("POST", CHANNELS, { name: kind, kind, config });
  }
  const startMs = performance.now();
  for (let number = 1; number <= EVENTS; number++) {
    const { kind, data } = incidentEvent(number);
    emit(app.deps, kind, data);
  }
  return (performance.now() - startMs) / EVENTS;
}

type Call = Awaited<ReturnType<typeof caller>>;

const postIncident = (call: Call, number: number, signal?: AbortSignal) =>
  call("POST", INCIDENTS, { title: `e${number}z`, severity: "major" }, signal);

async function caller(service: Running) {
  const token = await tokenOf(service);
  return async (method: string, path: string, body?: unknown, signal?: AbortSignal) => {
    const response = await fetch(`http://127.0.0.1:${service.target.port}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${answer.error}`);
    return answer;
  };
}

/** Of figures in ascending order. */
const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
