/**
 * The frames of `GET /api/stream?hosts=…`: events of hosts of this hub as they happen, and their
 * containers and alerts from the hub's copies, first all and then by changes. A client that does not read
 * needs no buffer: the next frame is computed when it reads again.
 *
 * @module
 */

import type { StoredHost } from "../../../db/fleet_hosts.ts";
import { type Caller, includesRole, mayDo } from "../../access/caller.ts";
import { scopeAtHost } from "../../access/host_scope.ts";
import { includesContainer, isLimited, matchesAny } from "../../access/scope.ts";
import type { Deps } from "../../deps.ts";
import { notFound } from "../../errors.ts";
import { toView } from "../../events/description.ts";
import type { AppEvent } from "../../events/events.ts";
import { eventKind } from "../../events/kinds/mod.ts";
import {
  COMMENT,
  encode,
  idLine,
  join,
  lengthOf,
  retryLine,
  type StreamChunk,
} from "../../stream/chunks.ts";
import { readStream } from "../../stream/read_stream.ts";
import { callerValidity } from "../../stream/validity.ts";
import { sleep } from "../../waiting.ts";
import { visibleRow } from "../copies/lists.ts";
import type { Rows } from "../copies/rows.ts";
import { visibleHosts } from "../hosts/visible.ts";

/** Types of frames that hosts have. */
export const HOST_STREAM_TYPES = ["event", "containers", "alerts"] as const;
type HostStreamType = (typeof HOST_STREAM_TYPES)[number];
type ListType = Exclude<HostStreamType, "event">;

/** Interval between checks for changes, in milliseconds. */
const CHECK_MS = 1_000;

/** Checks without a frame after which a comment is sent, and the hosts are read again. */
const QUIET_CHECKS = 15;

/** Delay after which a client reconnects, in milliseconds. */
const RETRY_MS = 5_000;

/** Size of the frames at which the client has to read first. */
const PORTION_BYTES = 256 * 1024;

const LISTS: Record<ListType, string> = { containers: "containers:read", alerts: "alerts:read" };

type HostStreamDeps = Pick<Deps, "accounts" | "changes" | "db" | "fleet" | "jobs" | "now">;

/** The lists that a client has got of a host, as they were in the copy. */
type SentLists = Partial<Record<ListType, ReadonlyMap<string, unknown>>>;

interface Client {
  caller: Caller;
  /** Patterns of names of hosts. */
  patterns: readonly string[];
  types: readonly HostStreamType[];
  /** Of the last event. */
  position: number;
  hosts: readonly StoredHost[];
  /** The changes that `hosts` were read after. */
  changes: number | undefined;
  sent: Map<string, { name: string; lists: SentLists }>;
  quiet: number;
}

/**
 * Opens a stream. It ends with the rights of the caller.
 *
 * @param patterns Names of hosts, in which `*` stands for any text.
 * @throws {AppError} `not_found` for a name that no host has; `unavailable` or `too_many_requests` above a
 * limit of streams.
 */
export function openHostStream(
  deps: HostStreamDeps,
  caller: Caller,
  { hosts: patterns, types, lastEventId }: {
    hosts: readonly string[];
    types: readonly string[];
    lastEventId: number | undefined;
  },
): ReadableStream<StreamChunk> {
  const hosts = visibleHosts(deps, caller);
  const unknown = patterns.find((each) =>
    !each.includes("*") && !hosts.some(({ name }) => name === each)
  );
  if (unknown !== undefined) throw notFound("Host", unknown);
  const isValid = callerValidity(deps, caller);
  const release = deps.jobs.followers.take(caller);
  const left = new AbortController();
  const client: Client = {
    ...{ caller, patterns },
    types: HOST_STREAM_TYPES.filter((type) => types.includes(type)),
    // A higher one is of a run with another clock.
    position: Math.min(lastEventId ?? Infinity, deps.fleet.received.last),
    hosts: [],
    changes: undefined,
    sent: new Map(),
    quiet: 0,
  };
  const leave = () => {
    if (left.signal.aborted) return;
    release();
    left.abort();
  };
  let first: StreamChunk | undefined = retryLine(RETRY_MS);
  return readStream(async () => {
    if (first) {
      const chunk = first;
      first = undefined;
      return chunk;
    }
    while (isValid() && !left.signal.aborted && !deps.jobs.stopping.aborted) {
      const frames = nextFrames(deps, client);
      if (frames.length > 0) return join(frames);
      await sleep(CHECK_MS, left.signal);
    }
    return undefined;
  }, leave);
}

/** Frames of what is new for the client, which gets them now. */
function nextFrames(deps: HostStreamDeps, client: Client): StreamChunk[] {
  const { changes } = deps;
  if (client.changes !== changes.total || client.quiet === 0) {
    client.changes = changes.total;
    client.hosts = visibleHosts(deps, client.caller)
      .filter(({ name }) => matchesAny(client.patterns, name));
  }
  const frames = [...eventFrames(deps, client), ...listFrames(deps, client)];
  client.quiet = frames.length > 0 ? 1 : (client.quiet + 1) % QUIET_CHECKS;
  return client.quiet === 0 ? [COMMENT] : frames;
}

function eventFrames({ fleet }: HostStreamDeps, client: Client): StreamChunk[] {
  const received = fleet.received.after(client.position);
  client.position = received.at(-1)?.position ?? client.position;
  if (!client.types.includes("event")) return [];
  const hosts = new Map(client.hosts.map((host) => [host.id, host]));
  return received.flatMap(({ position, event }) => {
    const host = hosts.get(event.serverId);
    return host && maySee(client.caller, host, event)
      ? [idLine(position), encode("event", toView(event))]
      : [];
  });
}

function maySee(caller: Caller, host: StoredHost, event: AppEvent): boolean {
  const { isForAdmins, permission, scope } = eventKind(event.event);
  if (isForAdmins && !includesRole(caller.role, "admin")) return false;
  if (!mayDo(caller, "viewer", permission, host)) return false;
  const limits = scopeAtHost(caller);
  if (!isLimited(limits)) return true;
  const { container } = event.data as { container?: string };
  const composeProject = event.stack ?? null;
  return scope === "container" && container !== undefined &&
    includesContainer(limits, { name: container, composeProject, labels: {} });
}

function listFrames(deps: HostStreamDeps, client: Client): StreamChunk[] {
  const { sent } = client;
  const frames: StreamChunk[] = [];
  for (const host of client.hosts) {
    if (lengthOf(frames) > PORTION_BYTES) return frames;
    const known = sent.get(host.id);
    // Under another name, the host is another one to the client.
    if (known && known.name !== host.name) frames.push(...goneFrames(known));
    const lists = known?.name === host.name ? known.lists : {};
    sent.set(host.id, { name: host.name, lists });
    for (const type of listTypes(client, host)) {
      frames.push(...changeFrames(deps, client, host, { type, lists }));
    }
  }
  const ids = new Set(client.hosts.map(({ id }) => id));
  for (const [id, known] of sent) {
    if (ids.has(id)) continue;
    sent.delete(id);
    frames.push(...goneFrames(known));
  }
  return frames;
}

/** A limited API token sees no alerts. */
const listTypes = ({ caller, types }: Client, host: StoredHost): ListType[] =>
  types.filter((type) => type !== "event").filter((type) =>
    mayDo(caller, "viewer", LISTS[type], host) &&
    (type !== "alerts" || !isLimited(scopeAtHost(caller)))
  );

/** The rows of a list that have changed: a row that has not is the same object. */
function changeFrames(
  { fleet }: HostStreamDeps,
  { caller }: Client,
  { id, name }: StoredHost,
  { type, lists }: { type: ListType; lists: SentLists },
): StreamChunk[] {
  const scope = scopeAtHost(caller);
  const copy = fleet.copies.get(id);
  const asOf = copy?.asOf[type];
  const before = lists[type];
  if (!copy || !asOf || before === copy.lists[type]) return [];
  const rows: ReadonlyMap<string, Rows[ListType]> = copy.lists[type];
  lists[type] = rows;
  const shownOf = (row: unknown) => row && visibleRow(scope, type, row as never);
  const changed = [...rows.values()].filter((row) => row !== before?.get(row.id));
  const set = changed.flatMap((row) => shownOf(row) ?? []);
  // A row that has left the scope is gone for the client.
  const removed = [...before ?? []]
    .filter(([id, row]) => row !== rows.get(id) && shownOf(row) && !shownOf(rows.get(id)))
    .map(([id]) => id);
  const isWhole = before === undefined;
  if (!isWhole && set.length + removed.length === 0) return [];
  return [encode(type, { host: name, asOf, isWhole, set, removed })];
}

/** A host that is not in the stream any more has nothing. */
const goneFrames = ({ name, lists }: { name: string; lists: SentLists }): StreamChunk[] =>
  Object.keys(lists).map((type) =>
    encode(type, { host: name, asOf: null, isWhole: true, set: [], removed: [] })
  );
