/**
 * Health of the engine's event stream, as far as the container watcher sees it. A stream that
 * breaks once is normal (the engine restarted); one that keeps breaking loses events.
 *
 * @module
 */

/** Breaks within {@linkcode WINDOW_MS} that count as a failure. */
const BREAKS_MAX = 3;

const WINDOW_MS = 5 * 60_000;

/** Times are ISO 8601, UTC. */
export interface EventStreamStatus {
  status: "ok" | "failing";
  /** Number of breaks since the start of the service. */
  breaks: number;
  lastError: string | null;
  lastErrorAt: string | null;
}

export type EventStream = ReturnType<typeof createEventStream>;

export function createEventStream(now: () => Date) {
  let breaks = 0;
  let lastError: string | null = null;
  /** Times of the last breaks, oldest first. */
  const latest: Date[] = [];

  const isFailing = () =>
    latest.length === BREAKS_MAX && now().getTime() - latest[0]!.getTime() <= WINDOW_MS;

  return {
    /** Records that the stream ended unexpectedly. */
    recordBreak(error: string): void {
      breaks++;
      lastError = error;
      latest.push(now());
      if (latest.length > BREAKS_MAX) latest.shift();
    },
    status: (): EventStreamStatus => ({
      status: isFailing() ? "failing" : "ok",
      breaks,
      lastError,
      lastErrorAt: latest.at(-1)?.toISOString() ?? null,
    }),
  };
}
