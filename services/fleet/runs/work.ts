/** The work of a run: each host gets its request once, a few at a time, and is then followed. @module */

import { selectFleetHost } from "../../../db/fleet_hosts.ts";
import { type Job, selectJob } from "../../../db/jobs.ts";
import { type Caller, includesRole } from "../../access/caller.ts";
import { seesHost } from "../../access/host_scope.ts";
import { callerOfAbsent, permissionsOfRoles } from "../../access/policy_rights.ts";
import type { Deps } from "../../deps.ts";
import { messageFor } from "../../errors.ts";
import { JobEnd } from "../../jobs/kind.ts";
import type { Asker } from "../passing/ask.ts";
import type { PassingHost } from "../passing/sides.ts";
import { begin, follow, isOutcome, outcomeOf, refused, waitForLink } from "./host.ts";
import type { FleetRun, HostOutcome, RunHost, RunInput, RunResult } from "./run.ts";

/** Hosts that are asked at the same time. */
const PARALLEL = 8;

const UNSEEN = "You may not see this host any more";

/** @throws {JobEnd} If not all hosts are done; the reason of a cancellation. */
export async function runOnHosts(deps: Deps, job: FleetRun): Promise<RunResult> {
  const { action, stack, hosts } = job.input;
  const record = selectJob(deps.db, job.id)!;
  const outcomes = new Map<string, HostOutcome>();
  const waiting = [...hosts];
  const worker = async () => {
    for (let host = waiting.shift(); host && !job.signal.aborted; host = waiting.shift()) {
      const outcome = runAt(deps, job, record, host);
      outcomes.set(host.id, await outcome.catch((error) => failureOf(deps, job, host, error)));
      job.progress({ current: outcomes.size, total: hosts.length, message: host.name });
    }
  };
  // A job does not end while something runs in it, so that it can be cancelled.
  const ends = await Promise.allSettled(Array.from({ length: PARALLEL }, worker));
  job.signal.throwIfAborted();
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  const result: RunResult = {
    action,
    stack,
    hosts: hosts.map(({ id, name }) => ({ id, name, ...outcomes.get(id)! })),
  };
  const others = result.hosts.filter(({ state }) => state !== "done");
  if (others.length === 0) return result;
  throw new JobEnd("failed", summaryOf(hosts.length, others), result);
}

function summaryOf(total: number, others: RunResult["hosts"]): string {
  const named = others.slice(0, 3).map(({ name, state, reason }) =>
    reason === null || reason.startsWith(`Host ${name} is ${state}`)
      ? `${name} ${state}`
      : `${name} ${state} (${reason})`
  );
  const more = others.length > named.length ? [`${others.length - named.length} more`] : [];
  return `${total - others.length} of ${total} hosts done; ${[...named, ...more].join(", ")}`;
}

/** The failure at one host is not that of the others. @throws The reason, if the run was cancelled. */
function failureOf(
  { log }: Deps,
  { id: jobId, signal }: FleetRun,
  { id: host, name }: RunHost,
  error: unknown,
): HostOutcome {
  signal.throwIfAborted();
  return outcomeOf("failed", messageFor(log, error, "run failed at a host", { jobId, host, name }));
}

/** Begins at a host unless an earlier process did, and waits for the end. */
async function runAt(
  deps: Deps,
  job: FleetRun,
  record: Job,
  { id, name, permissions }: RunHost,
): Promise<HostOutcome> {
  const step = `start ${name}`;
  // A request that an earlier process began may have reached the host.
  const isSent = job.hasBegun(step) && job.resultOf(step) === undefined;
  const begun = await job.step(step, async () => {
    if (record.startedAt !== null && record.startedAt < deps.startedAt.toISOString()) {
      await waitForLink(deps, id, job.signal);
    }
    const asking = await askingAt(deps, record, id, permissions);
    return asking ? await begin(deps, { ...asking, record, job, isSent }) : refused(UNSEEN);
  });
  if (isOutcome(begun)) return begun;
  return await job.step(`finish ${name}`, async () => {
    const asking = await askingAt(deps, record, id, permissions);
    if (!asking) return outcomeOf("failed", UNSEEN, begun.jobId);
    return await follow(deps, { ...asking, job, jobId: begun.jobId });
  });
}

/**
 * A host, and the user of a run with at most the rights of its start.
 *
 * @param permissions Those that custom roles gave the user at the start.
 * @returns `undefined` for a user who has none there now.
 */
async function askingAt(
  deps: Deps,
  { createdBy: userId, tokenId, input }: Job,
  hostId: string,
  permissions: readonly string[],
): Promise<{ host: PassingHost; asker: Asker } | undefined> {
  const found = selectFleetHost(deps.db, hostId);
  if (!found) return undefined;
  const policy = await deps.accessPolicy();
  const find = (): Caller | undefined => {
    const caller = callerOfAbsent(deps, policy, { userId, tokenId });
    if (!caller || !seesHost(caller, found)) return undefined;
    const { role } = input as RunInput;
    return includesRole(caller.role, role) ? { ...caller, role } : caller;
  };
  const caller = find();
  if (!caller) return undefined;
  const granted = new Set(permissionsOfRoles(policy, userId, found));
  const asker = {
    caller,
    permissions: permissions.filter((each) => granted.has(each)),
    isAllowed: () => includesRole(find()?.role ?? "public", caller.role),
  };
  const { id, name, labels } = found;
  return { host: { id, name, labels, state: "is away" }, asker };
}
