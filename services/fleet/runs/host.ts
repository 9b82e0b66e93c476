/** One host of a run: the request that begins the work there, and the job that it started. @module */

import type { Job } from "../../../db/jobs.ts";
import { findVersion, openVersion } from "../../compose/versions.ts";
import type { Deps } from "../../deps.ts";
import { asAppError } from "../../errors.ts";
import { sleep } from "../../waiting.ts";
import { type Asked, type Asker, askHost, sendToHost } from "../passing/ask.ts";
import type { PassingHost } from "../passing/sides.ts";
import type { FleetRun, HostOutcome, RunInput } from "./run.ts";

/** Longest reason, in characters. */
const REASON_MAX = 300;

/** Pause before a host is asked again, in milliseconds. */
const RETRY_MS = 2_000;

/** Time without an answer after which a host whose job runs counts as away, in milliseconds. */
const AWAY_MS = 15 * 60_000;

/** Difference of clocks that is allowed for when a job is looked up, in milliseconds. */
const CLOCK_MS = 15_000;

interface AtHost {
  host: PassingHost;
  asker: Asker;
  job: FleetRun;
}

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

export const isOutcome = (begun: HostOutcome | { jobId: string }): begun is HostOutcome =>
  "state" in begun;

const firstLine = (text: string) => text.split("\n", 1)[0]!.slice(0, REASON_MAX).toWellFormed();

/**
 * Sends the request that begins the work. One that may have been sent before is not repeated: the job
 * that it started is looked up.
 *
 * @throws The reason, when the run was cancelled or the service stops.
 */
export async function begin(
  deps: Deps,
  { isRepeated, record, ...at }: AtHost & { isRepeated: boolean; record: Job },
): Promise<HostOutcome | { jobId: string }> {
  try {
    return isRepeated ? await findBegun(deps, at, record) : await send(deps, at);
  } catch (error) {
    at.job.signal.throwIfAborted();
    const known = asAppError(error);
    if (!known) throw error;
    return outcomeOf(known.code === "unavailable" ? "away" : "failed", known.message);
  }
}

async function send(deps: Deps, at: AtHost): Promise<HostOutcome | { jobId: string }> {
  const { action, options, stack } = at.job.input;
  const name = encodeURIComponent(stack ?? "");
  switch (action) {
    case "prune":
      return ended(await ask(deps, at, "POST", "/api/system/prune", options));
    case "update-check":
      return started(await ask(deps, at, "POST", "/api/updates/check", {}));
    case "update":
      return started(await ask(deps, at, "POST", `/api/stacks/${name}/update`, options));
    case "deploy":
      return await deploy(deps, at, name);
  }
}

/** Stores the sources at the host as a new stack, or as the next version of the one there. */
async function deploy(deps: Deps, at: AtHost, name: string) {
  const { stack, version, options } = at.job.input;
  const stored = findVersion(deps, stack!, version!);
  const { compose, env, files, profiles } = openVersion(deps, stored).sources;
  const sources = { compose, env, files, profiles };
  const created = await ask(deps, at, "POST", "/api/stacks", {
    ...sources,
    name: stack,
    kind: stored.kind,
    deploy: false,
  });
  if (created.status !== 201 && created.status !== 409) return refusal(created);
  let expectedVersion = created.body.version;
  if (created.status === 409) {
    const versions = await ask(deps, at, "GET", `/api/stacks/${name}/versions`);
    const current = versions.body?.versions?.[0]?.version;
    // Without a stack there, the conflict was another one.
    if (current === undefined) return refusal(created);
    const path = `/api/stacks/${name}/source`;
    const replaced = await ask(deps, at, "PUT", path, { ...sources, expectedVersion: current });
    if (replaced.status !== 200) return refusal(replaced);
    expectedVersion = replaced.body.version;
  }
  const body = { ...options, expectedVersion };
  return started(await ask(deps, at, "POST", `/api/stacks/${name}/deploy`, body));
}

/** The job that a request started which an earlier process of this hub may have sent. */
async function findBegun(deps: Deps, at: AtHost, { id, createdAt }: Job) {
  const { action } = at.job.input;
  const kinds = KINDS[action].join(",");
  const unknown = "This server stopped before the host answered; it may have begun";
  if (kinds === "") return outcomeOf("failed", unknown);
  const offset = deps.passing.hub()?.link(at.host.id)?.clock.offset ?? 0;
  const since = new Date(Date.parse(createdAt) + offset - CLOCK_MS).toISOString();
  const { body } = await ask(deps, at, "GET", `/api/jobs?kind=${kinds}&limit=50`);
  const user = `/${at.asker.caller.userId}`;
  const found = body?.jobs?.find?.((each: Job) =>
    each.createdBy?.endsWith(user) && each.createdAt >= since && each.id !== id
  );
  return found ? { jobId: String(found.id) } : outcomeOf("failed", unknown);
}

/** Waits for the end of a job at the host. A cancelled run cancels it. */
export async function follow(
  deps: Deps,
  { jobId, ...at }: AtHost & { jobId: string },
): Promise<HostOutcome> {
  const path = `/api/jobs/${encodeURIComponent(jobId)}`;
  let heardAt = deps.now().getTime();
  for (;;) {
    try {
      const { status, body } = await ask(deps, at, "GET", path);
      if (status >= 400) return { ...refusal({ status, body }), jobId };
      if (typeof body?.endedAt === "string") {
        const isDone = body.status === "succeeded";
        const reason = typeof body.error === "string" ? body.error : String(body.status);
        return outcomeOf(isDone ? "done" : "failed", isDone ? null : reason, jobId);
      }
      heardAt = deps.now().getTime();
      await followStream(deps, at, `${path}/stream`);
    } catch (error) {
      if (!asAppError(error) && !at.job.signal.aborted) throw error;
    }
    if (at.job.signal.aborted) await cancelAt(deps, at, path);
    if (deps.now().getTime() - heardAt >= AWAY_MS) {
      return outcomeOf("away", "The host does not answer; its job goes on there", jobId);
    }
    await sleep(RETRY_MS, at.job.signal);
  }
}

/** Reads the job's stream, which ends with it. */
async function followStream(deps: Deps, { host, asker, job }: AtHost, target: string) {
  const { body, end } = await sendToHost(deps, host, asker, {
    method: "GET",
    target,
    signal: job.signal,
  });
  try {
    for await (const _ of body ?? []);
  } finally {
    end();
  }
}

/** @throws The reason of the cancellation. A job goes on when this service only stops. */
async function cancelAt(deps: Deps, { host, asker, job }: AtHost, path: string): Promise<never> {
  if (!deps.jobs.stopping.aborted) {
    const signal = deps.jobs.stopping;
    await askHost(deps, host, asker, { method: "POST", target: `${path}/cancel`, signal })
      .catch(() => {});
  }
  throw job.signal.reason;
}

function ask(
  deps: Deps,
  { host, asker, job }: AtHost,
  method: string,
  target: string,
  body?: Asked["body"],
) {
  return askHost(deps, host, asker, { method, target, body, signal: job.signal });
}

// deno-lint-ignore no-explicit-any
type Answer = { status: number; body: any };

const ended = (answer: Answer): HostOutcome =>
  answer.status < 400 ? outcomeOf("done", null) : refusal(answer);

const started = (answer: Answer): HostOutcome | { jobId: string } =>
  answer.status < 400 && typeof answer.body?.id === "string"
    ? { jobId: answer.body.id }
    : refusal(answer);

/** A host that does not allow it says so with 403, and hides what a limited token may not see. */
function refusal({ status, body }: Answer): HostOutcome {
  const reason = typeof body?.error === "string" ? body.error : `The host answered ${status}`;
  return outcomeOf(status === 403 || status === 404 ? "refused" : "failed", reason);
}
