import { deepEqual, equal } from "node:assert/strict";
import type { ContainerInspect, HealthConfig } from "../../../../engine/containers.ts";
import {
  type Expectation,
  expectationOf,
  type ExpectationOptions,
  judge,
  type Observation,
  type Progress,
} from "../../../../services/updates/run/verdict.ts";

const S = 1e9;

const container = (policy: string, check?: HealthConfig) => ({
  Config: { Healthcheck: check },
  HostConfig: { RestartPolicy: { Name: policy } },
} as Pick<ContainerInspect, "Config" | "HostConfig">);

const expect = (
  policy: string,
  check?: HealthConfig,
  options: Partial<ExpectationOptions> = {},
): Expectation => expectationOf(container(policy, check), { defaultStableSeconds: 60, ...options });

const CHECK = { Test: ["CMD", "true"], Interval: 10 * S, Timeout: 5 * S, StartPeriod: 20 * S };

const running = {
  status: "running",
  isRestarting: false,
  startedAt: "t0",
  restartCount: 0,
  exitCode: 0,
  isOom: false,
  health: null as string | null,
  failingStreak: 0,
};

type State = Partial<typeof running>;

/** Judges observations at seconds since the start. @returns The last verdict. */
function verdictOf(
  expectation: Expectation,
  ...observations: [second: number, state: State | undefined, more?: Partial<Observation>][]
): string {
  let progress: Progress | undefined;
  let text = "";
  for (const [second, state, more] of observations) {
    const judged = judge(expectation, progress, {
      at: second * 1000,
      container: state && { ...running, ...state },
      missing: [],
      broken: [],
      ...more,
    });
    progress = judged.progress;
    text = `${judged.verdict.outcome}: ${judged.verdict.reason}`;
    if (judged.verdict.outcome !== "waiting") break;
  }
  return text;
}

Deno.test("the deadline is the time after which the engine gives up", () => {
  // 20 + (10 + 5) × (3 + 1) seconds; three retries are the engine's default.
  deepEqual(expect("always", CHECK), {
    isTask: false,
    hasHealthCheck: true,
    holdMs: 10_000,
    deadlineMs: 80_000,
  });
  // The engine's defaults: 30 s, 30 s, 3.
  equal(expect("always", { Test: ["CMD-SHELL", "true"] }).deadlineMs, 240_000);
  equal(expect("always", { ...CHECK, Retries: 1 }).deadlineMs, 50_000);
});

Deno.test("the deadline is at least twice the longest time to healthy", () => {
  equal(expect("always", CHECK, { longestToHealthyMs: 70_000 }).deadlineMs, 140_000);
  equal(expect("always", CHECK, { verifyTimeoutSeconds: 5 }).deadlineMs, 5_000);
});

Deno.test("stableSeconds is how long a container runs, or is healthy", () => {
  equal(expect("always").holdMs, 60_000);
  equal(expect("always", undefined, { stableSeconds: 5 }).holdMs, 5_000);
  equal(expect("always", CHECK, { stableSeconds: 25 }).holdMs, 25_000);
  equal(expect("always", CHECK, { stableSeconds: 1 }).holdMs, 10_000);
  equal(expect("always", { Test: ["NONE"] }).hasHealthCheck, false);
});

const always = expect("always", CHECK);
const plain = expect("always");
const task = expect("on-failure");
const up: State = {};
const starting: State = { health: "starting" };
const healthy: State = { health: "healthy" };

for (
  const [what, verdict, wanted] of [
    [
      "healthy, and still so one interval later, is a success",
      verdictOf(always, [0, starting], [5, healthy], [14, healthy], [15, healthy]),
      "success: is healthy",
    ],
    [
      "healthy for less than an interval is not decided",
      verdictOf(always, [0, starting], [5, healthy], [14, healthy]),
      "waiting: has been healthy for 9 of 10 s",
    ],
    [
      "a failed probe begins the interval again",
      verdictOf(
        always,
        [0, healthy],
        [9, { ...healthy, failingStreak: 1 }],
        [12, healthy],
        [20, healthy],
      ),
      "waiting: has been healthy for 8 of 10 s",
    ],
    [
      "unhealthy is a failure at once",
      verdictOf(always, [0, starting], [5, healthy], [9, { health: "unhealthy" }]),
      "failure: became unhealthy",
    ],
    [
      "never healthy is a failure at the deadline",
      verdictOf(always, [0, starting], [79, starting], [80, starting]),
      "failure: is not healthy after 80 s",
    ],
    [
      "healthy with failing probes after the deadline waits for the next ones",
      verdictOf(always, [0, healthy], [90, { ...healthy, failingStreak: 2 }]),
      "waiting: failed its last health check",
    ],
    [
      "a slow start is a success if it was slow before",
      verdictOf(
        expect("always", CHECK, { longestToHealthyMs: 60_000 }),
        [0, starting],
        [110, healthy],
        [120, healthy],
      ),
      "success: is healthy",
    ],
    [
      "up without a restart is a success",
      verdictOf(plain, [0, up], [60, up]),
      "success: has been up for 60 s",
    ],
    [
      "a restart is a failure",
      verdictOf(plain, [0, up], [30, { restartCount: 1, startedAt: "t1" }]),
      "failure: exited and was restarted by its restart policy",
    ],
    [
      "a restart loop is a failure",
      verdictOf(plain, [0, { status: "restarting", isRestarting: true, exitCode: 3 }]),
      "failure: exited with code 3 and was restarted by its restart policy",
    ],
    [
      "another start time is a restart",
      verdictOf(plain, [0, up], [30, { startedAt: "t1" }]),
      "failure: was restarted",
    ],
    [
      "an exit is a failure of a service, also with code 0",
      verdictOf(plain, [0, { status: "exited" }]),
      "failure: exited with code 0",
    ],
    [
      "an exit with 0 is the success of a task",
      verdictOf(task, [0, up], [3, { status: "exited" }]),
      "success: completed with exit code 0",
    ],
    [
      "another exit code is the failure of a task",
      verdictOf(task, [0, { status: "exited", exitCode: 2 }]),
      "failure: exited with code 2",
    ],
    [
      "an exhausted memory limit is a failure",
      verdictOf(plain, [0, { status: "exited", exitCode: 137, isOom: true }]),
      "failure: ran out of memory",
    ],
    [
      "a removed container is a failure",
      verdictOf(plain, [0, up], [1, undefined]),
      "failure: was removed",
    ],
    [
      "a port that does not answer is a failure at the deadline",
      verdictOf(
        plain,
        [0, up, { missing: ["does not answer on port 80"] }],
        [60, up, { missing: ["does not answer on port 80"] }],
        [120, up, { missing: ["does not answer on port 80"] }],
      ),
      "failure: does not answer on port 80 after 120 s",
    ],
    [
      "a port that answers late is a success",
      verdictOf(plain, [0, up, { missing: ["x"] }], [70, up, { missing: ["x"] }], [71, up]),
      "success: has been up for 71 s",
    ],
    [
      "what must not happen is a failure at once",
      verdictOf(always, [0, healthy, { broken: ["made db unhealthy, which depends on it"] }]),
      "failure: made db unhealthy, which depends on it",
    ],
    [
      "a paused container is not decided before the deadline",
      verdictOf(plain, [0, up], [90, { status: "paused" }]),
      "waiting: is paused",
    ],
  ] as const
) {
  Deno.test(`judge(): ${what}`, () => equal(verdict, wanted));
}
