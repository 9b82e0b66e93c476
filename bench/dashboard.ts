/**
 * The dashboard in a real Chromium with a processor four times as slow: sign-in over Fast 4G, changes
 * of the page, a list of 2 000 containers, a log of 2 000 lines a second, and the service's memory.
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
import { median, printVerdict } from "./table.ts";

const SLOWDOWN = 4;
const CONTAINERS = 2_000;
const STACKS = 50;
const RUNS = 5;
const PAGE_CHANGES = 15;

const KEYSTROKES = 20;

/** Frames of a scrolling movement, and pixels of each. */
const SCROLL_FRAMES = 120;
const SCROLL_PX = 240;

const LOG_LINES_PER_SECOND = 2_000;
const LOG_LINES_KEPT = 100_000;
const LOG_PORTIONS_PER_SECOND = 20;
const LOG_FRAMES_MS = 10_000;

/** Open dashboards whose memory is measured. */
const DASHBOARDS = 300;

export async function benchDashboard(): Promise<void> {
  const containers = Array.from({ length: CONTAINERS }, (_, at) => ({
    name: `web-${at}`,
    image: at % 3 === 0 ? "registry.example.com/shop/web:1.2.3" : "web:1",
    labels: at % 2 === 0 ? { "com.docker.compose.project": `stack-${at / 2 % STACKS}` } : {},
  }));
  const log = fakeLog();
  await using engine = fakeEngine({
    ...simulateContainers(containers),
    "GET /containers/*/logs": log.answer,
    // Without events the service would take the engine for unreachable.
    "GET /events": () => new Response(new ReadableStream()),
  });
  await using service = await startLongshore({
    engineSocket: engine.socketPath,
    env: { MAX_SSE_CLIENTS: String(2 * DASHBOARDS) },
  });
  await until("the service knows all containers", async () => {
    const { body } = await service.call("GET", "/api/overview");
    return body.containers.total === CONTAINERS;
  });
  const perDashboardKb = await measureMemory(service);
  await using browser = await startDashboardBrowser();
  const page = await browser.browser.newPage();
  await page.setViewport(DESKTOP);
  await page.emulateCPUThrottling(SLOWDOWN);
  await page.emulateNetworkConditions(PredefinedNetworkConditions["Fast 4G"]);
  await page.goto(`${service.baseUrl}/sign-in`);
  await page.waitForSelector(".sign-in input");
  await page.type(".sign-in input", service.apiKey);
  const signInMs = await msUntil(page, ".sign-in .button.primary", "[role=meter], meter");
  await page.emulateNetworkConditions(null);
  await page.goto(`${service.baseUrl}/containers`);
  await page.waitForSelector("main table tbody tr a");

  const toOverviewMs: number[] = [];
  const toContainersMs: number[] = [];
  for (let run = 0; run <= PAGE_CHANGES; run++) {
    toOverviewMs.push(await msUntil(page, 'nav a[href="/"]', "meter, [role=meter]"));
    toContainersMs.push(await msUntil(page, 'nav a[href="/containers"]', "main table tbody tr"));
  }
  const scrolling = await measureScrolling(page);
  const filterMs: number[] = [];
  for (let key = 0; key < KEYSTROKES; key++) {
    filterMs.push(
      await page.evaluate(async (text) => {
        const field = document.querySelector<HTMLInputElement>("main input[type=search]")!;
        const started = performance.now();
        field.value = text;
        field.dispatchEvent(new Event("input", { bubbles: true }));
        await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
        return performance.now() - started;
      }, `web-${key % 10}`),
    );
  }
  await showEmptyPage(page);
  const empty = await measureScrolling(page);
  await page.goto(`${service.baseUrl}/containers/web-1/logs`);
  const logs = await measureLog(page, log);

  console.log(`\nDashboard, processor ${SLOWDOWN} times as slow, ${CONTAINERS} containers`);
  printVerdict("sign-in to a drawn overview, Fast 4G", signInMs, 1_000, " ms");
  // The first visits load the pages' modules.
  printVerdict("change to the overview, median", median(toOverviewMs.slice(1)), 100, " ms");
  printVerdict("change to the containers, median", median(toContainersMs.slice(1)), 100, " ms");
  printVerdict("filter keystroke to painted, median", median(filterMs), 50, " ms");
  printVerdict("scrolling, longest work of a frame", Math.max(...scrolling.workMs), 33, " ms");
  printVerdict("scrolling, median work of a frame", median(scrolling.workMs), 33, " ms");
  for (const [what, { workMs, paintedMs }] of Object.entries({ scrolling, "empty page": empty })) {
    const late = paintedMs.filter((ms) => ms > 33).length;
    console.log(
      `          ${what}: work up to ${Math.max(...workMs).toFixed(1)} ms, painted after ` +
        `${median(paintedMs).toFixed(1)} to ${Math.max(...paintedMs).toFixed(1)} ms, ` +
        `${late} of ${paintedMs.length} after more than 33 ms`,
    );
  }
  const what = `log of ${LOG_LINES_PER_SECOND} lines/s, ${logs.lines} lines kept`;
  printVerdict(`${what}, longest work of a frame`, Math.max(...logs.workMs), 50, " ms");
  printVerdict(`${what}, median work of a frame`, median(logs.workMs), 50, " ms");
  printVerdict(`${what}, memory of the page`, logs.heapMb, 150, " MB");
  printVerdict("memory of the service for each open dashboard", perDashboardKb, 100, " KB");
}

/** Clicks in the page. @returns Milliseconds until the part is painted. */
function msUntil(page: Page, clicked: string, part: string): Promise<number> {
  return page.evaluate(
    async (clicked, part) => {
      const started = performance.now();
      document.querySelector<HTMLElement>(clicked)!.click();
      const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
      do await nextFrame(); while (!document.querySelector(part));
      // It is painted before the next task.
      await new Promise((resolve) => setTimeout(resolve));
      return performance.now() - started;
    },
    clicked,
    part,
  );
}

/** Replaces the dashboard by nothing, of the same height. */
function showEmptyPage(page: Page): Promise<void> {
  return page.evaluate(() => {
    const empty = document.createElement("div");
    empty.style.height = `${document.documentElement.scrollHeight}px`;
    document.body.replaceChildren(empty);
  });
}

/** Milliseconds of each frame. */
interface FrameTimes {
  /**
   * Processor time of the page's thread, including garbage collection. Unlike the clock, it excludes
   * waiting for a core, which the thread shares with the rest of the browser.
   */
  workMs: number[];
  /** From its start until it is painted. */
  paintedMs: number[];
}

/** Scrolls down and up. */
async function measureScrolling(page: Page): Promise<FrameTimes> {
  const paintedMs: number[] = [];
  for (let run = 0; run < RUNS; run++) paintedMs.push(...await scrollOnce(page));
  // Tracing makes a frame longer.
  await page.tracing.start({ categories: ["devtools.timeline", "toplevel"] });
  for (let run = 0; run < RUNS; run++) await scrollOnce(page);
  const trace = new TextDecoder().decode(await page.tracing.stop());
  return { paintedMs, workMs: workOfFrames(JSON.parse(trace).traceEvents) };
}

/** An event of a trace; times are microseconds. */
interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  ts: number;
  dur: number;
  /** The thread's processor time. */
  tdur?: number;
}

/** A frame is the task with its animation callback, and all tasks until the next one of these. */
function workOfFrames(events: readonly TraceEvent[]): number[] {
  const { pid, tid } = events.find(({ name }) => name === "FireAnimationFrame")!;
  // The task that ends the trace has no end.
  const ofPage = events.filter((event) => event.pid === pid && event.tid === tid && event.dur >= 0)
    .sort((x, y) => x.ts - y.ts);
  const callbacks = ofPage.filter(({ name }) => name === "FireAnimationFrame");
  const tasks = ofPage.filter(({ name }) => name === "ThreadControllerImpl::RunTask");
  const frames: number[] = [];
  let next = 0;
  for (const { ts, dur, tdur = dur } of tasks) {
    const first = next;
    while (next < callbacks.length && callbacks[next]!.ts < ts + dur) next++;
    if (next > first) frames.push(tdur / 1_000);
    else if (frames.length > 0) frames[frames.length - 1]! += tdur / 1_000;
  }
  return frames;
}

function scrollOnce(page: Page): Promise<number[]> {
  return page.evaluate(
    async (frames, px) => {
      const times: number[] = [];
      for (let frame = 0; frame < frames; frame++) {
        const started = await new Promise<number>(requestAnimationFrame);
        scrollBy(0, frame < frames / 2 ? px : -px);
        await new Promise((resolve) => setTimeout(resolve));
        times.push(performance.now() - started);
      }
      return times;
    },
    SCROLL_FRAMES,
    SCROLL_PX,
  );
}

/** Follows a log until it is full, and measures the frames and the memory of the page after that. */
async function measureLog(page: Page, log: FakeLog) {
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
    const workMs = await page.evaluate(async (durationMs) => {
      const times: number[] = [];
      const end = performance.now() + durationMs;
      while (performance.now() < end) {
        const started = await new Promise<number>(requestAnimationFrame);
        await new Promise((resolve) => setTimeout(resolve));
        times.push(performance.now() - started);
      }
      return times;
    }, LOG_FRAMES_MS);
    const client = await page.createCDPSession();
    await client.send("HeapProfiler.collectGarbage");
    const { usedSize } = await client.send("Runtime.getHeapUsage");
    return { workMs, lines: await shownLines(), heapMb: usedSize / 1_000_000 };
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
