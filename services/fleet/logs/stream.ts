/**
 * Streams the logs of containers on several hosts of this hub. Frames have the order of their arrival, as
 * those of several containers of one host; a host that is missing delays no other one.
 *
 * @module
 */

import type { Caller } from "../../access/caller.ts";
import { scopeAtHost, seesHost } from "../../access/host_scope.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { createLineFilter } from "../../logs/follow/filter.ts";
import type { LogStreamQuery } from "../../logs/follow/open.ts";
import { parseStart } from "../../logs/start_time.ts";
import { COMMENT, join, retryLine, type StreamChunk } from "../../stream/chunks.ts";
import { readStream } from "../../stream/read_stream.ts";
import { callerValidity } from "../../stream/validity.ts";
import { createOutboxSignal } from "../../events/outbox_signal.ts";
import { visibleRow } from "../copies/lists.ts";
import { findHost, passOn } from "../passing/pass.ts";
import type { PassingHost } from "../passing/sides.ts";
import { decodeHostIds, encodeHostIds } from "./cursor.ts";
import { createLogSource, type HostFrame, type HostLog } from "./source.ts";

/** Delay after which a client reconnects, in milliseconds. */
const RETRY_MS = 2_000;

/** Interval of checks of the caller, in milliseconds. */
const CHECK_MS = 1_000;

/** Checks without a frame after which a comment is sent. */
const HEARTBEAT_CHECKS = 15;

export type HostLogsDeps = Pick<
  Deps,
  "accounts" | "db" | "fleet" | "jobs" | "limiters" | "now" | "passing"
>;

/** A request for logs, as it is passed on. */
export interface HostLogsRequest {
  caller: Caller;
  /** Permissions that custom roles give the caller at a host. */
  permissionsAt: (host: PassingHost) => readonly string[];
  requestId: string;
  /** `<host>/<container>`, by name or id. */
  containers: readonly string[];
  query: LogStreamQuery;
}

/**
 * @throws {AppError} `invalid` for a container without its host, a refused pattern or time; `not_found`
 * for a host; `unavailable` or `too_many_requests` above a limit of streams.
 */
export async function streamHostLogs(
  deps: HostLogsDeps,
  request: HostLogsRequest,
): Promise<ReadableStream<StreamChunk>> {
  const { caller, query } = request;
  await assertQuery(query, deps.now());
  const logs = logsOf(deps, request);
  const isValid = callerValidity(deps, caller);
  const release = deps.limiters.hostLogStreams.take(caller);
  const left = new AbortController();
  const arrived = createOutboxSignal();
  const lastIds = decodeHostIds(query.lastEventId);
  const sources = logs.map((log) =>
    createLogSource(log, {
      lastId: lastIds.get(log.name),
      signal: left.signal,
      onFrame: arrived.notify,
    })
  );
  const leave = () => {
    if (left.signal.aborted) return;
    release();
    left.abort();
  };
  const seesAll = () =>
    logs.every(({ hostId }) => {
      const host = deps.passing.hub()?.findHost(hostId);
      return host !== undefined && seesHost(caller, host);
    });
  const isOpen = () =>
    isValid() && seesAll() && !left.signal.aborted && !deps.jobs.stopping.aborted;
  let first: StreamChunk | undefined = retryLine(RETRY_MS);

  return readStream(async () => {
    if (first) {
      const chunk = first;
      first = undefined;
      return chunk;
    }
    for (let quiet = 1; isOpen(); quiet++) {
      const frames = sources.flatMap((source) => {
        const frame = source.take();
        return frame ? [chunkOf(source.name, frame)] : [];
      });
      if (frames.length > 0) return join(frames);
      if (sources.every(({ isOver }) => isOver)) return undefined;
      if (quiet % HEARTBEAT_CHECKS === 0) return COMMENT;
      await arrived.wait(CHECK_MS, left.signal);
    }
    return undefined;
  }, leave);

  function chunkOf(name: string, { chunk, lastId }: HostFrame): StreamChunk {
    if (lastId !== undefined) lastIds.set(name, lastId);
    const id = lastIds.size > 0 ? `id: ${encodeHostIds(lastIds)}\n` : "";
    return join([encoder.encode(id), chunk]);
  }
}

const encoder = new TextEncoder();

/** Refuses at once what each host would refuse. */
async function assertQuery(
  { stdout, stderr, levels, search, regex, since }: LogStreamQuery,
  now: Date,
): Promise<void> {
  if (!stdout && !stderr) {
    throw new AppError("invalid", "query.stdout: At least one of stdout and stderr must be true");
  }
  if (since !== undefined) parseStart(since, now);
  await createLineFilter({ streams: [], levels, search, regex });
}

/** The containers by host. @throws {AppError} `invalid`, `not_found` */
function logsOf(deps: HostLogsDeps, request: HostLogsRequest): HostLog[] {
  const byHost = new Map<string, { host: PassingHost; containers: Set<string> }>();
  for (const given of request.containers) {
    const [ref = "", container = "", ...rest] = given.split("/");
    if (ref === "" || container === "" || rest.length > 0) {
      throw new AppError(
        "invalid",
        "query.container: must be the name of a host, / and a container",
      );
    }
    const host = findHost(deps, request.caller, ref);
    const known = byHost.get(host.id) ?? { host, containers: new Set() };
    known.containers.add(container);
    byHost.set(host.id, known);
  }
  return [...byHost.values()].map(({ host, containers }) =>
    logOf(deps, request, host, [...containers])
  );
}

function logOf(
  deps: HostLogsDeps,
  { caller, permissionsAt, requestId, query }: HostLogsRequest,
  host: PassingHost,
  containers: readonly string[],
): HostLog {
  return {
    name: host.name,
    hostId: host.id,
    containers,
    present: () => containers.filter((ref) => hasContainer(deps, caller, host.id, ref)),
    async open(present, lastId, signal) {
      const headers = new Headers({ accept: "text/event-stream" });
      if (lastId !== undefined) headers.set("last-event-id", lastId);
      const current = findHost(deps, caller, host.id);
      return await passOn(deps, current, {
        ...{ method: "GET", target: targetOf(present, query), headers },
        ...{ caller, permissions: permissionsAt(current), requestId, signal },
      });
    },
  };
}

/** Whether the caller sees a container at the host, by the hub's copy; `true` while that is not known. */
function hasContainer(
  { fleet }: HostLogsDeps,
  caller: Caller,
  hostId: string,
  ref: string,
): boolean {
  const copy = fleet.copies.get(hostId);
  if (!copy?.asOf.containers) return true;
  const scope = scopeAtHost(caller);
  return copy.lists.containers.values().some((row) =>
    (row.name === ref || row.id.startsWith(ref)) &&
    visibleRow(scope, "containers", row)
  );
}

function targetOf(containers: readonly string[], query: LogStreamQuery): string {
  const { tail, since, stdout, stderr, levels, search, regex } = query;
  const given: [string, string | undefined][] = [
    ...containers.map((each): [string, string] => ["container", each]),
    ["tail", tail?.toString()],
    ["since", since],
    ["stdout", String(stdout)],
    ["stderr", String(stderr)],
    ["level", levels?.join()],
    ["search", search],
    ["regex", regex],
  ];
  const present = given.filter((each): each is [string, string] => each[1] !== undefined);
  return `/api/logs/stream?${new URLSearchParams(present)}`;
}
