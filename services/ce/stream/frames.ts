/**
 * What the clients of `GET /api/stream` are told: the states of the host every 15 seconds, and
 * the events as they happen.
 *
 * @module
 */

import type { Caller } from "../../auth/caller.ts";
import type { Deps } from "../../deps.ts";
import { asAppError } from "../../errors.ts";
import type { StreamChunk } from "../../stream/chunks.ts";
import { alertOverview, alertVersion } from "../alerts/events.ts";
import { listItems, listVersion } from "../containers/containers.ts";
import type { ReadDeps } from "../containers/reads.ts";
import { systemSummary } from "../host/metrics.ts";
import { containersIfReachable, countContainers, statusGiven } from "../overview.ts";
import { ACCESS_TOKEN_S } from "../auth/tokens.ts";

/** Types of frames. All but `event` are states, which new clients are shown at once. */
export const STREAM_TYPES = ["metrics", "containers", "alerts", "event"] as const;
export type StreamType = (typeof STREAM_TYPES)[number];

/** A stream that was opened with a ticket lasts as long as a token would, in milliseconds. */
const TICKET_STREAM_MS = ACCESS_TOKEN_S * 1000;

type FrameDeps =
  & ReadDeps
  & Pick<Deps, "config" | "db" | "host" | "now" | "stats" | "stream">;

/** Where the frames of a type come from. */
interface FrameSource {
  type: Exclude<StreamType, "event">;
  /** Names the data as it is now; while the name stays, the frame is made once for all clients. */
  version(deps: FrameDeps): string | undefined;
  /** Sent only when its data has changed. */
  onlyChanges?: true;
  /** `undefined` when there is nothing to show. */
  data(deps: FrameDeps): Promise<unknown>;
}

const metricsFrame: FrameSource = {
  type: "metrics",
  version: ({ inventory, host, engine }) =>
    inventory.live && host.latest
      ? `${host.latest.timestamp} ${inventory.revision} ${engine.reachable}`
      : undefined,
  async data(deps) {
    const containers = await containersIfReachable(deps);
    const [{ system, sampledAt }, engine] = await Promise.all([
      systemSummary(deps),
      statusGiven(deps, containers),
    ]);
    return { ...system, containers: countContainers(containers), engine, timestamp: sampledAt };
  },
};

const containersFrame: FrameSource = {
  type: "containers",
  onlyChanges: true,
  version: listVersion,
  async data(deps) {
    const containers = await containersIfReachable(deps);
    return containers && { containers: listItems(deps, containers) };
  },
};

const alertsFrame: FrameSource = {
  type: "alerts",
  version: alertVersion,
  data: (deps) => Promise.resolve(alertOverview(deps)),
};

/** In the order in which a client is shown them. */
const FRAME_SOURCES: readonly FrameSource[] = [metricsFrame, containersFrame, alertsFrame];

/**
 * Opens a stream: the events after `lastEventId` that are still held, the states as they are, and
 * then what comes. It ends with the caller's token, or as soon as its login is ended, its user
 * deleted or its address no longer let in.
 *
 * @throws {AppError} `unavailable` when too many clients are connected.
 */
export async function openStream(
  deps: FrameDeps & Pick<Deps, "accounts">,
  caller: Caller,
  { types, lastEventId }: { types: readonly StreamType[]; lastEventId: number | undefined },
): Promise<ReadableStream<StreamChunk>> {
  const { accounts, now, stream } = deps;
  const endsAt = caller.expiresAtMs ?? now().getTime() + TICKET_STREAM_MS;
  await refreshStates(deps);
  return stream.open({
    types: new Set(types),
    lastEventId,
    stillValid: () =>
      now().getTime() < endsAt && accounts.roleOf(caller) !== undefined &&
      caller.rights?.isAdmitted() !== false,
  });
}

/** Sends the states as they are now to every client. Without clients there is nothing to do. */
export async function broadcastStates(deps: FrameDeps): Promise<void> {
  if (deps.stream.count === 0) return;
  await refreshStates(deps);
  await deps.stream.broadcast();
}

/** Makes the frames anew that are not as they were. */
async function refreshStates(deps: FrameDeps): Promise<void> {
  const { stream } = deps;
  const isCurrent = (type: StreamType, version: string | undefined) =>
    version !== undefined && stream.stateVersion(type) === version;

  const made = await Promise.all(FRAME_SOURCES.map(async (source) => {
    const version = source.version(deps);
    if (isCurrent(source.type, version)) return undefined;
    return { source, version, data: await dataOf(source, deps) };
  }));
  for (const state of made) {
    // Of many who asked at the same time, the first has it serialised.
    if (!state) continue;
    const { source: { type, onlyChanges = false }, version, data } = state;
    if (!isCurrent(type, version)) stream.setState(type, version, data, { onlyChanges });
  }
}

/** What fails for a reason that has its own place (an engine that is away) is left out here. */
async function dataOf({ data }: FrameSource, deps: FrameDeps): Promise<unknown> {
  try {
    return await data(deps);
  } catch (error) {
    if (asAppError(error)) return undefined;
    throw error;
  }
}
