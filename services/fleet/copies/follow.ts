/**
 * Follows the lists of all hosts of this hub, each by one stream. A host that sends garbage, too much or
 * nothing has an old copy, and costs the others nothing.
 *
 * @module
 */

import { selectFleetHost, selectFleetHosts } from "../../../db/fleet_hosts.ts";
import { callerOfHub } from "../../access/accounts.ts";
import type { Caller } from "../../access/caller.ts";
import type { Deps } from "../../deps.ts";
import { AppError, asAppError } from "../../errors.ts";
import { sleep } from "../../waiting.ts";
import { describeMissing } from "../passing/missing.ts";
import { passOn } from "../passing/pass.ts";
import type { PassingHost } from "../passing/sides.ts";
import { confirmReport, receiveReport, type WaveDeps } from "../waves/hub.ts";
import { REPORT_EVENT } from "../waves/report.ts";
import { applyFrame, emptyCopy, type HostCopy } from "./copy.ts";
import { type Budget, createBudget, type Frame, readFrames } from "./frames.ts";
import { FRAMES } from "./rows.ts";

/** Path of the feed at a host. */
export const FEED_PATH = "/api/feed";

/** Interval between checks for new links, in milliseconds. */
const ROUND_MS = 1_000;

/** Longest time until a host that failed is followed again, in milliseconds. */
const RETRY_MAX_MS = 5 * 60_000;

/** Cost of a report beyond its bytes, as bytes: each one is a commit. */
const REPORT_COST = 16 * 1024;

/** Rounds after which clients are told that copies have changed. */
const TELL_ROUNDS = 5;

/** Resource whose changes clients follow. */
const COPIES_RESOURCE = "/api/fleet/overview";

export type FollowDeps = WaveDeps & Pick<Deps, "server">;

interface Following {
  budget: Budget;
  failures: number;
  isRunning: boolean;
  /** When it may be followed again, on a monotonic clock in milliseconds. */
  dueAt: number;
  /** Whether its copy has changed since clients were told so. */
  isChanged: boolean;
}

/** Follows hosts until `signal` aborts, or this installation is a hub no more. */
export async function followHosts(
  deps: FollowDeps,
  signal: AbortSignal,
  round: () => void,
): Promise<void> {
  const { db, fleet } = deps;
  const hosts = new Map<string, Following>();
  const running = new Set<Promise<void>>();
  const stop = new AbortController();
  const stopped = AbortSignal.any([signal, stop.signal]);
  for (let rounds = 1; !signal.aborted && fleet.isHub; rounds++) {
    for (const id of fleet.hosts.keys()) {
      const following = hosts.get(id) ?? newFollowing();
      hosts.set(id, following);
      if (!fleet.link(id) || following.isRunning || performance.now() < following.dueAt) continue;
      const run = follow(deps, id, following, stopped).finally(() => running.delete(run));
      running.add(run);
    }
    const ids = new Set(selectFleetHosts(db).map(({ id }) => id));
    for (const id of [...hosts.keys(), ...fleet.copies.keys()].filter((id) => !ids.has(id))) {
      hosts.delete(id);
      fleet.copies.delete(id);
      fleet.reports.delete(id);
    }
    if (rounds % TELL_ROUNDS === 0) tellChanges(deps, [...hosts.values()]);
    round();
    await sleep(ROUND_MS, signal);
  }
  stop.abort();
  await Promise.all(running);
}

/** Tells once for all hosts, because each change has clients read the overview again. */
function tellChanges({ changes }: Pick<Deps, "changes">, hosts: Following[]): void {
  if (hosts.some(({ isChanged }) => isChanged)) changes.record(COPIES_RESOURCE);
  for (const host of hosts) host.isChanged = false;
}

const newFollowing = (): Following => ({
  budget: createBudget(() => performance.now()),
  failures: 0,
  isRunning: false,
  dueAt: 0,
  isChanged: false,
});

/** Follows a host until its stream ends. Never rejects. */
async function follow(
  deps: FollowDeps,
  id: string,
  following: Following,
  signal: AbortSignal,
): Promise<void> {
  const { fleet, log } = deps;
  const { name, labels } = selectFleetHost(deps.db, id) ?? { name: id, labels: {} };
  const copy = fleet.copies.get(id) ?? emptyCopy();
  fleet.copies.set(id, copy);
  following.isRunning = true;
  try {
    await followHost(deps, { id, name, labels }, {
      copy,
      budget: following.budget,
      signal,
      onChange: () => following.isChanged = true,
    });
    following.failures = 0;
  } catch (error) {
    if (!signal.aborted && fleet.link(id)) {
      following.failures++;
      copy.problem = problemOf(error);
      following.isChanged = true;
      log.warn("host cannot be followed", { host: name, reason: copy.problem });
    }
  } finally {
    following.isRunning = false;
    const rangeMs = Math.min(RETRY_MAX_MS, ROUND_MS * 2 ** following.failures);
    following.dueAt = performance.now() + ROUND_MS + Math.random() * rangeMs;
  }
}

/** Errors of what a host sent may repeat it at length. */
function problemOf(error: unknown): string {
  if (error instanceof RangeError) return error.message;
  return asAppError(error)?.message ?? "The host sent an invalid list";
}

/**
 * Reads the feed of a host into its copy until the feed ends.
 *
 * @throws For a host that does not answer, sends too much, or something else than a feed.
 */
export async function followHost(
  deps: FollowDeps,
  host: Omit<PassingHost, "state">,
  { copy, budget, signal, onChange }: {
    copy: HostCopy;
    budget: Budget;
    signal: AbortSignal;
    onChange: () => void;
  },
): Promise<void> {
  const { end, head: { status }, body } = await passOn(deps, { ...host, state: "away" }, {
    method: "GET",
    target: FEED_PATH,
    headers: new Headers({ accept: "text/event-stream" }),
    caller: hubAsCaller(deps),
    permissions: [],
    requestId: crypto.randomUUID(),
    signal,
    isAllowed: () => true,
  });
  try {
    const stored = status === 404 && selectFleetHost(deps.db, host.id);
    if (stored) throw new AppError("unavailable", describeMissing(stored, `GET ${FEED_PATH}`));
    if (status !== 200 || !body) {
      throw new AppError("unavailable", `The host does not send its lists (status ${status})`);
    }
    /** The last report of this stream: an older one says nothing about the time between. */
    let report: string | undefined;
    for await (const frame of readFrames(body, budget)) {
      if (frame.event !== REPORT_EVENT) applyFrame(copy, frame, deps.now());
      else if (frame.data !== report) {
        budget.spend(REPORT_COST);
        await receiveReport(deps, host.id, frame.data);
        report = frame.data;
      }
      if (report !== undefined && isCurrent(frame)) confirmReport(deps, host.id);
      copy.problem = null;
      if (frame.event !== "current") onChange();
    }
  } finally {
    end();
  }
}

/** Whether the host has just read its containers. */
const isCurrent = ({ event, data }: Frame): boolean =>
  event === "current" && FRAMES.current.parse(JSON.parse(data)).includes("containers");

/** The hub itself, which reads, and hands over what its users have left. */
export const hubAsCaller = (
  { server }: Pick<Deps, "server">,
  role: "viewer" | "operator" = "viewer",
): Caller =>
  callerOfHub("hub", {
    ...{ id: "hub", name: server.name, user: `Hub ${server.name}` },
    role,
    permissions: [],
    mayRunPrograms: false,
  });
