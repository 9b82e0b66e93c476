/** Observes new containers until the verdict about each of them is known. @module */

import { raiseHealthTime, selectHealthTime } from "../../../db/updates/health_times.ts";
import type { RestartPolicy } from "../../../engine/containers.ts";
import type { Deps } from "../../deps.ts";
import { sleep } from "../../waiting.ts";
import type { Identity } from "../../containers/reservations.ts";
import { ContainerError } from "./container_error.ts";
import { createLogSearch } from "./log_pattern.ts";
import { inspectIfThere, type Pair } from "./members.ts";
import { answersAt, type PublishedPort } from "./ports.ts";
import {
  type Expectation,
  expectationOf,
  type ExpectationOptions,
  judge,
  type Observation,
  type Progress,
  stateOf,
  type Verdict,
} from "./verdict.ts";

type VerifyDeps = Pick<Deps, "db" | "engine" | "now">;

/** Interval between observations of the containers, in milliseconds. */
const POLL_MS = 500;

interface VerifyOptions extends Omit<ExpectationOptions, "longestToHealthyMs"> {
  /** Running containers that are not replaced, but must stay healthy. */
  watched: readonly Identity[];
  /** A regular expression that no line of the target's log may match. */
  logPattern?: string | undefined;
  /** Further unmet expectations of the target, e.g. `fails the check of monitor shop`. */
  missing?: (() => string[]) | undefined;
  signal: AbortSignal;
  /** Called in each round with what is still waited for. */
  onProgress(message: string): void;
}

/** Facts about a new container. */
export type Verified = Pick<Pair, "name" | "newId" | "ports" | "ran"> & {
  /** Restart policy by which an exit is judged; default: that of the container. */
  policy?: RestartPolicy;
};

/** One container under observation. */
interface Subject {
  pair: Verified;
  expectation: Expectation;
  progress: Progress | undefined;
  /** Ports of the old container that do not answer yet. */
  silent: PublishedPort[];
}

/**
 * Waits for the verdict. The first failure decides; success is that of all containers at the same
 * time.
 *
 * @param pairs The target first. Those whose old container did not run are left out.
 * @returns Why the update succeeded, e.g. `web is healthy`.
 * @throws {ContainerError} With the reason of a failure.
 * @throws The signal's reason.
 */
export async function verify(
  deps: VerifyDeps,
  pairs: readonly Verified[],
  options: VerifyOptions,
): Promise<string> {
  const { signal, watched, onProgress } = options;
  const subjects: Subject[] = [];
  for (const pair of pairs) if (pair.ran) subjects.push(await subjectOf(deps, pair, options));
  const [target] = pairs;
  const findLine = options.logPattern === undefined || !target
    ? () => Promise.resolve(undefined)
    : await createLogSearch(deps.engine, target.newId, { text: options.logPattern, signal });

  for (;;) {
    signal.throwIfAborted();
    const broken = await findBroken(deps, watched);
    const verdicts: { name: string; verdict: Verdict }[] = [];
    for (const subject of subjects) {
      const isTarget = subject.pair === target;
      const line = isTarget ? await findLine() : undefined;
      const verdict = await observe(deps, subject, {
        missing: isTarget ? options.missing?.() ?? [] : [],
        broken: line === undefined ? broken : [line, ...broken],
      });
      verdicts.push({ name: subject.pair.name, verdict });
    }
    for (const { name, verdict } of verdicts) {
      if (verdict.outcome === "failure") {
        throw new ContainerError(name, verdict.reason);
      }
    }
    const waiting = verdicts.find(({ verdict }) => verdict.outcome === "waiting");
    if (!waiting) {
      // A task may have written lines between the search and its end.
      const line = target?.ran ? await findLine() : undefined;
      if (line !== undefined) throw new ContainerError(target!.name, line);
      return verdicts.map(({ name, verdict }) => `${name} ${verdict.reason}`).join("; ");
    }
    onProgress(`${waiting.name} ${waiting.verdict.reason}`);
    await sleep(POLL_MS, signal);
  }
}

async function subjectOf(
  { db, engine }: VerifyDeps,
  pair: Verified,
  options: VerifyOptions,
): Promise<Subject> {
  const container = await inspectIfThere(engine, pair.newId);
  if (!container) throw new ContainerError(pair.name, "was removed");
  const longestToHealthyMs = selectHealthTime(db, pair.name);
  const { Config, HostConfig } = container;
  const judged = { ...HostConfig, ...(pair.policy && { RestartPolicy: pair.policy }) };
  const expectation = expectationOf({ Config, HostConfig: judged }, {
    ...options,
    longestToHealthyMs,
  });
  const silent = expectation.hasHealthCheck ? [] : pair.ports;
  return { pair, expectation, progress: undefined, silent };
}

async function observe(
  { db, engine, now }: VerifyDeps,
  subject: Subject,
  { missing, broken }: Pick<Observation, "missing" | "broken">,
): Promise<Verdict> {
  const { pair, expectation } = subject;
  const container = await inspectIfThere(engine, pair.newId);
  if (container?.State.Running) subject.silent = await stillSilent(subject.silent);
  const { verdict, progress } = judge(expectation, subject.progress, {
    at: now().getTime(),
    container: container && stateOf(container),
    missing: [...subject.silent.map(({ port }) => `does not answer on port ${port}`), ...missing],
    broken,
  });
  subject.progress = progress;
  if (verdict.outcome === "success" && progress?.healthyAt) {
    raiseHealthTime(db, pair.name, progress.healthyAt - progress.beganAt);
  }
  return verdict;
}

async function stillSilent(ports: readonly PublishedPort[]): Promise<PublishedPort[]> {
  const answers = await Promise.all(ports.map(answersAt));
  return ports.filter((_, index) => !answers[index]);
}

/** Describes the containers that were well before and are no longer. */
async function findBroken({ engine }: VerifyDeps, watched: readonly Identity[]): Promise<string[]> {
  const broken: string[] = [];
  for (const { id, name } of watched) {
    const container = await inspectIfThere(engine, id);
    if (container && !container.State.Running) broken.push(`stopped ${name}, which depends on it`);
    else if (container?.State.Health?.Status === "unhealthy") {
      broken.push(`made ${name} unhealthy, which depends on it`);
    }
  }
  return broken;
}
