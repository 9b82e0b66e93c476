/** Starts the containers of a trial and judges them by the rules of updates. @module */

import {
  type ContainerInspect,
  containerInspect,
  containerStart,
} from "../../../engine/containers.ts";
import { EngineError } from "../../../engine/errors.ts";
import { withoutContainerValues } from "../../containers/secret_values.ts";
import type { Dependency } from "../../containers/order.ts";
import type { Deps } from "../../deps.ts";
import { sleep } from "../../waiting.ts";
import { ContainerError } from "../run/container_error.ts";
import { collectEvidence, type Evidence } from "../run/evidence.ts";
import { expectationOf, type ExpectationOptions } from "../run/verdict.ts";
import { verify } from "../run/verify.ts";
import type { TrialContainer } from "./parts.ts";

const POLL_MS = 250;

/** Longest wait for a task that must complete before others start, in milliseconds. */
const TASK_MS = 10 * 60_000;

interface RunOptions extends Omit<ExpectationOptions, "longestToHealthyMs"> {
  /** Names of the containers that the verdict counts, the target first. Default: all. */
  judged?: readonly string[] | undefined;
  /** A regular expression that no line of the target's log may match. */
  logPattern?: string | undefined;
  signal: AbortSignal;
  onProgress(message: string): void;
}

/**
 * Starts containers one after the other, each when those that it depends on are ready.
 *
 * @param containers In the order in which they start.
 * @returns Why they count as well, e.g. `shop-db-1 is healthy`.
 * @throws {ContainerError} With the reason of the first failure.
 */
export async function runTrial(
  deps: Pick<Deps, "db" | "engine" | "now">,
  containers: readonly TrialContainer[],
  { judged = containers.map(({ member }) => member.name), ...options }: RunOptions,
): Promise<string> {
  for (const container of containers) {
    for (const { service, condition } of container.member.dependencies) {
      const needed = containers.filter(({ member }) => member.service === service);
      for (const each of needed) await untilReady(deps, each, condition, options);
    }
    await start(deps, container);
  }
  const subjects = judged.flatMap((name) => {
    const found = containers.find(({ member }) => member.name === name);
    if (!found) return [];
    const policy = found.member.restartPolicy ?? {};
    return { name, newId: found.id, ran: true, ports: [], policy };
  });
  return await verify(deps, subjects, { ...options, watched: [] });
}

async function start(
  { engine }: Pick<Deps, "engine">,
  { id, member: { name } }: TrialContainer,
): Promise<void> {
  try {
    await containerStart(engine, id);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    const problem = `could not be started: ${error.message}`;
    const failure = new ContainerError(name, problem, { cause: error });
    throw await withoutContainerValues(engine, id, failure);
  }
}

/** @throws {ContainerError} For a container that failed, or that needs too long. */
async function untilReady(
  { engine }: Pick<Deps, "engine">,
  { id, member: { name } }: TrialContainer,
  condition: Dependency["condition"],
  { signal, onProgress, ...criteria }: RunOptions,
): Promise<void> {
  if (condition === "service_started") return;
  const isTask = condition === "service_completed_successfully";
  const wanted = isTask ? "completed" : "healthy";
  const beganAt = performance.now();
  for (;;) {
    signal.throwIfAborted();
    const found = await containerInspect(engine, id);
    const { State } = found;
    if (isTask ? hasCompleted(found) : isHealthy(found)) return;
    if (State.Status === "exited" || State.Status === "dead") {
      throw new ContainerError(name, `exited with code ${State.ExitCode}`);
    }
    const limitMs = isTask ? TASK_MS : expectationOf(found, criteria).deadlineMs;
    if (State.Health?.Status === "unhealthy" || performance.now() - beganAt > limitMs) {
      throw new ContainerError(name, `is not ${wanted}, which others wait for`);
    }
    onProgress(`Others wait until ${name} is ${wanted}`);
    await sleep(POLL_MS, signal);
  }
}

const hasCompleted = ({ State }: ContainerInspect) =>
  State.Status === "exited" && State.ExitCode === 0;

/** Also one without a health check, which could never become healthy. */
const isHealthy = ({ State, Config }: ContainerInspect) =>
  State.Running && (State.Health?.Status === "healthy" || !Config.Healthcheck?.Test?.length);

/** The ends of the logs of containers. */
export async function evidenceOf(
  { engine }: Pick<Deps, "engine">,
  containers: readonly TrialContainer[],
): Promise<Evidence[]> {
  const all: Evidence[] = [];
  for (const { id, member: { name } } of containers) {
    all.push(await collectEvidence(engine, { name, id }));
  }
  return all;
}
