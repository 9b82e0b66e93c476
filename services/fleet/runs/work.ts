/** The work of a run: each host gets its request once, a few at a time, and is then followed. @module */

import { selectApiToken } from "../../../db/api_tokens.ts";
import { selectFleetHost } from "../../../db/fleet_hosts.ts";
import { type Job, selectJob } from "../../../db/jobs.ts";
import { callerOf } from "../../access/accounts.ts";
import { type Caller, includesRole } from "../../access/caller.ts";
import { seesHost } from "../../access/host_scope.ts";
import type { Deps } from "../../deps.ts";
import { sleep } from "../../waiting.ts";
import { JobEnd } from "../../jobs/kind.ts";
import type { Asker } from "../passing/ask.ts";
import type { PassingHost } from "../passing/sides.ts";
import { begin, follow, isOutcome, outcomeOf, refused } from "./host.ts";
import type { FleetRun, HostOutcome, RunHost, RunInput, RunResult } from "./run.ts";

/** Hosts that are asked at the same time. */
const PARALLEL = 8;

/** Longest wait for a host after a restart, and the pause between two looks, in milliseconds. */
const RECONNECT_MS = 60_000;
const LOOK_MS = 500;

/** @throws {JobEnd} If not all hosts are done; the reason of a cancellation. */
export async function runOnHosts(deps: Deps, job: FleetRun): Promise<RunResult> {
  const { action, hosts } = job.input;
  const record = selectJob(deps.db, job.id)!;
  const outcomes = new Map<string, HostOutcome>();
  const waiting = [...hosts];
  const worker = async () => {
    for (let host = waiting.shift(); host && !job.signal.aborted; host = waiting.shift()) {
      outcomes.set(host.id, await runAt(deps, job, record, host));
      job.progress({ current: outcomes.size, total: hosts.length, message: host.name });
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  job.signal.throwIfAborted();
  const result: RunResult = {
    action,
    hosts: hosts.map(({ id, name }) => ({ id, name, ...outcomes.get(id)! })),
  };
  const others = result.hosts.filter(({ state }) => state !== "done");
  if (others.length === 0) return result;
  throw new JobEnd("failed", summaryOf(hosts.length, others), result);
}

function summaryOf(total: number, others: RunResult["hosts"]): string {
  const named = others.slice(0, 3).map(({ name, state, reason }) =>
    reason === null ? `${name} ${state}` : `${name} ${state} (${reason})`
  );
  const more = others.length > named.length ? [`${others.length - named.length} more`] : [];
  return `${total - others.length} of ${total} hosts done; ${[...named, ...more].join(", ")}`;
}

/** Begins at a host unless an earlier process did, and waits for the end. */
async function runAt(
  deps: Deps,
  job: FleetRun,
  record: Job,
  { id, name, permissions }: RunHost,
): Promise<HostOutcome> {
  const found = selectFleetHost(deps.db, id);
  const asker = found && askerOf(deps, record, { ...found, permissions });
  const host: PassingHost = { id, name, labels: found?.labels ?? {}, state: "away" };
  const step = `start ${name}`;
  // A request that an earlier process began may have reached the host.
  const isRepeated = job.hasBegun(step) && job.resultOf(step) === undefined;
  const begun = await job.step(step, async () => {
    if (record.startedAt !== null && record.startedAt < deps.startedAt.toISOString()) {
      await waitForLink(deps, id, job.signal);
    }
    if (!asker) return refused("You may not see this host any more");
    return await begin(deps, { host, asker, record, job, isRepeated });
  });
  if (isOutcome(begun)) return begun;
  return await job.step(`finish ${name}`, async () => {
    if (!asker) return outcomeOf("failed", "You may not see this host any more", begun.jobId);
    return await follow(deps, { host, asker, job, jobId: begun.jobId });
  });
}

/** After a restart of this server, hosts need some time to connect again. */
async function waitForLink({ passing }: Deps, hostId: string, signal: AbortSignal): Promise<void> {
  const until = performance.now() + RECONNECT_MS;
  while (!passing.hub()?.link(hostId) && performance.now() < until && !signal.aborted) {
    await sleep(LOOK_MS, signal);
  }
}

/** The user of a run with at most the rights of its start; `undefined` for one who has none there. */
function askerOf(
  { accounts, db }: Deps,
  { createdBy: userId, tokenId, input }: Job,
  host: { name: string; labels: Record<string, string>; permissions: readonly string[] },
): Asker | undefined {
  const find = (): Caller | undefined => {
    const token = tokenId === null ? undefined : selectApiToken(db, tokenId);
    if (tokenId !== null && !token) return undefined;
    const apiToken = token && { id: token.id, name: token.name, hash: token.tokenHash };
    const session = { userId, familyId: "", ...(apiToken && { apiToken }) };
    const caller = callerOf(accounts, session, "");
    if (!caller || !seesHost(caller, host)) return undefined;
    const { role } = input as RunInput;
    return includesRole(caller.role, role) ? { ...caller, role } : caller;
  };
  const caller = find();
  return caller && {
    caller,
    permissions: host.permissions,
    isAllowed: () => includesRole(find()?.role ?? "public", caller.role),
  };
}
