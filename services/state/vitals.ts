/**
 * What the process counts about itself, for the metrics export: requests and their duration, and
 * how late its timers are. Plain numbers in memory, which cost next to nothing while nobody asks.
 *
 * @module
 */

/** Upper bounds of the classes of duration, in seconds; one more class has no bound. */
export const DURATION_BOUNDS_S = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10] as const;

/** The first digit of a status is its class. */
const STATUS_CLASSES = 6;

/** Methods that are told apart; a client may send whatever word it likes. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"]);

/** Seconds of which the latest timers are remembered. */
const LAGS_KEPT = 15;

/** The requests of one method and path pattern, from the start of the process. */
export interface RouteTraffic {
  /** `OTHER` for one that nobody serves. */
  method: string;
  /** Path pattern of the endpoint; `other` for what reached none. */
  route: string;
  /** Number of answers by the first digit of their status. */
  byClass: number[];
}

/** The durations of a group of routes, from the start of the process. */
export interface GroupDurations {
  /** The common path of the routes, e.g. `/api/containers`; `other` for unknown paths. */
  group: string;
  /** Number of answers by duration, see {@linkcode DURATION_BOUNDS_S}. */
  byDuration: number[];
  /** All durations together. */
  seconds: number;
}

export interface Vitals {
  /** Requests that have no answer yet. */
  readonly inFlight: number;
  /** One element for each pair of method and path pattern that was asked for. */
  traffic(): Iterable<RouteTraffic>;
  durations(): Iterable<GroupDurations>;
  requestBegan(): void;
  /** Of a stream this is the moment in which it begins. */
  requestEnded(request: {
    method: string;
    route: string | undefined;
    status: number;
    ms: number;
  }): void;
  /** Takes how much too late a timer ended, in milliseconds. */
  timerEnded(lateMs: number): void;
  /** How late the last timer was, and the latest of the last ones; seconds. */
  readonly loopLag: { last: number; max: number };
}

export function createVitals(): Vitals {
  const routes = new Map<string, RouteTraffic>();
  const groups = new Map<string, GroupDurations>();
  const lags: number[] = [];
  let inFlight = 0;

  return {
    get inFlight() {
      return inFlight;
    },
    traffic: () => routes.values(),
    durations: () => groups.values(),
    requestBegan: () => void inFlight++,
    requestEnded({ method, route = "other", status, ms }) {
      inFlight--;
      const name = METHODS.has(method) ? method : "OTHER";
      const key = `${name} ${route}`;
      let counts = routes.get(key);
      if (!counts) {
        routes.set(key, counts = { method: name, route, byClass: Array(STATUS_CLASSES).fill(0) });
      }
      const statusClass = Math.floor(status / 100);
      if (statusClass < STATUS_CLASSES) counts.byClass[statusClass]!++;
      const at = DURATION_BOUNDS_S.findIndex((bound) => ms <= bound * 1000);
      const group = groupOf(route);
      let durations = groups.get(group);
      if (!durations) groups.set(group, durations = noDurations(group));
      durations.byDuration[at < 0 ? DURATION_BOUNDS_S.length : at]!++;
      durations.seconds += ms / 1000;
    },
    timerEnded(lateMs) {
      lags.push(Math.max(0, lateMs) / 1000);
      if (lags.length > LAGS_KEPT) lags.shift();
    },
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

/** E.g. `/api/containers` of `/api/containers/:id/stop`; that of an extension is one longer. */
function groupOf(route: string): string {
  return /^(\/api\/ext\/[^/:]+\/[^/:]+|\/api\/[^/:]+|\/[^/:]+)/.exec(route)?.[0] ?? route;
}
