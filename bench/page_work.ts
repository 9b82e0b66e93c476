/**
 * Measures what a page costs on a slower processor.
 *
 * Chromium can slow a page down itself, but it also multiplies the time in which the page's thread waits
 * for a core. Where the browser has few cores, that alone doubles some figures. So the thread's
 * processor time is measured at full speed, and multiplied here.
 *
 * @module
 */

import type { Page } from "puppeteer-core";

/** Work of a page in a step; all times are milliseconds on the slower processor. */
export interface PageWork {
  /** From the start to the end. What it waited for is not slowed down. */
  totalMs: number;
  /** Each frame: its events and scripts, style, layout and painting. */
  framesMs: number[];
  /** Each task between frames, e.g. garbage collection: a frame may have to wait for one. */
  othersMs: number[];
}

/** An event of a trace; times are microseconds. */
interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  ts: number;
  dur?: number;
  /** The thread's processor time. */
  tdur?: number;
}

/**
 * Records the steps of a page. Each begins with `performance.mark("begin")` and ends with
 * `performance.mark("end")`.
 *
 * @param slowdown How many times the processor is as slow as this one.
 */
export async function recordWork(
  page: Page,
  slowdown: number,
  act: () => Promise<unknown>,
): Promise<PageWork[]> {
  await page.tracing.start({ categories: ["blink.user_timing", "devtools.timeline", "toplevel"] });
  await act();
  const trace = JSON.parse(new TextDecoder().decode(await page.tracing.stop()));
  const { pid, tid } = trace.traceEvents.find(({ name }: TraceEvent) => name === "begin");
  const events: TraceEvent[] = trace.traceEvents
    .filter((event: TraceEvent) => event.pid === pid && event.tid === tid)
    .sort((x: TraceEvent, y: TraceEvent) => x.ts - y.ts);
  const timesOf = (name: string) =>
    events.filter((event) => event.name === name).map(({ ts }) => ts);
  const frames = timesOf("FireAnimationFrame");
  const ends = timesOf("end");
  const tasks = events.flatMap(({ name, ts, dur, tdur = dur }) =>
    // The task that ends the trace has no end.
    name !== "ThreadControllerImpl::RunTask" || dur === undefined ? [] : [{
      start: ts,
      end: ts + dur,
      workMs: tdur! / 1_000,
      isFrame: frames.some((frame) => ts <= frame && frame < ts + dur),
    }]
  );
  return timesOf("begin").map((begin, at) => {
    const end = ends[at]!;
    const during = tasks.filter((task) => task.end > begin && task.start < end);
    const workMs = during.reduce((sum, task) => sum + task.workMs, 0);
    const slowMs = (isFrame: boolean) =>
      during.filter((task) => task.isFrame === isFrame).map((task) => task.workMs * slowdown);
    return {
      totalMs: (end - begin) / 1_000 + workMs * (slowdown - 1),
      framesMs: slowMs(true),
      othersMs: slowMs(false),
    };
  });
}
