import { deepEqual, equal } from "node:assert/strict";
import {
  type Life,
  type LifeEvent,
  type LifeReport,
  newLife,
  nextLife,
  WAIT_MS,
} from "../../../services/containers/life.ts";
import type { Container } from "../../../services/containers/inventory.ts";
import { containerOf } from "../../helpers/fake_containers.ts";

const kill = (signal: number): LifeEvent => ({ kind: "kill", signal: String(signal) });
const unnamedKill: LifeEvent = { kind: "kill", signal: "" };
const die = (
  exitCode: number,
  { isExpected = false, stopSignal }: { isExpected?: boolean; stopSignal?: string } = {},
): LifeEvent => ({ kind: "die", exitCode, stopSignal, isExpected });
const stop: LifeEvent = { kind: "stop" };
const start: LifeEvent = { kind: "start" };
const destroy: LifeEvent = { kind: "destroy" };
const oom: LifeEvent = { kind: "oom" };
const tick: LifeEvent = { kind: "tick" };
const lost: LifeEvent = { kind: "lost" };
const unhealthy: LifeEvent = { kind: "unhealthy" };
const healthy: LifeEvent = { kind: "healthy" };

/** A listing that began `age` ms before it is read. */
const listed = (
  fields: Partial<Container> | undefined,
  { age = 0, isExpected = false }: { age?: number; isExpected?: boolean } = {},
) => ({ fields, age, isExpected });
const ran = listed({});
const exited = (exitCode: number, options?: Parameters<typeof listed>[1]) =>
  listed({ state: "exited", exitCode }, options);
const gone = listed(undefined);

/** An event, a listing, or a number of milliseconds that pass. */
type Step = LifeEvent | ReturnType<typeof listed> | number;

/** Texts of what is reported, e.g. `exited 3`. */
function play(...steps: readonly Step[]): { reports: string[]; life: Life | undefined } {
  let now = 1_000;
  let life: Life | undefined = newLife("web");
  const reports: LifeReport[] = [];
  for (const step of steps) {
    if (typeof step === "number") {
      now += step;
      continue;
    }
    const event: LifeEvent = "kind" in step ? step : {
      kind: "listed",
      container: step.fields && containerOf({ name: "web", ...step.fields }),
      since: now - step.age,
      isExpected: step.isExpected,
    };
    now++;
    const next = nextLife("c1", life ?? newLife("web"), event, now);
    life = next.life;
    reports.push(...next.reports);
  }
  return { life, reports: reports.map(textOf) };
}

function textOf(report: LifeReport): string {
  if (report.kind === "healthy") return "healthy";
  const { down: { id, container, reason, exitCode }, isExpected } = report;
  deepEqual([id, container], ["c1", "web"]);
  return `${isExpected ? "own " : ""}${reason}${exitCode === null ? "" : ` ${exitCode}`}`;
}

const late: Step[] = [WAIT_MS, tick];

const TABLE: { what: string; steps: Step[]; reports: string[] }[] = [
  // The order of the events of Docker 20.10.
  { what: "a program that ends", steps: [die(0)], reports: ["exited 0"] },
  { what: "a program that fails", steps: [die(3)], reports: ["exited 3"] },
  { what: "docker stop", steps: [kill(15), die(143), stop], reports: ["stopped 143"] },
  {
    what: "docker stop of a program that ignores it",
    steps: [kill(15), kill(9), die(137), stop],
    reports: ["stopped 137"],
  },
  {
    what: "docker restart",
    steps: [kill(15), die(143), stop, start],
    reports: ["stopped 143"],
  },
  { what: "docker rm -f", steps: [kill(9), die(137), destroy], reports: ["killed 137"] },
  { what: "memory exhaustion", steps: [oom, die(137)], reports: ["oom 137"] },
  { what: "a SIGKILL from the host", steps: [die(137)], reports: ["killed 137"] },
  { what: "Podman's stop, before the end", steps: [stop, die(143)], reports: ["stopped 143"] },
  {
    what: "three exits of a container that restarts",
    steps: [die(1), start, die(2), start, kill(15), die(3), start],
    reports: ["exited 1", "exited 2", "exited 3"],
  },
  {
    what: "two ends of which the start between was not read",
    steps: [kill(15), die(143), die(1), ...late],
    reports: ["killed 143", "exited 1"],
  },

  // A stop is waited for, not longer than the limit.
  {
    what: "a signal that may be a stop, before its time is over",
    steps: [kill(15), die(143), WAIT_MS - 2, tick],
    reports: [],
  },
  {
    what: "a stop whose event comes late",
    steps: [kill(15), die(143), WAIT_MS - 2, tick, stop, ...late],
    reports: ["stopped 143"],
  },
  {
    what: "a signal that ends a program, without a stop",
    steps: [kill(15), die(143), ...late, ...late],
    reports: ["killed 143"],
  },
  {
    what: "a signal after which a program ends by itself",
    steps: [kill(1), die(1), ...late],
    reports: ["exited 1"],
  },
  {
    what: "a crash long after a signal that reloaded the program",
    steps: [kill(1), 3_600_000, die(139), ...late],
    reports: ["exited 139"],
  },
  {
    what: "a signal whose number is unknown",
    steps: [unnamedKill, die(143), ...late],
    reports: ["killed 143"],
  },
  { what: "a SIGKILL, at once", steps: [kill(9), die(137)], reports: ["killed 137"] },
  ...["SIGKILL", "KILL", "9"].flatMap((stopSignal) => [
    {
      what: `a stop by ${stopSignal}`,
      steps: [kill(9), die(137, { stopSignal }), stop],
      reports: ["stopped 137"],
    },
    {
      what: `${stopSignal} as the stop signal, before its time is over`,
      steps: [kill(9), die(137, { stopSignal })],
      reports: [],
    },
  ]),
  {
    what: "an end that waits when the engine is lost",
    steps: [kill(15), die(143), lost],
    reports: ["stopped 143"],
  },
  {
    what: "an end that this service causes, at once",
    steps: [kill(15), die(143, { isExpected: true }), stop],
    reports: ["own killed 143"],
  },

  // Listings.
  { what: "a container that was never seen running", steps: [exited(1), ...late], reports: [] },
  { what: "an end without an event", steps: [ran, exited(3), ...late], reports: ["exited 3"] },
  {
    what: "an end without an event, again listed",
    steps: [ran, exited(3), ...late, exited(3), ...late],
    reports: ["exited 3"],
  },
  { what: "a kill without an event", steps: [ran, exited(137), ...late], reports: ["killed 137"] },
  { what: "a removal without an event", steps: [ran, gone, ...late], reports: ["killed"] },
  {
    what: "memory exhaustion without an event",
    steps: [ran, listed({ state: "exited", exitCode: 137, details: oomDetails() }), ...late],
    reports: ["oom 137"],
  },
  {
    what: "a paused container that ended",
    steps: [listed({ state: "paused" }), exited(1), ...late],
    reports: ["exited 1"],
  },
  {
    what: "an end without an event that this service causes",
    steps: [ran, exited(137, { isExpected: true }), die(137)],
    reports: ["own killed 137"],
  },
  {
    what: "a listing that shows an end before its event",
    steps: [ran, exited(143), kill(15), die(143), stop, ...late],
    reports: ["stopped 143"],
  },
  {
    what: "a listing that shows an end whose event comes after the limit",
    steps: [ran, exited(143), ...late, kill(15), die(143), stop, ...late],
    reports: ["exited 143"],
  },
  {
    what: "the next run after such an end",
    steps: [ran, exited(143), ...late, die(143), start, die(2)],
    reports: ["exited 143", "exited 2"],
  },
  {
    what: "a listing after the event",
    steps: [ran, die(137), exited(137), ...late],
    reports: ["killed 137"],
  },
  {
    what: "a listing that began before the event",
    steps: [ran, 1_000, die(137), exited(137, { age: 500 }), ...late],
    reports: ["killed 137"],
  },
  {
    what: "a listing that read the container before its end",
    steps: [ran, 1_000, die(1), listed({}, { age: 500 }), exited(1), ...late],
    reports: ["exited 1"],
  },
  {
    what: "a listing that read the container before its start",
    steps: [exited(1), 1_000, start, exited(1, { age: 500 }), ...late],
    reports: [],
  },
  {
    what: "a stop that waits while a listing is read",
    steps: [ran, kill(15), die(143), exited(143), stop, ...late],
    reports: ["stopped 143"],
  },
  {
    what: "an end that only a listing showed when the engine is lost",
    steps: [ran, exited(1), lost],
    reports: ["exited 1"],
  },

  // Health.
  { what: "a recovery", steps: [unhealthy, healthy, healthy], reports: ["healthy"] },
  { what: "the first success after a start", steps: [start, healthy], reports: [] },
  {
    what: "a recovery that the listing and its event show",
    steps: [listed({ health: "unhealthy" }), listed({ health: "healthy" }), healthy],
    reports: ["healthy"],
  },
  {
    what: "a recovery whose event comes while the listing is read",
    steps: [
      listed({ health: "unhealthy" }),
      1_000,
      healthy,
      listed({ health: "healthy" }, { age: 500 }),
    ],
    reports: ["healthy"],
  },
  {
    what: "a failure that a listing began before",
    steps: [
      listed({ health: "healthy" }),
      1_000,
      unhealthy,
      listed({ health: "healthy" }, { age: 500 }),
    ],
    reports: [],
  },
  { what: "a start of an unhealthy container", steps: [unhealthy, start, healthy], reports: [] },
];

function oomDetails() {
  return { ...containerOf({ name: "web" }).details, oomKilled: true };
}

for (const { what, steps, reports } of TABLE) {
  Deno.test(`nextLife(): ${what}: ${reports.join(", ") || "no report"}`, () => {
    deepEqual(play(...steps).reports, reports);
  });
}

Deno.test("nextLife() keeps a limited number of signals", () => {
  const { life } = play(...Array.from({ length: 1_000 }, (_, signal) => kill(signal)));
  equal(life?.signals.size, 64);
});

Deno.test("nextLife() forgets a container that was removed", () => {
  equal(play(start, die(1), destroy).life, undefined);
  equal(play(exited(1), gone).life, undefined);
});
