/**
 * Runs the requests that the hub of this host has left, one after another and each once. A request goes
 * through the same checks as any other, with what `FLEET_ALLOW` allows now.
 *
 * @module
 */

import {
  selectFleetBoxesWithJob,
  selectNextFleetBox,
  type StoredBox,
  updateFleetBox,
} from "../../../db/fleet_boxes.ts";
import { type Job, selectJobStartedBy } from "../../../db/jobs.ts";
import type { Caller } from "../../access/caller.ts";
import { stackOf, UNLIMITED } from "../../access/scope.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { containersIfReachable } from "../../live/overview.ts";
import type { ReadDeps } from "../../containers/reads.ts";
import { openOrConflict } from "../../secrets/secrets.ts";
import { aborted, sleep } from "../../waiting.ts";
import { callerOfNote } from "../notes/caller.ts";
import type { BoxedRequest } from "./box.ts";
import { sealPurpose } from "./received.ts";
import { baseOf, changesOf, findWork } from "./work.ts";

/** Time until a request is tried again while the engine or the service is not ready, in milliseconds. */
const RETRY_MS = 10_000;

/** Longest error that is kept, in characters. */
const ERROR_MAX = 1_000;

export type RunnerDeps =
  & ReadDeps
  & Pick<Deps, "config" | "db" | "fleet" | "jobs" | "log" | "now" | "passing" | "secrets">;

/** Runs requests until `signal` aborts, or this installation is a member no more. */
export async function runBoxes(
  deps: RunnerDeps,
  signal: AbortSignal,
  round: () => void,
): Promise<void> {
  for (const box of selectFleetBoxesWithJob(deps.db)) await follow(deps, box, box.jobId!, signal);
  while (!signal.aborted && deps.fleet.membership) {
    const box = selectNextFleetBox(deps.db);
    if (!box) return await deps.fleet.changed(signal);
    if (await runBox(deps, box, signal) === "later") await sleep(RETRY_MS, signal);
    round();
  }
}

/** @returns `later` if the host is not ready for it. */
export async function runBox(
  deps: RunnerDeps,
  box: StoredBox,
  signal: AbortSignal,
): Promise<"ended" | "later"> {
  const { db, config, fleet, log } = deps;
  const { membership } = fleet;
  if (membership?.hubKey !== box.hub) return end(deps, box, "This host has left the fleet");
  try {
    const request = openRequest(deps, box);
    const caller = callerOfNote(config, membership.hubName, {
      ...request,
      permissions: [],
      scope: request.scope && { ...UNLIMITED, ...request.scope },
    });
    // The service ended while it was begun: the job tells whether it had an effect.
    const job = box.state === "begun" ? findJob(deps, box, request, caller) : undefined;
    if (job) return await follow(deps, box, job.id, signal);
    const refusal = await refusalOf(deps, request);
    if (refusal === "later") return "later";
    if (refusal !== undefined) return end(deps, box, refusal);
    updateFleetBox(db, box.id, { state: "begun", begunAt: deps.now().toISOString() });
    log.info("request of the hub begun", { box: box.id, user: request.name });
    const response = await deps.passing.perform!(requestOf(request), caller);
    // The conflict may be with what the request itself did before the service was killed.
    if (response.status === 409 && box.state === "begun") return endUnknown(deps, box, response);
    return await conclude(deps, box, response, signal);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return end(deps, box, error.message);
  }
}

function openRequest({ secrets }: RunnerDeps, { id, request }: StoredBox): BoxedRequest {
  return JSON.parse(openOrConflict(() => secrets.open(request!, sealPurpose(id))));
}

/** Why the request is not for this host as it is now. */
async function refusalOf(
  deps: RunnerDeps,
  { method, path, body, base, expiresAt }: BoxedRequest,
): Promise<string | "later" | undefined> {
  if (expiresAt <= deps.now().toISOString()) return `It has expired at ${expiresAt}`;
  const work = findWork(method, path, body);
  if (!deps.passing.perform) return "later";
  const containers = await containersIfReachable(deps);
  if (!containers) return "later";
  if (base === null) {
    return work.hasVersion ? undefined : "It does not say what it is based on";
  }
  const rows = containers.map((each) => ({ id: each.id, name: each.name, stack: stackOf(each) }));
  const changed = changesOf(base, baseOf(work, rows) ?? {});
  if (changed.length === 0) return undefined;
  return `Changed since it was left: ${changed.slice(0, 10).join(", ")}`;
}

const requestOf = ({ method, path, body }: BoxedRequest) =>
  new Request(`http://longshore${path}`, {
    method,
    headers: { "content-type": "application/json" },
    body,
  });

async function conclude(
  deps: RunnerDeps,
  box: StoredBox,
  response: Response,
  signal: AbortSignal,
): Promise<"ended" | "later"> {
  const answer = await response.json();
  const { status } = response;
  if (!response.ok) return end(deps, box, String(answer.error ?? `status ${status}`));
  // A new stack has its deploy in a field.
  const job = answer.kind !== undefined && answer.steps ? answer : answer.job;
  if (job) return await follow(deps, box, job.id, signal);
  updateFleetBox(deps.db, box.id, { state: "done", request: null });
  return "ended";
}

async function endUnknown(deps: RunnerDeps, box: StoredBox, response: Response): Promise<"ended"> {
  const { error } = await response.json();
  deps.log.warn("request of the hub may have been done before a restart", { box: box.id });
  updateFleetBox(deps.db, box.id, {
    state: "done",
    error: `May have been done before the host was stopped: ${error}`.slice(0, ERROR_MAX),
    request: null,
  });
  return "ended";
}

/** Waits for the end of a job, because the next request may be based on it. */
async function follow(
  { db, jobs }: RunnerDeps,
  { id }: StoredBox,
  jobId: string,
  signal: AbortSignal,
): Promise<"ended"> {
  updateFleetBox(db, id, { state: "job", jobId, request: null });
  const active = jobs.get(jobId);
  if (active) await aborted(AbortSignal.any([active.ended.signal, signal]));
  return "ended";
}

/** The job that a request had started before this process. */
function findJob(
  { db }: RunnerDeps,
  { begunAt }: StoredBox,
  { method, path, body, base }: BoxedRequest,
  { userId }: Caller,
): Job | undefined {
  const { name } = findWork(method, path, body);
  const targets = [name, ...Object.keys(base ?? {})];
  return selectJobStartedBy(db, { createdBy: userId, since: begunAt!, targets });
}

function end({ db, log }: RunnerDeps, { id }: StoredBox, reason: string): "ended" {
  log.warn("request of the hub refused", { box: id, reason });
  updateFleetBox(db, id, { state: "refused", error: reason.slice(0, ERROR_MAX), request: null });
  return "ended";
}
