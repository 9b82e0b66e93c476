/**
 * The feed of this host's lists: first all rows, then the changed ones only. A client that does not
 * read needs no buffer: the next frame is computed when it reads again.
 *
 * @module
 */

import { selectCrashLooping } from "../../../db/crash_loops.ts";
import { systemInfo } from "../../../engine/system.ts";
import { stackOf } from "../../access/scope.ts";
import type { Caller } from "../../access/caller.ts";
import { alertOverview, alertVersion } from "../../alerts/events.ts";
import type { Container } from "../../containers/inventory.ts";
import type { ReadDeps } from "../../containers/reads.ts";
import type { Deps } from "../../deps.ts";
import { asAppError } from "../../errors.ts";
import { containersIfReachable, engineStatusFor } from "../../live/overview.ts";
import { sleep } from "../../waiting.ts";
import { systemSummary } from "../../metrics/host/metrics.ts";
import { summarizeStacks } from "../../stacks/stacks.ts";
import { encode, join, type StreamChunk } from "../../stream/chunks.ts";
import { readStream } from "../../stream/read_stream.ts";
import { callerValidity } from "../../stream/validity.ts";
import { listUpdates } from "../../updates/check/list.ts";
import { type Report, REPORT_EVENT } from "../waves/report.ts";
import { enginePlatform, reportOf } from "../waves/reporter.ts";
import {
  type Change,
  type HostFigures,
  LINE_MAX,
  LIST_NAMES,
  type ListName,
  type Part,
  type Rows,
  ROWS_MAX,
} from "./rows.ts";

/** Interval between checks for changes, in milliseconds. */
const CHECK_MS = 1_000;

/** Interval of frames that say which parts are current, in milliseconds. */
const CURRENT_MS = 15_000;

/** Interval at which all parts are read, whether something has changed or not, in milliseconds. */
const READ_MS = 60_000;

/** As {@linkcode READ_MS}, while no events of the engine say that something has changed. */
const READ_WITHOUT_EVENTS_MS = 5_000;

export type FeedDeps =
  & ReadDeps
  & Pick<
    Deps,
    | "accounts"
    | "changes"
    | "config"
    | "db"
    | "engineStatus"
    | "fleet"
    | "host"
    | "jobs"
    | "now"
    | "reservations"
    | "swarm"
    | "updateGate"
  >;

/** The rows that a client has got. */
interface Position {
  /** JSON of the rows by id. */
  sent: Map<ListName, Map<string, string>>;
  host: string | undefined;
  /** JSON of the verdicts about new images. */
  report: string | undefined;
  /** Platform of the engine. */
  platform: string | undefined;
  /** Parts that could be read last. */
  current: Part[];
  version: string | undefined;
  readAt: number;
  toldAt: number;
}

/**
 * Opens a feed. It ends with the rights of the caller.
 *
 * @throws {AppError} `unavailable` or `too_many_requests` above a limit of streams.
 */
export function openFeed(deps: FeedDeps, caller: Caller): ReadableStream<StreamChunk> {
  const isValid = callerValidity(deps, caller);
  const release = deps.jobs.followers.take(caller);
  const left = new AbortController();
  const position: Position = {
    sent: new Map(),
    host: undefined,
    report: undefined,
    platform: undefined,
    current: [],
    version: undefined,
    readAt: -Infinity,
    toldAt: -Infinity,
  };
  const leave = () => {
    if (left.signal.aborted) return;
    release();
    left.abort();
  };
  return readStream(async () => {
    while (isValid() && !left.signal.aborted && !deps.jobs.stopping.aborted) {
      const frames = await nextFrames(deps, position);
      if (frames.length > 0) return join(frames);
      await sleep(CHECK_MS, left.signal);
    }
    return undefined;
  }, leave);
}

/** Frames of what has changed since `position`, which is updated. */
async function nextFrames(deps: FeedDeps, position: Position): Promise<StreamChunk[]> {
  const at = deps.now().getTime();
  const version = versionOf(deps);
  const frames: StreamChunk[] = [];
  const readMs = deps.inventory.live ? READ_MS : READ_WITHOUT_EVENTS_MS;
  if (version !== position.version || at - position.readAt >= readMs) {
    position.version = version;
    position.readAt = at;
    frames.push(...await changedFrames(deps, position));
  }
  if (frames.length > 0 || at - position.toldAt >= CURRENT_MS) {
    position.toldAt = at;
    frames.push(encode("current", position.current));
  }
  return frames;
}

const versionOf = (
  { changes, inventory: { live, revision }, ...deps }: FeedDeps,
) => `${live && revision} ${alertVersion(deps)} ${changes.total}`;

async function changedFrames(deps: FeedDeps, position: Position): Promise<StreamChunk[]> {
  const containers = await containersIfReachable(deps);
  const [host, lists] = await Promise.all([
    figuresOf(deps, containers),
    listsOf(deps, containers),
  ]);
  position.current = [
    ...host ? ["host" as const] : [],
    ...LIST_NAMES.filter((name) => lists[name] !== undefined),
  ];
  const frames = LIST_NAMES.flatMap((name) => {
    const rows = lists[name];
    const change = rows && changeOf(position.sent, name, rows);
    return change ? [encode(name, change)] : [];
  });
  const text = JSON.stringify(host);
  if (host !== undefined && text !== position.host) frames.unshift(encode("host", host));
  position.host = text ?? position.host;
  const report = containers && await ifAvailable(changedReport(deps, position, containers));
  // Behind the containers that it is about.
  return report ? [...frames, encode(REPORT_EVENT, report)] : frames;
}

/** Verdicts of a member about new images; `undefined` if they have not changed. */
async function changedReport(
  deps: FeedDeps,
  position: Position,
  containers: readonly Container[],
): Promise<Report | undefined> {
  if (!deps.fleet.membership) return undefined;
  position.platform ??= enginePlatform(await systemInfo(deps.engine));
  const { platform } = position;
  const looping = new Set(selectCrashLooping(deps.db));
  const report = await reportOf(deps, { containers, platform, looping });
  const text = JSON.stringify(report);
  if (text === position.report) return undefined;
  position.report = text;
  return report;
}

/** Whole numbers, so that a host that idles has few changes. */
async function figuresOf(
  deps: FeedDeps,
  containers: readonly Container[] | undefined,
): Promise<HostFigures | undefined> {
  const [summary, engine] = await Promise.all([
    ifAvailable(systemSummary(deps)),
    engineStatusFor(deps, containers),
  ]);
  if (!summary) return undefined;
  const { cpuPercent, cpuCount, memory, disk } = summary.system;
  return {
    engine: engine.version,
    cpuPercent: Math.round(cpuPercent),
    cpuCount,
    memoryPercent: Math.round(memory.percent),
    diskPercent: Math.round(disk.percent),
    allows: deps.config.fleetAllow,
  };
}

type Lists = { [Name in ListName]: Rows[Name][] | undefined };

async function listsOf(
  deps: FeedDeps,
  containers: readonly Container[] | undefined,
): Promise<Lists> {
  return {
    containers: containers && containerRows(deps, containers),
    stacks: containers && summarizeStacks(containers).map((
      { name, kind, status, services, containerCount, running, unhealthy },
    ) => ({
      ...{ kind, status, services, containerCount, running, unhealthy },
      id: line(`${kind}/${name}`),
      name: line(name),
    })),
    alerts: alertRows(deps),
    updates: containers && await ifAvailable(updateRows(deps)),
  };
}

function containerRows(
  { db, reservations }: Pick<Deps, "db" | "reservations">,
  containers: readonly Container[],
): Rows["containers"][] {
  const looping = new Set(selectCrashLooping(db));
  return containers.map((container) => {
    const { id, name, state, health, createdAt, startedAt, self } = container;
    const image = line(container.image);
    const stack = lineOrNull(stackOf(container));
    return {
      ...{ id, name, image, state, health, stack, createdAt, startedAt, self },
      crashLooping: looping.has(id),
      replaced: reservations.isReplaced(container),
    };
  });
}

const alertRows = (deps: FeedDeps): Rows["alerts"][] =>
  alertOverview(deps).firing.map((
    { id, ruleName, severity, message, container, stack, firedAt, acknowledgedAt },
  ) => ({
    ...{ id, ruleName, severity, firedAt, acknowledgedAt },
    message: line(message),
    container: lineOrNull(container),
    stack: lineOrNull(stack),
  }));

async function updateRows(deps: FeedDeps): Promise<Rows["updates"][]> {
  const updates = await listUpdates(deps, {});
  return updates.map(({ image, status, tag, newerVersions, checkedAt, containers }) => ({
    ...{ id: line(image), image: line(image), status, checkedAt },
    tag: lineOrNull(tag),
    newestTag: lineOrNull(newerVersions[0]?.tag ?? null),
    containers: containers.map(({ name, stack }) => ({ name, stack: lineOrNull(stack) })),
  }));
}

/** Labels and images have no limits of their own. */
const line = (text: string) => text.slice(0, LINE_MAX);
const lineOrNull = (text: string | null) => text === null ? null : line(text);

/** `undefined` on expected failures, such as an unreachable engine. */
async function ifAvailable<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (asAppError(error)) return undefined;
    throw error;
  }
}

/** The rows that the client does not have yet; `undefined` if it has all of them. */
function changeOf<Name extends ListName>(
  all: Position["sent"],
  name: Name,
  rows: Rows[Name][],
): Change<Name> | undefined {
  const before = all.get(name);
  const now = new Map(
    rows.slice(0, ROWS_MAX[name]).map((row) => [row.id, JSON.stringify(row)]),
  );
  all.set(name, now);
  const changed = [...now].filter(([id, text]) => before?.get(id) !== text);
  const removed = [...before?.keys() ?? []].filter((id) => !now.has(id));
  if (before && changed.length + removed.length === 0) return undefined;
  const set = changed.map(([, text]) => JSON.parse(text) as Rows[Name]);
  return { isWhole: before === undefined, set, removed };
}
