/**
 * The frames of `GET /api/stream`: states of the host every 15 seconds and after a
 * change, and events immediately.
 *
 * @module
 */

import type { Caller } from "../access/caller.ts";
import type { Deps } from "../deps.ts";
import { asAppError } from "../errors.ts";
import type { StreamChunk } from "../stream/chunks.ts";
import { alertOverview, alertVersion } from "../alerts/events.ts";
import { listItems, listVersion } from "../containers/containers.ts";
import type { ReadDeps } from "../containers/reads.ts";
import { systemSummary } from "../metrics/host/metrics.ts";
import { containersIfReachable, countContainers, engineStatusFor } from "./overview.ts";
import { overviewFrame } from "./overview_frame.ts";
import { summarizeStacks } from "../stacks/stacks.ts";
import { callerValidity } from "../stream/validity.ts";
import { ADMIN_EVENT, streamView } from "./view.ts";

/**
 * Types of frames. All except `event` and `job` are states, which a new client receives immediately.
 */
export const STREAM_TYPES = [
  "metrics",
  "overview",
  "containers",
  "alerts",
  "monitors",
  "event",
  "job",
] as const;
type StreamType = (typeof STREAM_TYPES)[number];

type FrameDeps =
  & ReadDeps
  & Pick<
    Deps,
    | "alerts"
    | "changes"
    | "config"
    | "db"
    | "engineStatus"
    | "host"
    | "maintenance"
    | "monitorResults"
    | "now"
    | "stats"
    | "stream"
  >;

/** Produces the frames of one type. */
interface FrameSource {
  type: Exclude<StreamType, "event" | "job">;
  /** The version of the current data. A frame is built once per version, for all clients. */
  version(deps: FrameDeps): string | undefined;
  /** Send the frame only if its data has changed. */
  onlyChanges?: true;
  /** `undefined` if there is no data. */
  data(deps: FrameDeps): Promise<unknown>;
}

const metricsFrame: FrameSource = {
  type: "metrics",
  version: ({ inventory, host, engine, maintenance, changes }) =>
    inventory.live && host.latest
      ? JSON.stringify([
        host.latest.timestamp,
        inventory.revision,
        engine.reachable,
        maintenance.state,
        changes.total,
      ])
      : undefined,
  async data(deps) {
    const containers = await containersIfReachable(deps);
    const [{ system, sampledAt }, engine] = await Promise.all([
      systemSummary(deps),
      engineStatusFor(deps, containers),
    ]);
    return {
      ...system,
      containers: countContainers(containers),
      engine,
      maintenance: deps.maintenance.state,
      changes: deps.changes.counts,
      timestamp: sampledAt,
    };
  },
};

const overviewSource: FrameSource = {
  type: "overview",
  onlyChanges: true,
  version(deps) {
    const list = listVersion(deps);
    return list && `${list} ${alertVersion(deps)}`;
  },
  async data(deps) {
    const containers = await containersIfReachable(deps);
    const reported = new Set(alertOverview(deps).firing.map(({ container }) => container));
    return containers && overviewFrame(deps, containers, reported);
  },
};

const containersFrame: FrameSource = {
  type: "containers",
  onlyChanges: true,
  version: listVersion,
  async data(deps) {
    const containers = await containersIfReachable(deps);
    return containers &&
      { containers: listItems(deps, containers), stacks: summarizeStacks(containers) };
  },
};

const alertsFrame: FrameSource = {
  type: "alerts",
  version: alertVersion,
  data: (deps) => Promise.resolve(alertOverview(deps)),
};

const monitorsFrame: FrameSource = {
  type: "monitors",
  onlyChanges: true,
  version: ({ monitorResults }) => String(monitorResults.total),
  data({ monitorResults }) {
    const results = monitorResults.latest();
    return Promise.resolve(results.length > 0 ? { results } : undefined);
  },
};

/** In the order in which a new client receives them. */
const FRAME_SOURCES: readonly FrameSource[] = [
  metricsFrame,
  overviewSource,
  containersFrame,
  alertsFrame,
  monitorsFrame,
];

/**
 * Opens a stream. It starts with the buffered events after `lastEventId` and the current states. It
 * ends when the caller's token expires, the session is revoked, the user is deleted or the address
 * is no longer allowed.
 *
 * @throws {AppError} `unavailable` if too many clients are connected.
 */
export async function openStream(
  deps: FrameDeps & Pick<Deps, "accounts">,
  caller: Caller,
  { types, lastEventId, isCompressed = false }: {
    types: readonly StreamType[];
    lastEventId: number | undefined;
    isCompressed?: boolean;
  },
): Promise<ReadableStream<StreamChunk>> {
  const isValid = callerValidity(deps, caller);
  await refreshStates(deps);
  const hasAdminEvents = caller.role === "admin" && types.includes("event");
  return deps.stream.open({
    holder: caller,
    types: new Set(hasAdminEvents ? [...types, ADMIN_EVENT] : types),
    lastEventId,
    isCompressed,
    view: streamView(deps, caller),
    isValid: () => isValid() && (!hasAdminEvents || deps.accounts.roleOf(caller) === "admin"),
  });
}

/** Sends the current states to every client. */
export async function broadcastStates(deps: FrameDeps): Promise<void> {
  if (deps.stream.count === 0) return;
  await refreshStates(deps);
  await deps.stream.broadcast();
}

/** Rebuilds the frames whose version has changed. */
async function refreshStates(deps: FrameDeps): Promise<void> {
  const { stream } = deps;
  const isCurrent = (type: StreamType, version: string | undefined) =>
    version !== undefined && stream.stateVersion(type) === version;

  const built = await Promise.all(FRAME_SOURCES.map(async (source) => {
    const version = source.version(deps);
    if (isCurrent(source.type, version)) return undefined;
    return { source, version, data: await dataOf(source, deps) };
  }));
  for (const state of built) {
    if (!state) continue;
    const { source: { type, onlyChanges = false }, version, data } = state;
    // A concurrent call may have stored the same version already.
    if (!isCurrent(type, version)) stream.setState(type, version, data, { onlyChanges });
  }
}

/** No data on expected failures, such as an unreachable engine, which other frames report. */
async function dataOf({ data }: FrameSource, deps: FrameDeps): Promise<unknown> {
  try {
    return await data(deps);
  } catch (error) {
    if (asAppError(error)) return undefined;
    throw error;
  }
}
