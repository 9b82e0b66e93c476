/**
 * Counters of the process for the metrics export: requests, their durations and timer lag.
 *
 * @module
 */

/** Upper bounds of the duration buckets, in seconds; the last bucket is unbounded. */
export const DURATION_BOUNDS_S = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10] as const;

/** Status classes by first digit, including 0. */
const STATUS_CLASSES = 6;

/** Methods with their own counters. Clients can send any word. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"]);

const LAGS_KEPT = 15;

/** The requests of one method and path pattern since the start of the process. */
interface RouteTraffic {
  /** `OTHER` for an unknown method. */
  method: string;
  /** Path pattern of the endpoint; `other` for an unknown path. */
  route: string;
  /** Number of responses by the first digit of their status. */
  byClass: number[];
}

/** The durations of a group of routes since the start of the process. */
export interface GroupDurations {
  /** The common path of the routes, e.g. `/api/containers`; `other` for unknown paths. */
  group: string;
  /** Number of responses per bucket of {@linkcode DURATION_BOUNDS_S}. */
  byDuration: number[];
  /** Sum of all durations. */
  seconds: number;
}

export type Vitals = ReturnType<typeof createVitals>;

export function createVitals() {
  const routes = new Map<string, RouteTraffic & { durations: GroupDurations }>();
  const groups = new Map<string, GroupDurations>();
  const lags: number[] = [];
  let inFlight = 0;

  function durationsOf(group: string): GroupDurations {
    let durations = groups.get(group);
    if (!durations) groups.set(group, durations = noDurations(group));
    return durations;
  }

  return {
    /** Requests without a response yet. */
    get inFlight() {
      return inFlight;
    },
    /** One element for each requested pair of method and path pattern. */
    traffic: (): Iterable<RouteTraffic> => routes.values(),
    durations: (): Iterable<GroupDurations> => groups.values(),
    recordRequestStart: (): void => void inFlight++,
    /** Called when the response starts. */
    recordRequestEnd(
      { method, route = "other", status, ms }: {
        method: string;
        route: string | undefined;
        status: number;
        ms: number;
      },
    ): void {
      inFlight--;
      const name = METHODS.has(method) ? method : "OTHER";
      const key = `${name} ${route}`;
      let counts = routes.get(key);
      if (!counts) {
        const byClass = Array(STATUS_CLASSES).fill(0);
        counts = { method: name, route, byClass, durations: durationsOf(groupOf(route)) };
        routes.set(key, counts);
      }
      const statusClass = Math.floor(status / 100);
      if (statusClass < STATUS_CLASSES) counts.byClass[statusClass]!++;
      const at = DURATION_BOUNDS_S.findIndex((bound) => ms <= bound * 1000);
      const { durations } = counts;
      durations.byDuration[at < 0 ? DURATION_BOUNDS_S.length : at]!++;
      durations.seconds += ms / 1000;
    },
    /** Records how late a timer fired, in milliseconds. */
    recordTimerLag(lateMs: number): void {
      lags.push(Math.max(0, lateMs) / 1000);
      if (lags.length > LAGS_KEPT) lags.shift();
    },
    /** Lag of the last timer, and the maximum of the recent ones, in seconds. */
    get loopLag() {
      return { last: lags.at(-1) ?? 0, max: Math.max(0, ...lags) };
    },
  };
}

const noDurations = (group: string): GroupDurations => ({
  group,
  byDuration: Array(DURATION_BOUNDS_S.length + 1).fill(0),
  seconds: 0,
});

/** E.g. `/api/containers` for `/api/containers/:id/stop`; extensions have one segment more. */
function groupOf(route: string): string {
  return /^(\/api\/ext\/[^/:]+\/[^/:]+|\/api\/[^/:]+|\/[^/:]+)/.exec(route)?.[0] ?? route;
}
