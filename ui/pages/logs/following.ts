/** Follows a log while it is visible, and keeps its lines. @module */

import { useEffect, useMemo } from "preact/hooks";
import { type Signal, useSignal } from "@preact/signals";
import type { ApiError } from "../../api/client.ts";
import { count } from "../../base/text.ts";
import { followStream, type StreamFrame } from "../../state/stream.ts";
import { createLogBuffer, type LogBuffer, type SentLine } from "./buffer.ts";

export interface Following {
  buffer: LogBuffer;
  /** Changes with the buffer, at most once for each frame of the screen. */
  version: Signal<number>;
  state: Signal<"opening" | "live" | "reconnecting">;
  /** Why the service refused the log. */
  error: Signal<ApiError | undefined>;
  retry: () => void;
}

/**
 * @param path The stream's path and query; another one begins again.
 * @param isMerged Whether it has several containers.
 */
export function useFollowing(path: string, isMerged: boolean): Following {
  const buffer = useMemo(() => createLogBuffer({ isMerged }), [path, isMerged]);
  const version = useSignal(0);
  const round = useSignal(0);
  const state = useSignal<"opening" | "live" | "reconnecting">("opening");
  const error = useSignal<ApiError | undefined>(undefined);

  useEffect(() => {
    state.value = "opening";
    error.value = undefined;
    let end: AbortController | undefined;
    let lastEventId: string | undefined;
    let isOver = false;
    let waiting: StreamFrame[] = [];
    let request: number | undefined;
    const flush = () => {
      request = undefined;
      for (const frame of waiting) take(buffer, frame);
      waiting = [];
      version.value++;
    };
    const followWhileVisible = () => {
      end?.abort();
      if (document.hidden || isOver) return;
      end = new AbortController();
      void followStream({
        path,
        signal: end.signal,
        lastEventId,
        onFrame(frame) {
          lastEventId = frame.id ?? lastEventId;
          waiting.push(frame);
          request ??= requestAnimationFrame(flush);
          isOver = frame.type === "end" && isFinal(path, frame);
          if (isOver) end?.abort();
        },
        onState: (next) => state.value = next,
        onRefusal: (refusal) => error.value = refusal,
      });
    };
    followWhileVisible();
    document.addEventListener("visibilitychange", followWhileVisible);
    return () => {
      document.removeEventListener("visibilitychange", followWhileVisible);
      if (request !== undefined) cancelAnimationFrame(request);
      end?.abort();
    };
  }, [buffer, round.value]);
  const retry = () => {
    buffer.clear();
    round.value++;
  };
  return { buffer, version, state, error, retry };
}

/** Whether no line can follow: by its name, a container can be created again. */
const isFinal = (path: string, { json }: StreamFrame): boolean =>
  path.startsWith("api/containers/") && JSON.parse(json).reason === "removed";

const ENDS: Record<string, string> = {
  removed: "The container was removed",
  engine_lost: "The container engine cannot be reached",
  unreadable: "The log of this container cannot be read",
};

function take(buffer: LogBuffer, { type, json }: StreamFrame): void {
  const data: unknown = JSON.parse(json);
  if (type === "log") return buffer.add((Array.isArray(data) ? data : [data]) as SentLine[]);
  const { container, dropped, reason } = data as {
    container: string;
    dropped?: number | null;
    reason?: string;
  };
  if (type === "gap") {
    const missing = dropped == null ? "Lines are missing" : `${count(dropped, "line")} missing`;
    buffer.addNote(container, missing);
  } else if (type === "restarted") {
    buffer.addNote(container, "Restarted");
  } else if (type === "end") {
    buffer.addNote(container, ENDS[reason ?? ""] ?? "The log has ended");
  }
}
