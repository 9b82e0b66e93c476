/**
 * The stream of one job (Server-Sent Events): its steps, progress, log and end. A client gets what
 * has changed since it last read, so a slow one misses intermediate progress and needs no buffer.
 *
 * @module
 */

import type { Caller } from "../access/caller.ts";
import { abortable, withDeadline } from "../deadline.ts";
import type { Deps } from "../deps.ts";
import type { ActiveJob } from "./active_jobs.ts";
import { COMMENT, encode, type StreamChunk } from "../stream/chunks.ts";
import { callerValidity } from "../stream/validity.ts";
import { getJob } from "./jobs.ts";
import { type JobView, textFilter, viewFor } from "./view.ts";

/** Interval of comments that keep the connection open, in milliseconds. */
const HEARTBEAT_MS = 15_000;

/** Parts of a job that a client has received. */
interface Position {
  /** The steps as they were sent, by name. */
  steps: Map<string, string>;
  progress: JobView["progress"];
  /** Number of lines of the log. */
  lines: number;
}

/**
 * Opens the stream of a job. It starts with all steps and ends with the job, or when the caller is
 * no longer authorized.
 *
 * @throws {AppError} `not_found`; `unavailable` if too many clients are connected; `too_many_requests`
 * above the share of the account or token.
 */
export function openJobStream(
  deps: Pick<Deps, "accounts" | "db" | "inventory" | "jobs" | "now" | "stream">,
  caller: Caller,
  id: string,
): ReadableStream<StreamChunk> {
  const { jobs } = deps;
  const stored = getJob(deps, caller, id);
  const active = jobs.get(id);
  const isValid = callerValidity(deps, caller);
  const release = jobs.followers.take(caller);
  const left = new AbortController();
  const position: Position = { steps: new Map(), progress: null, lines: 0 };
  const current = () => active ? viewFor(deps, caller, active.record) : stored;
  const hide = textFilter(deps, caller, stored);
  const leave = () => {
    if (left.signal.aborted) return;
    release();
    left.abort();
  };

  const pull = async (controller: ReadableStreamDefaultController<StreamChunk>) => {
    while (!left.signal.aborted) {
      // Before reading, so that no change in between is missed.
      const changed = active?.changed();
      const job = current();
      const frames = newFrames(job, active, position, hide);
      const hasEnded = job.endedAt !== null;
      if (hasEnded) frames.push(encode("done", job));
      for (const frame of frames) controller.enqueue(frame);
      if (hasEnded || jobs.stopping.aborted || !isValid()) {
        controller.close();
        return leave();
      }
      if (frames.length > 0) return;
      if (await waitForChange(changed!, left.signal)) continue;
      return controller.enqueue(COMMENT);
    }
  };

  return new ReadableStream<StreamChunk>({
    async pull(controller) {
      try {
        await pull(controller);
      } catch (error) {
        leave();
        throw error;
      }
    },
    cancel: leave,
  }, { highWaterMark: 1 });
}

/** Waits for a change. @returns False after {@linkcode HEARTBEAT_MS} without one. */
async function waitForChange(changed: Promise<void>, left: AbortSignal): Promise<boolean> {
  const ended = abortable(changed, left).then(() => true, () => true);
  return await withDeadline(ended, HEARTBEAT_MS) ?? false;
}

/** Frames of what has changed since `position`, which is updated. */
function newFrames(
  { steps, progress }: JobView,
  active: ActiveJob | undefined,
  position: Position,
  hide: (text: string) => string,
): StreamChunk[] {
  const frames: StreamChunk[] = [];
  for (const step of steps) {
    const text = JSON.stringify(step);
    if (position.steps.get(step.name) === text) continue;
    position.steps.set(step.name, text);
    frames.push(encode("step", step));
  }
  if (progress !== null && progress !== position.progress) {
    position.progress = progress;
    frames.push(encode("progress", progress));
  }
  if (active) {
    const { dropped, lines } = active.log;
    const unread = lines.slice(Math.max(0, position.lines - dropped));
    frames.push(...unread.map((line) => encode("log", { line: hide(line) })));
    position.lines = dropped + lines.length;
  }
  return frames;
}
