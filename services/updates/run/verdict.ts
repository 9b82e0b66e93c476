/**
 * Judges a new container from what is observed, with the engine's own semantics of health checks,
 * restart policies and exit codes. Without side effects: the caller observes and passes the time.
 *
 * @module
 */

import type { ContainerInspect, HealthConfig, RestartPolicy } from "../../../engine/containers.ts";

/** Criteria for a container. */
export interface Expectation {
  /** Its restart policy does not restart it after success, so that an exit with 0 is one. */
  isTask: boolean;
  hasHealthCheck: boolean;
  /** Time for which it must be healthy, or run without a restart, in milliseconds. */
  holdMs: number;
  /** When it must have become healthy, or must answer, in milliseconds after the beginning. */
  deadlineMs: number;
}

/** A container at one moment. */
export interface Observation {
  /** Unix milliseconds. */
  at: number;
  /** `undefined` if it no longer exists. */
  container: ContainerState | undefined;
  /** Further expectations that are not met yet, e.g. `port 8080 does not answer`. */
  missing: readonly string[];
  /** Forbidden events that have happened, e.g. a line in the log. */
  broken: readonly string[];
}

interface ContainerState {
  status: string;
  isRestarting: boolean;
  startedAt: string;
  restartCount: number;
  exitCode: number;
  isOom: boolean;
  /** `null` without a health check. */
  health: string | null;
  /** Failed probes since the last successful one. */
  failingStreak: number;
}

/** Results of earlier observations. */
export interface Progress {
  beganAt: number;
  startedAt: string;
  restartCount: number;
  /** Since when everything is as expected; `null` while it is not. */
  goodSince: number | null;
  /** When it was first healthy; `null` before. */
  healthyAt: number | null;
}

export type Verdict =
  | { outcome: "waiting"; reason: string }
  | { outcome: "success"; reason: string }
  | { outcome: "failure"; reason: string };

interface Judgement {
  verdict: Verdict;
  progress: Progress | undefined;
}

/** The engine's defaults of a health check, in milliseconds. */
const HEALTH_DEFAULTS = { interval: 30_000, timeout: 30_000, retries: 3 };

const NANOSECONDS_PER_MS = 1e6;

/** Time that a container without a health check may need beyond its hold time, in milliseconds. */
const ANSWER_MS = 60_000;

export interface ExpectationOptions {
  /** Seconds that it must be up; with a health check the default is one interval. */
  stableSeconds?: number | undefined;
  /** Default of `stableSeconds` without a health check. */
  defaultStableSeconds: number;
  /** Replaces the computed deadline. */
  verifyTimeoutSeconds?: number | undefined;
  /** The longest time to healthy that was ever seen of this container, in milliseconds. */
  longestToHealthyMs?: number | undefined;
}

/**
 * Criteria for a container. The deadline of a health check is the time after which the engine
 * itself gives up, start period + (interval + timeout) × (retries + 1), and at least twice the
 * longest time seen so far.
 */
export function expectationOf(
  { Config, HostConfig }: Pick<ContainerInspect, "Config" | "HostConfig">,
  { stableSeconds, defaultStableSeconds, verifyTimeoutSeconds, longestToHealthyMs = 0 }:
    ExpectationOptions,
): Expectation {
  const health = healthTimes(Config.Healthcheck);
  const stableMs = stableSeconds === undefined ? undefined : stableSeconds * 1000;
  const holdMs = health
    ? Math.max(health.interval, stableMs ?? 0)
    : stableMs ?? defaultStableSeconds * 1000;
  const computed = health
    ? Math.max(
      health.startPeriod + (health.interval + health.timeout) * (health.retries + 1),
      2 * longestToHealthyMs,
    )
    : holdMs + ANSWER_MS;
  return {
    isTask: isTask(HostConfig.RestartPolicy),
    hasHealthCheck: health !== undefined,
    holdMs,
    deadlineMs: verifyTimeoutSeconds === undefined ? computed : verifyTimeoutSeconds * 1000,
  };
}

/** Whether a container may complete: the engine does not restart it after an exit with 0. */
export const isTask = (policy: RestartPolicy | undefined): boolean =>
  ["", "no", "on-failure"].includes(policy?.Name ?? "");

/** In milliseconds; `undefined` without a health check. */
function healthTimes(check: HealthConfig | null | undefined) {
  const [kind] = check?.Test ?? [];
  if (!check || kind === undefined || kind === "NONE") return undefined;
  const ms = (nanoseconds: number | undefined, fallback: number) =>
    nanoseconds ? nanoseconds / NANOSECONDS_PER_MS : fallback;
  return {
    interval: ms(check.Interval, HEALTH_DEFAULTS.interval),
    timeout: ms(check.Timeout, HEALTH_DEFAULTS.timeout),
    startPeriod: ms(check.StartPeriod, 0),
    retries: check.Retries || HEALTH_DEFAULTS.retries,
  };
}

/** The part of the engine's description that is judged. */
export function stateOf({ State, RestartCount }: ContainerInspect): ContainerState {
  const health = State.Health?.Status;
  return {
    status: State.Status,
    isRestarting: State.Restarting,
    startedAt: State.StartedAt,
    restartCount: RestartCount ?? 0,
    exitCode: State.ExitCode,
    isOom: State.OOMKilled ?? false,
    health: health && health !== "none" ? health : null,
    failingStreak: State.Health?.FailingStreak ?? 0,
  };
}

/** @param progress Of the observation before; `undefined` for the first one. */
export function judge(
  expectation: Expectation,
  progress: Progress | undefined,
  observation: Observation,
): Judgement {
  const { at, container, broken } = observation;
  const now = container && follow(expectation, progress, { ...observation, container });
  const fail = (reason: string): Judgement => ({
    verdict: { outcome: "failure", reason },
    progress: now,
  });
  if (!container || !now) return fail("was removed");
  const { status, exitCode } = container;
  if (container.isOom) return fail("ran out of memory");
  if (broken.length > 0) return fail(broken[0]!);
  if (container.isRestarting || container.restartCount > now.restartCount) {
    // The engine forgets the exit code when it starts the container again.
    const end = exitCode === 0 ? "exited" : `exited with code ${exitCode}`;
    return fail(`${end} and was restarted by its restart policy`);
  }
  if (container.startedAt !== now.startedAt) return fail("was restarted");
  if (status === "exited" || status === "dead" || status === "stopped") {
    return expectation.isTask && exitCode === 0
      ? { verdict: { outcome: "success", reason: "completed with exit code 0" }, progress: now }
      : fail(`exited with code ${exitCode}`);
  }
  if (container.health === "unhealthy") return fail("became unhealthy");

  const { hasHealthCheck, holdMs, deadlineMs } = expectation;
  const missing = missingOf(expectation, { ...observation, container });
  const since = hasHealthCheck ? now.goodSince : now.beganAt;
  if (missing === undefined && since !== null && at - since >= holdMs) {
    const reason = hasHealthCheck ? "is healthy" : `has been up for ${seconds(at - since)}`;
    return { verdict: { outcome: "success", reason }, progress: now };
  }
  // A container that is healthy but failed its last probes is decided by the next ones.
  const isDecided = container.health === "healthy" && observation.missing.length === 0;
  if (missing !== undefined && !isDecided && at - now.beganAt >= deadlineMs) {
    return fail(`${missing} after ${seconds(deadlineMs)}`);
  }
  return {
    verdict: { outcome: "waiting", reason: missing ?? holding(expectation, at - (since ?? at)) },
    progress: now,
  };
}

function follow(
  expectation: Expectation,
  before: Progress | undefined,
  observation: Observation & { container: ContainerState },
): Progress {
  const { at, container: { startedAt, restartCount, health } } = observation;
  const began = before ??
    { beganAt: at, startedAt, restartCount, goodSince: null, healthyAt: null };
  const isGood = missingOf(expectation, observation) === undefined;
  return {
    ...began,
    goodSince: isGood ? began.goodSince ?? at : null,
    healthyAt: began.healthyAt ?? (health === "healthy" ? at : null),
  };
}

/** Expectations that are not met yet; `undefined` if all are. */
function missingOf(
  { hasHealthCheck }: Expectation,
  { container: { status, health, failingStreak }, missing }: Observation & {
    container: ContainerState;
  },
): string | undefined {
  if (status !== "running") return `is ${status}`;
  if (hasHealthCheck && health !== "healthy") return "is not healthy";
  if (hasHealthCheck && failingStreak > 0) return "failed its last health check";
  return missing[0];
}

/** E.g. `has been healthy for 10 of 30 s`. */
const holding = ({ hasHealthCheck, holdMs }: Expectation, ms: number): string =>
  `has been ${hasHealthCheck ? "healthy" : "up"} for ${Math.floor(ms / 1000)} of ${
    seconds(holdMs)
  }`;

const seconds = (ms: number) => `${Math.round(ms / 1000)} s`;
