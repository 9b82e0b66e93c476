/**
 * The dashboard in a real Chromium, as on a processor four times as slow: sign-in over Fast 4G, changes
 * of the page, lists of 500 and 2 000 containers, a log of 2 000 lines a second, and the service's memory.
 *
 * Parts are found by selectors: a search by role makes the browser keep its accessibility tree, which
 * costs each change of the page about as much again.
 *
 * @module
 */

import { type Page, PredefinedNetworkConditions } from "puppeteer-core";
import { DESKTOP, startDashboardBrowser } from "../tests/helpers/dashboard.ts";
import { simulateContainers } from "../tests/helpers/fake_containers.ts";
import { fakeEngine } from "../tests/helpers/fake_engine.ts";
import { type FakeLog, fakeLog } from "../tests/helpers/fake_log.ts";
import { type Longshore, startLongshore } from "../tests/helpers/longshore.ts";
import { until } from "../tests/helpers/until.ts";
import { type PageWork, recordWork } from "./page_work.ts";
import { median, printVerdict } from "./table.ts";

const SLOWDOWN = 4;

/** Numbers of containers, and by how much they extend the bounds of the list. */
const LISTS = [{ containers: 500, factor: 1 }, { containers: 2_000, factor: 2 }];

/** Bounds for a list of 500: milliseconds of a page change, a keystroke and 95 % of the frames. */
const BOUNDS = { change: 100, filter: 50, frame: 33 };

/** Bound of the transfer for the first view, compressed, in kilobytes of 1 024 bytes. */
const FIRST_VIEW_KB = 64;

const STACKS = 50;
const PAGE_CHANGES = 15;
const KEYSTROKES = 20;

/** Parts that show that a page is drawn. */
const METER = "meter, [role=meter]";
const CHART = ".uplot";
const ROW = "main table tbody tr a";

/** Time in which a page comes to rest before it is left, as people read it first. */
const REST_MS = 200;

const SCROLLS = 8;

/** Length of a scrolling movement, and pixels per second: four and eight screens. */
const SCROLL_MS = 2_000;
const SCROLL_SPEED = 3_600;
const FLING_SPEED = 7_200;

const LOG_LINES_PER_SECOND = 2_000;
const LOG_LINES_KEPT = 100_000;
const LOG_PORTIONS_PER_SECOND = 20;
const LOG_STEPS = 3;
const LOG_STEP_MS = 10_000;

/** Open dashboards whose memory is measured. */
const DASHBOARDS = 300;

export async function benchDashboard(): Promise<void> {
  for (const { containers, factor } of LISTS) await benchList(containers, factor);
  await benchLog();
}

/** Runs the service with an engine of many containers. */
async function startService(count: number, log = fakeLog()) {
  await using stack = new AsyncDisposableStack();
  const containers = Array.from({ length: count }, (_, at) => ({
    name: `web-${at}`,
    image: at % 3 === 0 ? "registry.example.com/shop/web:1.2.3" : "web:1",
    labels: at % 2 === 0 ? { "com.docker.compose.project": `stack-${at / 2 % STACKS}` } : {},
  }));
  const engine = stack.use(fakeEngine({
    ...simulateContainers(containers),
    "GET /containers/*/logs": log.answer,
    // Without events the service would take the engine for unreachable.
    "GET /events": () => new Response(new ReadableStream()),
  }));
  const service = stack.use(
    await startLongshore({
      engineSocket: engine.socketPath,
      env: { MAX_SSE_CLIENTS: String(2 * DASHBOARDS) },
    }),
  );
  await until("the service knows all containers", async () => {
    const { body } = await service.call("GET", "/api/overview");
    return body.containers.total === count;
  });
  const all = stack.move();
  return { service, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** Opens a browser and signs in over Fast 4G. */
async function signIn(service: Longshore) {
  const browser = await startDashboardBrowser({ hasWindow: true });
  const page = await browser.context.newPage();
  await page.setViewport(DESKTOP);
  const record = (act: () => Promise<unknown>) => recordWork(page, SLOWDOWN, act);
  await page.emulateNetworkConditions(PredefinedNetworkConditions["Fast 4G"]);
  await page.goto(`${service.baseUrl}/sign-in`);
  await page.waitForSelector(".sign-in input");
  await page.type(".sign-in input", service.apiKey);
  const [work] = await record(() => click(page, ".sign-in .button.primary", METER));
  await page.emulateNetworkConditions(null);
  const end = () => browser[Symbol.asyncDispose]();
  return { page, record, signInMs: work!.totalMs, [Symbol.asyncDispose]: end };
}

async function benchList(containers: number, factor: number): Promise<void> {
  await using running = await startService(containers);
  await using session = await signIn(running.service);
  const { page, record, signInMs } = session;
  const firstViewKb = await transferredKb(page, `${running.service.baseUrl}/`);
  await page.goto(`${running.service.baseUrl}/containers`);
  await page.waitForSelector(ROW);
  const showPages = async () => {
    await click(page, 'nav a[href="/"]', METER);
    await click(page, 'nav a[href="/stacks"]', ROW);
    await click(page, 'nav a[href="/containers"]', ROW);
  };
  // The first visits load the pages' modules.
  await showPages();
  const changes = await record(() => repeat(PAGE_CHANGES, showPages));
  const changesTo = (page: number) => changes.filter((_, at) => at % 3 === page);
  const scrolls = await record(() => repeat(SCROLLS, () => scroll(page, SCROLL_SPEED)));
  const flings = await record(() => repeat(SCROLLS, () => scroll(page, FLING_SPEED)));
  const keystrokes = await record(() => repeat(KEYSTROKES, (key) => type(page, `web-${key % 10}`)));

  console.log(`\nDashboard, processor ${SLOWDOWN} times as slow, ${containers} containers`);
  printVerdict("first view, compressed", firstViewKb, FIRST_VIEW_KB, " KB");
  printVerdict("sign-in to a drawn overview, Fast 4G", signInMs, 1_000, " ms");
  const changeMs = BOUNDS.change * factor;
  printTimes("change to the overview", changesTo(0), changeMs);
  printTimes(`change to the ${STACKS} stacks, which are read`, changesTo(1), changeMs);
  printTimes("change to the containers", changesTo(2), changeMs);
  printTimes("filter keystroke to painted", keystrokes, BOUNDS.filter * factor);
  printFrames(`scrolling, ${SCROLL_SPEED} pixels per second`, scrolls, BOUNDS.frame * factor);
  printFrames(`scrolling, ${FLING_SPEED} pixels per second`, flings, BOUNDS.frame * factor);
}

async function benchLog(): Promise<void> {
  const log = fakeLog();
  await using running = await startService(LISTS[0]!.containers, log);
  const { service } = running;
  const perDashboardKb = await measureMemory(service);
  await using session = await signIn(service);
  const { page, record } = session;
  await page.goto(`${service.baseUrl}/containers/web-1/logs`);
  const logs = await measureLog(page, log, record);

  console.log(`\nLog, processor ${SLOWDOWN} times as slow`);
  const what = `log of ${LOG_LINES_PER_SECOND} lines/s, ${logs.lines} lines kept`;
  printFrames(what, logs.work, 50);
  printVerdict(`${what}, memory of the page`, logs.heapMb, 150, " MB");
  printVerdict("memory of the service for each open dashboard", perDashboardKb, 100, " KB");
}

function printTimes(what: string, steps: readonly PageWork[], boundMs: number): void {
  const times = steps.map(({ totalMs }) => totalMs);
  printVerdict(`${what}, median of ${times.length}`, median(times), boundMs, " ms");
  console.log(`          fastest: ${Math.min(...times).toFixed(1)} ms`);
}

function printFrames(what: string, steps: readonly PageWork[], boundMs: number): void {
  const frames = steps.flatMap(({ framesMs }) => framesMs).sort((a, b) => a - b);
  const slow = frames[Math.floor(frames.length * 0.95)] ?? NaN;
  const between = Math.max(...steps.flatMap(({ othersMs }) => othersMs));
  printVerdict(`${what}, 95 % of ${frames.length} frames`, slow, boundMs, " ms");
  console.log(
    `          median: ${median(frames).toFixed(1)} ms, slowest: ${
      frames.at(-1)?.toFixed(1)
    } ms, ` +
      `longest task between frames: ${between.toFixed(1)} ms`,
  );
}

/**
 * Loads a page with an empty cache.
 *
 * @returns Transfer until it is drawn and at rest, with that of the event stream.
 */
async function transferredKb(page: Page, url: string): Promise<number> {
  // Requests of the last page do not count.
  await page.goto("about:blank");
  const client = await page.createCDPSession();
  await client.send("Network.enable");
  const bytes = new Map<string, number>();
  const running = new Set<string>();
  client.on("Network.requestWillBeSent", ({ requestId, request }) => {
    if (!request.url.includes("/api/stream")) running.add(requestId);
  });
  client.on("Network.responseReceived", ({ requestId, response }) => {
    bytes.set(requestId, response.encodedDataLength);
  });
  client.on("Network.dataReceived", ({ requestId, encodedDataLength }) => {
    bytes.set(requestId, (bytes.get(requestId) ?? 0) + encodedDataLength);
  });
  client.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    running.delete(requestId);
    bytes.set(requestId, encodedDataLength);
  });
  await client.send("Network.clearBrowserCache");
  await page.goto(url);
  await page.waitForSelector(METER);
  await page.waitForSelector(CHART);
  await until("everything is loaded", () => running.size === 0);
  await client.detach();
  return bytes.values().reduce((sum, each) => sum + each, 0) / 1_024;
}

async function repeat(times: number, act: (at: number) => Promise<void>): Promise<void> {
  for (let at = 0; at < times; at++) await act(at);
}

/** A step: clicks in the page when it is at rest, and waits until a part is painted. */
function click(page: Page, clicked: string, part: string): Promise<void> {
  return page.evaluate(
    async (clicked, part, restMs) => {
      await new Promise((resolve) => setTimeout(resolve, restMs));
      performance.mark("begin");
      document.querySelector<HTMLElement>(clicked)!.click();
      do await new Promise(requestAnimationFrame); while (!document.querySelector(part));
      // It is painted before the next task.
      await new Promise((resolve) => setTimeout(resolve));
      performance.mark("end");
    },
    clicked,
    part,
    REST_MS,
  );
}

/** A step: filters the containers. */
function type(page: Page, text: string): Promise<void> {
  return page.evaluate(async (text) => {
    performance.mark("begin");
    const field = document.querySelector<HTMLInputElement>("main input[type=search]")!;
    field.value = text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise(requestAnimationFrame);
    await new Promise((resolve) => setTimeout(resolve));
    performance.mark("end");
  }, text);
}

/** A step: scrolls down and up, as far in each frame as its time allows, like a wheel that is spun. */
function scroll(page: Page, pxPerSecond: number): Promise<void> {
  return page.evaluate(
    async (durationMs, pxPerMs) => {
      performance.mark("begin");
      const start = performance.now();
      for (let last = start; last < start + durationMs;) {
        await new Promise(requestAnimationFrame);
        const now = performance.now();
        const px = (now - last) * pxPerMs;
        scrollBy(0, now < start + durationMs / 2 ? px : -px);
        last = now;
      }
      performance.mark("end");
    },
    SCROLL_MS,
    pxPerSecond / 1_000,
  );
}

/** A step: lets the page draw what arrives. */
function wait(page: Page, durationMs: number): Promise<void> {
  return page.evaluate(async (durationMs) => {
    performance.mark("begin");
    const end = performance.now() + durationMs;
    while (performance.now() < end) await new Promise(requestAnimationFrame);
    performance.mark("end");
  }, durationMs);
}

/** Follows a log until it is full, and measures the frames and the memory of the page after that. */
async function measureLog(
  page: Page,
  log: FakeLog,
  record: (act: () => Promise<unknown>) => Promise<PageWork[]>,
) {
  await until("the log is followed", () => log.followers > 0);
  let written = 0;
  const write = (lines: number) => {
    for (let line = 0; line < lines; line++) {
      log.write(`INFO GET /orders/${++written} 200 ${written % 40} ms, user ${written % 977}`);
    }
  };
  const shownLines = () =>
    page.$eval(
      '[aria-label="Line count"]',
      (status) => Number(status.textContent.replace(/\D/g, "")),
    );
  while (written < LOG_LINES_KEPT) {
    write(LOG_LINES_PER_SECOND);
    await until("the lines are shown", async () => await shownLines() >= written);
  }
  const writer = setInterval(
    () => write(LOG_LINES_PER_SECOND / LOG_PORTIONS_PER_SECOND),
    1_000 / LOG_PORTIONS_PER_SECOND,
  );
  try {
    const work = await record(() => repeat(LOG_STEPS, () => wait(page, LOG_STEP_MS)));
    const client = await page.createCDPSession();
    await client.send("HeapProfiler.collectGarbage");
    const { usedSize } = await client.send("Runtime.getHeapUsage");
    return { work, lines: await shownLines(), heapMb: usedSize / 1_000_000 };
  } finally {
    clearInterval(writer);
  }
}

/** Opens the stream of many dashboards. @returns What each costs the service, in kilobytes. */
async function measureMemory(service: Longshore): Promise<number> {
  const headers = { authorization: `Bearer ${await service.token()}` };
  const stop = new AbortController();
  const openOne = async () => {
    const { body } = await fetch(`${service.baseUrl}/api/stream`, { headers });
    // To abort only the request would leave the connection open.
    body!.pipeTo(new WritableStream(), { signal: stop.signal }).catch(() => {});
  };
  // The first ones load what all use.
  for (let at = 0; at < DASHBOARDS / 10; at++) await openOne();
  const before = await settledMemoryKb(service);
  for (let at = 0; at < DASHBOARDS; at++) await openOne();
  const after = await settledMemoryKb(service);
  stop.abort();
  return (after - before) / DASHBOARDS;
}

/** The lowest of some seconds, because garbage comes and goes. */
async function settledMemoryKb({ pid }: Longshore): Promise<number> {
  let lowest = Infinity;
  for (let second = 0; second < 15; second++) {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const status = await Deno.readTextFile(`/proc/${pid}/status`);
    lowest = Math.min(lowest, Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]));
  }
  return lowest;
}
