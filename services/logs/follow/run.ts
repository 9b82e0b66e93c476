/**
 * The runs of a container whose log is followed: when one ended, so that lines can be told from those
 * of the next one.
 *
 * @module
 */

import type { ContainerState } from "../../../engine/containers.ts";
import { parseStamp } from "../stamp.ts";
import type { LogLine } from "./line_reader.ts";
import { isLater, type Position } from "./position.ts";

/** The time at which a run ended. */
export type RunEnd = Pick<Position, "seconds" | "nanos">;

export interface Run {
  /** Whether a state is that of a later run; if there was one before, with its end. */
  update(state: ContainerState): { isNext: boolean; end?: RunEnd };
}

/** @param state That of the first run. */
export function createRun(state: ContainerState): Run {
  let startedAt = state.StartedAt;
  let endedAt: RunEnd | undefined;

  return {
    update({ StartedAt, FinishedAt }) {
      const started = parseStamp(StartedAt);
      const finished = parseStamp(FinishedAt);
      const isOver = started !== undefined && finished !== undefined && isLater(finished, started);
      // The engine knows only the last end, which may be that of the new run.
      const before = isOver ? endedAt ?? started : finished;
      const wasStarted = !startedAt.startsWith("0001-");
      const isNext = StartedAt !== startedAt;
      startedAt = StartedAt;
      endedAt = isOver ? finished : undefined;
      return isNext && wasStarted
        ? { isNext, end: before ?? { seconds: 0, nanos: 0 } }
        : { isNext };
    },
  };
}

/** Whether a line was written after a run ended. Podman's times may be whole seconds. */
export const isAfterRun = (
  { position, timestamp }: Pick<LogLine, "position" | "timestamp">,
  end: RunEnd,
): boolean => timestamp.includes(".") ? isLater(position, end) : position.seconds >= end.seconds;
