/** Messages and lists of earlier and later versions, as they were or will be sent. @module */

import { deepEqual, equal, throws } from "node:assert/strict";
import { applyFrame, emptyCopy } from "../../../services/fleet/copies/copy.ts";
import { type Control, ControlError, decodeControl } from "../../../services/fleet/link/control.ts";

const AT = new Date("2026-01-01T14:02:00Z");
const KEY = "A".repeat(43);
const CHALLENGE = { counter: 7, proof: "p" };

const decode = (message: object) =>
  decodeControl(new TextEncoder().encode(JSON.stringify(message)));

for (
  const { what, message, read } of [
    {
      what: "the welcome of a hub that takes no events and has no waves",
      message: { type: "welcome", version: "0.1.0-3", isPending: false, challenge: CHALLENGE },
      read: { takesEvents: false, hasWaves: false, isPending: false },
    },
    {
      what: "the welcome of a hub that takes events and has no waves",
      message: {
        ...{ type: "welcome", version: "0.1.0-2", isPending: false, challenge: CHALLENGE },
        takesEvents: true,
      },
      read: { takesEvents: true, hasWaves: false },
    },
    {
      what: "the refusal of a hub that does not say whether the key is unknown",
      message: { type: "refused", reason: "no", isFinal: false },
      read: { reason: "no", isFinal: false },
    },
    {
      what: "the hello of a later member",
      message: {
        ...{ type: "hello", version: "0.2.0+next", challenge: null },
        capabilities: ["rehearsals"],
      },
      read: { version: "0.2.0+next", challenge: null },
    },
    {
      what: "the welcome of a later hub",
      message: {
        ...{ type: "welcome", version: "0.2.0", isPending: false, challenge: CHALLENGE },
        ...{ takesEvents: true, hasWaves: true, hasRehearsals: { since: 1 } },
      },
      read: { takesEvents: true, hasWaves: true },
    },
    {
      what: "new keys with a field of a later version",
      message: { type: "rekey", linkKey: KEY, noteKey: KEY, boxKey: KEY },
      read: { linkKey: KEY, noteKey: KEY },
    },
  ]
) {
  Deno.test(`a link reads ${what}`, () => {
    const { type, ...fields } = decode(message)!;
    equal(type, message.type);
    const given = Object.keys(read).map((name) => [name, fields[name as keyof typeof fields]]);
    deepEqual(Object.fromEntries(given), read);
  });
}

Deno.test("a link ignores messages of a later version, but not wrong fields of a known one", () => {
  equal(decode({ type: "rehearse", image: "nginx" }), undefined);
  throws(() => decode({ type: "hello", version: 2, challenge: null }), ControlError);
  const types: Control["type"][] = ["hello", "welcome", "refused", "kept", "beat", "echo"];
  for (const type of types) throws(() => decode({ type }), ControlError);
});

const container = {
  ...{ id: "c1", name: "web", image: "nginx:1", state: "running", health: null, stack: "shop" },
  ...{ createdAt: null, startedAt: null, crashLooping: false, self: false, replaced: false },
};
const stack = {
  ...{ id: "compose/shop", name: "shop", kind: "compose", status: "healthy", services: 1 },
  ...{ containerCount: 1, running: 1, unhealthy: 0 },
};
const figures = { engine: "20.10", cpuPercent: 1, cpuCount: 2, memoryPercent: 3, diskPercent: 4 };
const whole = (...set: object[]) => ({ isWhole: true, set, removed: [] });

/** Frames of each version from which a hub of this version has the same copy. */
const FEEDS: Record<string, [event: string, data: unknown][]> = {
  "a member of the first version with lists": [
    ["host", figures],
    ["containers", whole(container)],
    ["stacks", whole(stack)],
    ["current", ["host", "containers", "stacks", "alerts", "updates"]],
  ],
  "a later member with more fields, lists and frames": [
    ["host", { ...figures, gpuPercent: 5 }],
    ["volumes", whole({ id: "v1" })],
    ["containers", whole({ ...container, state: "running", ports: [80] })],
    ["stacks", { ...whole({ ...stack, podman: null }), order: "name" }],
    ["current", ["host", "containers", "stacks", "alerts", "updates", "volumes"]],
  ],
  "a later member with a new kind of stacks": [
    ["host", figures],
    ["containers", whole(container)],
    ["stacks", whole({ ...stack, id: "quadlet/db", kind: "quadlet" }, stack)],
    ["current", ["host", "containers", "stacks", "alerts", "updates"]],
  ],
};

for (const [member, frames] of Object.entries(FEEDS)) {
  Deno.test(`a hub follows ${member}`, () => {
    const copy = emptyCopy();
    for (const [event, data] of frames) {
      applyFrame(copy, { event, data: JSON.stringify(data) }, AT);
    }
    deepEqual({ ...copy.host, ...figures }, copy.host);
    deepEqual([...copy.lists.containers.values()], [container]);
    deepEqual([...copy.lists.stacks.values()], [stack]);
    const asOf = AT.toISOString();
    const all = { host: asOf, containers: asOf, stacks: asOf, alerts: asOf, updates: asOf };
    deepEqual(copy.asOf, all);
  });
}
