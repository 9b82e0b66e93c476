/** Follows a log while it is visible, and keeps its lines. @module */

import { useEffect, useMemo } from "preact/hooks";
import { type Signal, useSignal } from "@preact/signals";
import type { ApiError } from "../../api/client.ts";
import { count } from "../../base/text.ts";
import { followStream, type StreamFrame, type StreamOptions } from "../../state/stream.ts";
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
 * @param paths Path and query of each stream; others begin again.
 * @param isMerged Whether they have several containers.
 */
export function useFollowing(paths: readonly string[], isMerged: boolean): Following {
  const key = paths.join("\n");
  const buffer = useMemo(() => createLogBuffer({ isMerged }), [key, isMerged]);
  const version = useSignal(0);
  const round = useSignal(0);
  const state = useSignal<"opening" | "live" | "reconnecting">("opening");
  const error = useSignal<ApiError | undefined>(undefined);

  useEffect(() => {
    state.value = "opening";
    error.value = undefined;
    let waiting: StreamFrame[] = [];
    let request: number | undefined;
    const flush = () => {
      request = undefined;
      for (const frame of waiting) take(buffer, frame);
      waiting = [];
      version.value++;
    };
    const followers = paths.map((path) =>
      followWhileVisible(path, {
        onFrame(frame) {
          waiting.push(frame);
          request ??= requestAnimationFrame(flush);
        },
        onState: (next) => state.value = next,
        onRefusal: (refusal) => error.value = refusal,
      })
    );
    return () => {
      if (request !== undefined) cancelAnimationFrame(request);
      for (const end of followers) end();
    };
  }, [buffer, round.value]);
  const retry = () => {
    buffer.clear();
    round.value++;
  };
  return { buffer, version, state, error, retry };
}

/** Follows one stream. @returns The function that ends it. */
function followWhileVisible(
  path: string,
  { onFrame, ...options }: Pick<StreamOptions, "onFrame" | "onState" | "onRefusal">,
): () => void {
  let end: AbortController | undefined;
  let lastEventId: string | undefined;
  let isOver = false;
  const follow = () => {
    end?.abort();
    if (document.hidden || isOver) return;
    end = new AbortController();
    void followStream({
      ...options,
      ...{ path, lastEventId },
      signal: end.signal,
      onFrame(frame) {
        lastEventId = frame.id ?? lastEventId;
        onFrame(frame);
        isOver = frame.type === "end" && isFinal(path, frame);
        if (isOver) end?.abort();
      },
    });
  };
  follow();
  document.addEventListener("visibilitychange", follow);
  return () => {
    document.removeEventListener("visibilitychange", follow);
    end?.abort();
  };
}

/** Whether no line can follow: by its name, a container can be created again. */
const isFinal = (path: string, { json }: StreamFrame): boolean =>
  path.startsWith("api/containers/") && JSON.parse(json).reason === "removed";

const ENDS: Record<string, string> = {
  removed: "The container was removed",
  engine_lost: "The container engine cannot be reached",
  unreadable: "The log of this container cannot be read",
};

/** Notes about containers of a host whose lines are missing. */
const MISSING: Record<string, string> = {
  away: "The host is away",
  refused: "The host refuses this log",
  gone: "The host has no such container",
};

interface Sent {
  container: string;
  /** Only of a host of the fleet. */
  host?: string;
}

const nameOf = ({ container, host }: Sent) =>
  host === undefined ? container : `${host}/${container}`;

function take(buffer: LogBuffer, { type, json }: StreamFrame): void {
  const data: unknown = JSON.parse(json);
  if (type === "log") {
    const lines = (Array.isArray(data) ? data : [data]) as (SentLine & Sent)[];
    return buffer.add(lines.map((line) => ({ ...line, container: nameOf(line) })));
  }
  if (type === "missing") return takeMissing(buffer, data as MissingFrame);
  const { dropped, reason, ...sent } = data as Sent & {
    dropped?: number | null;
    reason?: string;
  };
  const container = nameOf(sent);
  if (type === "gap") {
    const missing = dropped == null ? "Lines are missing" : `${count(dropped, "line")} missing`;
    buffer.addNote(container, missing);
  } else if (type === "restarted") {
    buffer.addNote(container, "Restarted");
  } else if (type === "end") {
    buffer.addNote(container, ENDS[reason ?? ""] ?? "The log has ended");
  }
}

interface MissingFrame {
  host: string;
  missing: { containers: string[]; reason: string }[];
}

function takeMissing(buffer: LogBuffer, { host, missing }: MissingFrame): void {
  if (missing.length === 0) buffer.addNote(host, "All lines are here again");
  for (const { containers, reason } of missing) {
    const note = MISSING[reason] ?? "Lines are missing";
    for (const container of containers) buffer.addNote(nameOf({ host, container }), note);
  }
}
