import { deepEqual } from "node:assert/strict";
import type { EngineEvent } from "../../../../engine/events.ts";
import { createDownReader, type Down } from "../../../../services/ce/containers/events.ts";

const ID = "c1";

function event(Action: string, attributes: Record<string, string> = {}): EngineEvent {
  return {
    Type: "container",
    Action,
    Actor: { ID, Attributes: { name: "web", ...attributes } },
    time: 0,
    timeNano: 0,
  };
}

const die = (exitCode: number) => event("die", { exitCode: String(exitCode) });
const kill = (signal: number) => event("kill", { signal: String(signal) });
const stop = event("stop");

function open({ expected = false, stopSignal }: { expected?: boolean; stopSignal?: string } = {}) {
  const downs: (Down & { isExpected: boolean })[] = [];
  const reader = createDownReader({
    report: (down, isExpected) => downs.push({ ...down, isExpected }),
    takeExpected: () => expected,
    stopSignalOf: () => stopSignal,
  });
  const read = (...events: EngineEvent[]) => events.forEach((each) => reader.read(each));
  const reasons = () => downs.splice(0).map(({ reason }) => reason);
  return { ...reader, downs, read, reasons };
}

// The order of the events of Docker 20.10.
for (
  const [what, events, reason, exitCode] of [
    ["a program that ends", [die(0)], "exited", 0],
    ["a program that fails", [die(3)], "exited", 3],
    ["docker stop", [kill(15), die(143), event("stop")], "stopped", 143],
    [
      "docker stop of a program that ignores it",
      [kill(15), kill(9), die(137), event("stop")],
      "stopped",
      137,
    ],
    [
      "docker restart",
      [kill(15), die(143), event("stop"), event("start"), event("restart")],
      "stopped",
      143,
    ],
    ["docker rm -f", [kill(9), die(137), event("destroy")], "killed", 137],
    ["memory exhaustion", [event("oom"), die(137)], "oom", 137],
    ["a SIGKILL from the host", [die(137)], "killed", 137],
    [
      "Podman's stop, told before the end",
      [event("stop"), event("die", { containerExitCode: "143" })],
      "stopped",
      143,
    ],
  ] as const
) {
  Deno.test(`createDownReader() reads ${what} as ${reason}`, () => {
    const { downs, read } = open();
    read(...events);
    deepEqual(downs, [{ id: ID, container: "web", reason, exitCode, isExpected: false }]);
  });
}

Deno.test("a stop is recognized however long its event takes", () => {
  const { read, reasons, settle } = open();
  read(kill(15), die(143));
  settle();
  deepEqual(reasons(), []);
  read(stop);
  settle();
  settle();
  deepEqual(reasons(), ["stopped"]);
});

for (
  const [what, events, reason] of [
    ["a signal that ends a program", [kill(15), die(143)], "killed"],
    ["a signal after which a program ends by itself", [kill(1), die(1)], "exited"],
  ] as const
) {
  Deno.test(`${what}, without a stop, is reported as ${reason} after a round of the engine`, () => {
    const { read, reasons, settle } = open();
    settle();
    read(...events);
    settle();
    deepEqual(reasons(), []);
    settle();
    deepEqual(reasons(), [reason]);
    settle();
    deepEqual(reasons(), []);
  });
}

Deno.test("a SIGKILL is reported at once, unless it is the stop signal", () => {
  const killed = open();
  killed.read(kill(9), die(137));
  deepEqual(killed.reasons(), ["killed"]);
  for (const stopSignal of ["SIGKILL", "KILL", "9"]) {
    const { read, reasons } = open({ stopSignal });
    read(kill(9), die(137));
    deepEqual(reasons(), []);
    read(stop);
    deepEqual(reasons(), ["stopped"]);
  }
});

Deno.test("an end that an action causes is reported at once", () => {
  const { downs, read } = open({ expected: true });
  read(kill(15), die(143));
  deepEqual(downs.map(({ isExpected }) => isExpected), [true]);
});

Deno.test("an end that waits for a stop when the stream ends is a stop", () => {
  const { close, read, reasons } = open();
  read(kill(15), die(143));
  close();
  deepEqual(reasons(), ["stopped"]);
});

Deno.test("each exit of a container that restarts is reported", () => {
  const { downs, read } = open();
  read(die(1), event("start"), die(2), event("start"), kill(15), die(3), event("start"));
  deepEqual(downs.map(({ exitCode }) => exitCode), [1, 2, 3]);
});
