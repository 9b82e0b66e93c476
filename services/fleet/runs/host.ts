/** One host of a run: the request that begins the work there, and the job that it started. @module */

import type { Job } from "../../../db/jobs.ts";
import { findVersion, openVersion } from "../../compose/versions.ts";
import type { Deps } from "../../deps.ts";
import { asAppError } from "../../errors.ts";
import { sleep } from "../../waiting.ts";
import { type Asked, type Asker, askHost, sendToHost } from "../passing/ask.ts";
import type { PassingHost } from "../passing/sides.ts";
import {
  type HostJobState,
  jobIdIn,
  jobsIn,
  jobStateIn,
  latestVersionIn,
  prunedIn,
  reasonIn,
  versionIn,
} from "./answers.ts";
import type { FleetRun, HostOutcome, RunInput } from "./run.ts";

/** Longest reason, in characters. */
const REASON_MAX = 300;

/** Pause before a host is asked again, in milliseconds. */
const RETRY_MS = 2_000;

/** Time without an answer after which a host whose job runs counts as away, in milliseconds. */
const AWAY_MS = 15 * 60_000;

/** Time after which a job at a host is left to itself, because it holds a place here, in milliseconds. */
const FOLLOW_MAX_MS = 6 * 60 * 60_000;

/** Time after which the state of a job is read again, whatever its stream sends, in milliseconds. */
const STREAM_MAX_MS = 5 * 60_000;

/** Longest wait for the answer to a cancellation, in milliseconds. */
const CANCEL_MS = 10_000;

/** Longest wait for a link, and the pause between two looks, in milliseconds. */
const RECONNECT_MS = 60_000;
const LOOK_MS = 500;

/** Difference of clocks that is allowed for when a job is looked up, in milliseconds. */
const CLOCK_MS = 15_000;

const UNKNOWN = "No answer of the host arrived; it may have begun";

interface AtHost {
  host: PassingHost;
  asker: Asker;
  job: FleetRun;
}

/** A host at which the work is to begin. */
interface Beginning extends AtHost {
  /** The job as it is stored. */
  record: Job;
  /** Whether a request that begins the work may have reached the host. */
  isSent: boolean;
}

type Begun = HostOutcome | { jobId: string };

/** Kinds of jobs that an action starts at a host. */
const KINDS: Record<RunInput["action"], readonly string[]> = {
  "prune": [],
  "update-check": ["updates.check"],
  "update": ["stack.update"],
  "deploy": ["stack.deploy", "stack.swarm_deploy"],
};

export const outcomeOf = (
  state: HostOutcome["state"],
  reason: string | null,
  jobId: string | null = null,
): HostOutcome => ({ state, reason: reason && firstLine(reason), jobId });

export const refused = (reason: string): HostOutcome => outcomeOf("refused", reason);

export const isOutcome = (begun: Begun): begun is HostOutcome => "state" in begun;

const firstLine = (text: string) => text.split("\n", 1)[0]!.slice(0, REASON_MAX).toWellFormed();

/**
 * Sends the request that begins the work. One that may have been sent before, and one whose answer has
 * not arrived, is not repeated: the job that it started is looked up.
 *
 * @param beginning Its `isSent` is updated.
 * @throws The reason, when the run was cancelled or the service stops.
 */
export async function begin(deps: Deps, beginning: Beginning): Promise<Begun> {
  try {
    return beginning.isSent ? await findBegun(deps, beginning) : await send(deps, beginning);
  } catch (error) {
    beginning.job.signal.throwIfAborted();
    const known = asAppError(error);
    if (!known) throw error;
    if (known.code === "forbidden") return refused(known.message);
    if (known.code !== "unavailable") return outcomeOf("failed", known.message);
    if (!beginning.isSent) return outcomeOf("away", known.message);
    return await findLater(deps, beginning);
  }
}

async function send(deps: Deps, at: Beginning): Promise<Begun> {
  const { action, options, stack } = at.job.input;
  const name = encodeURIComponent(stack ?? "");
  switch (action) {
    case "prune":
      return pruned(await change(deps, at, "POST", "/api/system/prune", options));
    case "update-check":
      return started(await change(deps, at, "POST", "/api/updates/check", {}));
    case "update":
      return started(await change(deps, at, "POST", `/api/stacks/${name}/update`, options));
    case "deploy":
      return await deploy(deps, at, name);
  }
}

/** Stores the sources at the host as a new stack, or as the next version of the one there. */
async function deploy(deps: Deps, at: Beginning, name: string): Promise<Begun> {
  const { stack, version, options } = at.job.input;
  const stored = findVersion(deps, stack!, version!);
  const { compose, env, files, profiles } = openVersion(deps, stored).sources;
  const sources = { compose, env, files, profiles };
  let answer = await change(deps, at, "POST", "/api/stacks", {
    ...sources,
    name: stack,
    kind: stored.kind,
    deploy: false,
  });
  if (answer.status === 409) {
    const versions = await ask(deps, at, "GET", `/api/stacks/${name}/versions`);
    const current = latestVersionIn(versions.body);
    // Without a stack there, the conflict was another one.
    if (current === undefined) return refusal(answer);
    const path = `/api/stacks/${name}/source`;
    answer = await change(deps, at, "PUT", path, { ...sources, expectedVersion: current });
  }
  const expectedVersion = versionIn(answer.body);
  if (answer.status >= 400 || expectedVersion === undefined) return refusal(answer);
  const body = { ...options, expectedVersion };
  return started(await change(deps, at, "POST", `/api/stacks/${name}/deploy`, body));
}

/** Looks the job up when the host is back. */
async function findLater(deps: Deps, at: Beginning): Promise<Begun> {
  try {
    await waitForLink(deps, at.host.id, at.job.signal);
    return await findBegun(deps, at);
  } catch (error) {
    at.job.signal.throwIfAborted();
    if (!asAppError(error)) throw error;
    return outcomeOf("failed", UNKNOWN);
  }
}

/** The job that a request started whose answer did not arrive. */
async function findBegun(deps: Deps, at: Beginning): Promise<Begun> {
  const { action, stack } = at.job.input;
  const { id, createdAt } = at.record;
  const kinds = KINDS[action].join(",");
  if (kinds === "") return outcomeOf("failed", UNKNOWN);
  const offset = deps.passing.hub()?.link(at.host.id)?.clock.offset ?? 0;
  const since = new Date(Date.parse(createdAt) + offset - CLOCK_MS).toISOString();
  const { body } = await ask(deps, at, "GET", `/api/jobs?kind=${kinds}&limit=50`);
  const user = `/${at.asker.caller.userId}`;
  const found = jobsIn(body)?.find((each) =>
    each.createdBy?.endsWith(user) && each.createdAt >= since && each.id !== id &&
    (stack === null || each.target === stack)
  );
  return found ? { jobId: found.id } : outcomeOf("failed", UNKNOWN);
}

/** Hosts need some time to connect again, e.g. after a restart of this server. */
export async function waitForLink(
  { passing }: Deps,
  hostId: string,
  signal: AbortSignal,
): Promise<void> {
  const until = performance.now() + RECONNECT_MS;
  while (!passing.hub()?.link(hostId) && performance.now() < until && !signal.aborted) {
    await sleep(LOOK_MS, signal);
  }
}

/** Waits for the end of a job at the host. A cancelled run cancels it. */
export async function follow(
  deps: Deps,
  { jobId, ...at }: AtHost & { jobId: string },
): Promise<HostOutcome> {
  const path = `/api/jobs/${encodeURIComponent(jobId)}`;
  const beganAt = deps.now().getTime();
  let heardAt = beganAt;
  for (;;) {
    try {
      const { status, body } = await ask(deps, at, "GET", path);
      if (status === 403 || status === 404) return { ...refusal({ status, body }), jobId };
      // Another status is not of the job, e.g. while the host starts again.
      const state = status < 400 ? jobStateIn(body) : undefined;
      if (state && state.endedAt !== null) return endOf(state, jobId);
      if (state) {
        heardAt = deps.now().getTime();
        await followStream(deps, at, `${path}/stream`);
      }
    } catch (error) {
      const known = asAppError(error);
      if (!known && !at.job.signal.aborted) throw error;
      if (known?.code === "forbidden") return { ...refused(known.message), jobId };
    }
    if (at.job.signal.aborted) await cancelAt(deps, at, path);
    const now = deps.now().getTime();
    if (now - heardAt >= AWAY_MS) {
      return outcomeOf("away", "The host does not answer; its job goes on there", jobId);
    }
    if (now - beganAt >= FOLLOW_MAX_MS) {
      return outcomeOf("failed", "The job has not ended after 6 hours; it goes on there", jobId);
    }
    await sleep(RETRY_MS, at.job.signal);
  }
}

function endOf({ status, error }: HostJobState, jobId: string): HostOutcome {
  if (status === "succeeded") return outcomeOf("done", null, jobId);
  return outcomeOf("failed", error ?? status, jobId);
}

/** Reads the job's stream, which ends with it. One that breaks says nothing about the job. */
async function followStream(deps: Deps, { host, asker, job }: AtHost, target: string) {
  const { body, end } = await sendToHost(deps, host, asker, {
    method: "GET",
    target,
    signal: AbortSignal.any([job.signal, AbortSignal.timeout(STREAM_MAX_MS)]),
  });
  try {
    for await (const _ of body ?? []);
  } catch {
    // The state of the job is read again.
  } finally {
    end();
  }
}

/** @throws The reason of the cancellation. A job goes on when this service only stops. */
async function cancelAt(deps: Deps, { host, asker, job }: AtHost, path: string): Promise<never> {
  if (!deps.jobs.stopping.aborted) {
    const signal = AbortSignal.any([deps.jobs.stopping, AbortSignal.timeout(CANCEL_MS)]);
    await askHost(deps, host, asker, { method: "POST", target: `${path}/cancel`, signal })
      .catch(() => {});
  }
  throw job.signal.reason;
}

/** Sends a request that changes something at the host. */
function change(
  deps: Deps,
  at: Beginning,
  method: string,
  target: string,
  body: Asked["body"],
): Promise<Answer> {
  return ask(deps, at, method, target, { body, onSend: () => at.isSent = true });
}

function ask(
  deps: Deps,
  { host, asker, job }: AtHost,
  method: string,
  target: string,
  more: Pick<Asked, "body" | "onSend"> = {},
): Promise<Answer> {
  return askHost(deps, host, asker, { method, target, ...more, signal: job.signal });
}

type Answer = { status: number; body: unknown };

/** A kind that failed does not stop the others, so that the answer is not a failure. */
function pruned(answer: Answer): HostOutcome {
  if (answer.status >= 400) return refusal(answer);
  const report = prunedIn(answer.body);
  if (!report) return outcomeOf("done", null);
  const { totalReclaimed: freedBytes, ...kinds } = report;
  const counts = Object.entries(kinds).map(([kind, { count }]) => [kind, count]);
  const error = Object.values(kinds).find(({ error }) => error !== null)?.error ?? null;
  const outcome = outcomeOf(error === null ? "done" : "failed", error);
  return { ...outcome, pruned: { ...Object.fromEntries(counts), freedBytes } };
}

function started(answer: Answer): Begun {
  const jobId = answer.status < 400 ? jobIdIn(answer.body) : undefined;
  return jobId === undefined ? refusal(answer) : { jobId };
}

/** A host that does not allow it says so with 403, and hides what a limited token may not see. */
function refusal({ status, body }: Answer): HostOutcome {
  const reason = reasonIn(body) ??
    (status < 400 ? "The host sent an invalid answer" : `The host answered ${status}`);
  return outcomeOf(status === 403 || status === 404 ? "refused" : "failed", reason);
}
