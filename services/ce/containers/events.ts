/**
 * From the engine's events to ours: when a container went down, and why.
 *
 * The engine tells the story in pieces. `docker stop` is seen as `kill` (the stop signal), perhaps
 * `kill` (SIGKILL), `die`, `stop`; `docker kill` as `kill`, `die`; `docker rm -f` as `kill`,
 * `die`, `destroy`; memory exhaustion as `oom`, `die`. So a `die` after a `kill` waits a moment for
 * the `stop` that may follow.
 *
 * @module
 */

import type { EngineEvent } from "../../../engine/events.ts";
import type { DownReason } from "../../events/events.ts";

/** What a container's end was, once the story is complete. */
export interface Down {
  id: string;
  container: string;
  reason: DownReason;
  exitCode: number | null;
}

/** How long a `die` after a `kill` waits for a `stop`, in milliseconds. */
export const STOP_WAIT_MS = 500;

/** Containers with an unfinished story; more are not told apart, which only costs the reason. */
const STORIES_MAX = 10_000;

/** 128 + SIGKILL: nobody exits with this by choice. */
const EXIT_KILLED = 137;

interface Story {
  killed: boolean;
  oom: boolean;
  /** Podman tells of the stop before the end. */
  stopped: boolean;
  pending: { down: Down; timer: ReturnType<typeof setTimeout> } | undefined;
}

/** Collects the events of all containers. */
export interface DownReader {
  read(event: EngineEvent): void;
  /** Ends the waiting; what was pending is told. */
  close(): void;
}

/** @param tell Called once for each end of a container. */
export function createDownReader(tell: (down: Down) => void): DownReader {
  const stories = new Map<string, Story>();

  const storyOf = (id: string): Story => {
    let story = stories.get(id);
    if (!story) {
      if (stories.size >= STORIES_MAX) stories.delete(stories.keys().next().value!);
      stories.set(id, story = { killed: false, oom: false, stopped: false, pending: undefined });
    }
    return story;
  };
  const conclude = (id: string, reason?: DownReason) => {
    const pending = stories.get(id)?.pending;
    stories.delete(id);
    if (!pending) return;
    clearTimeout(pending.timer);
    tell(reason ? { ...pending.down, reason } : pending.down);
  };

  return {
    read({ Action, Actor: { ID: id, Attributes } }) {
      switch (Action) {
        case "kill":
          storyOf(id).killed = true;
          break;
        case "oom":
          storyOf(id).oom = true;
          break;
        case "stop": {
          const story = storyOf(id);
          story.stopped = true;
          if (story.pending) conclude(id, "stopped");
          break;
        }
        case "die": {
          const story = storyOf(id);
          const exitCode = exitCodeOf(Attributes);
          const reason = reasonOf(story, exitCode);
          const down = { id, container: Attributes?.name ?? id.slice(0, 12), reason, exitCode };
          const timer = setTimeout(() => conclude(id), STOP_WAIT_MS);
          story.pending = { down, timer };
          if (reason !== "killed" || !story.killed) conclude(id);
          break;
        }
        case "start":
        case "destroy":
          conclude(id);
          break;
      }
    },
    close() {
      for (const id of [...stories.keys()]) conclude(id);
    },
  };
}

function reasonOf(story: Story, exitCode: number | null): DownReason {
  if (story.oom) return "oom";
  if (story.stopped) return "stopped";
  if (story.killed || exitCode === EXIT_KILLED) return "killed";
  return "exited";
}

function exitCodeOf(attributes: Record<string, string> | null): number | null {
  const text = attributes?.exitCode ?? attributes?.containerExitCode;
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : null;
}
