import { deepEqual } from "node:assert/strict";
import type { EngineEvent } from "../../../../engine/events.ts";
import {
  createDownReader,
  type Down,
  STOP_WAIT_MS,
} from "../../../../services/ce/containers/events.ts";

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

// The order of the events of Docker 20.10.
for (
  const { what, events, reason, exitCode } of [
    { what: "a program that ends", events: [die(0)], reason: "exited", exitCode: 0 },
    { what: "a program that fails", events: [die(3)], reason: "exited", exitCode: 3 },
    {
      what: "docker stop",
      events: [kill(15), die(143), event("stop")],
      reason: "stopped",
      exitCode: 143,
    },
    {
      what: "docker stop of a program that ignores it",
      events: [kill(15), kill(9), die(137), event("stop")],
      reason: "stopped",
      exitCode: 137,
    },
    {
      what: "docker restart",
      events: [kill(15), die(143), event("stop"), event("start"), event("restart")],
      reason: "stopped",
      exitCode: 143,
    },
    {
      what: "docker rm -f",
      events: [kill(9), die(137), event("destroy")],
      reason: "killed",
      exitCode: 137,
    },
    { what: "memory exhaustion", events: [event("oom"), die(137)], reason: "oom", exitCode: 137 },
    { what: "a SIGKILL from the host", events: [die(137)], reason: "killed", exitCode: 137 },
    {
      what: "Podman's stop, told before the end",
      events: [event("stop"), event("die", { containerExitCode: "143" })],
      reason: "stopped",
      exitCode: 143,
    },
  ]
) {
  Deno.test(`createDownReader() reads ${what} as ${reason}`, () => {
    const downs: Down[] = [];
    const reader = createDownReader((down) => downs.push(down));
    for (const each of events) reader.read(each);
    reader.close();
    deepEqual(downs, [{ id: ID, container: "web", reason, exitCode }]);
  });
}

Deno.test("createDownReader() reports a kill without a stop as killed", async () => {
  const told = Promise.withResolvers<Down>();
  const reader = createDownReader(told.resolve);
  const started = performance.now();
  reader.read(kill(9));
  reader.read(die(137));
  const down = await told.promise;
  deepEqual([down.reason, performance.now() - started >= STOP_WAIT_MS - 5], ["killed", true]);
});

Deno.test("createDownReader() reports each exit of a container that restarts", () => {
  const downs: Down[] = [];
  const reader = createDownReader((down) => downs.push(down));
  for (const each of [die(1), event("start"), die(2), event("start")]) reader.read(each);
  reader.close();
  deepEqual(downs.map(({ exitCode }) => exitCode), [1, 2]);
});
