import { deepEqual, equal } from "node:assert/strict";
import type { Subject } from "../../../services/events/decisions.ts";
import type { AppEvent } from "../../../services/events/events.ts";
import type { SubjectKind } from "../../../services/events/kinds/kind.ts";
import { phaseOf } from "../../../services/events/message.ts";
import { EMPTY_GROUP, type Group, type Grouped, next } from "../../../services/messages/group.ts";

const START = Date.parse("2026-01-01T12:00:00Z");
const at = (second: number) => new Date(START + second * 1000);

/** Kinds of the objects in these tests, by the beginning of the event. */
const SUBJECTS: readonly (readonly [string, SubjectKind])[] = [
  ["engine.", "engine"],
  ["monitor.", "monitor"],
  ["container.crash_looping", "loop"],
  ["container.", "down"],
  ["alert.", "measure"],
];

const eventOf = (kind: string, data: object = {}): AppEvent =>
  ({
    ...{ event: kind, eventId: kind, timestamp: at(0).toISOString(), server: "host" },
    ...{ serverId: "s", data: { container: "web", id: "web", reason: "exited", ...data } },
  }) as unknown as AppEvent;

function subjectOf(event: AppEvent): Subject {
  const [, kind] = SUBJECTS.find(([start]) => event.event.startsWith(start))!;
  const { container } = event.data as { container: string };
  return {
    key: kind === "engine" ? "engine" : `${kind === "loop" ? "down" : kind} ${container}`,
    kind,
    phase: phaseOf(event),
    containers: [container],
    isOfEngine: kind !== "engine" && kind !== "measure",
  };
}

const grouped = (event: AppEvent, change: Partial<Grouped> = {}): Grouped => ({
  ...{ event, subject: subjectOf(event), explainedBy: undefined, settlesAt: undefined },
  ...{ isMuted: false, isWanted: true, isOnCall: false, subscribes: () => true },
  ...change,
});

/** An event, the time of a message or an outage; then the stage, when it ends, and what is sent. */
type Row = [
  second: number,
  input: string | [kind: string, change: Partial<Grouped> & { container?: string }],
  stage: Group["stage"],
  due: number | null,
  sent?: string,
];

/** Takes a group through the rows, and returns what happened at each. */
function play(rows: readonly Row[]) {
  let group = EMPTY_GROUP;
  return rows.map(([second, input]) => {
    const step = next(group, inputOf(input), at(second), subjectOf);
    group = step.state;
    const due = group.dueAt === null ? null : (Date.parse(group.dueAt) - START) / 1000;
    const sent = step.effects.flatMap((effect) =>
      effect.type === "send" ? `${effect.bundle.phase} ${effect.bundle.event.event}` : []
    );
    return [second, group.stage, due, ...sent];
  });
}

function inputOf(input: Row[1]): Parameters<typeof next>[1] {
  if (input === "due" || input === "outage") return { type: input };
  const [kind, { container = "web", ...change }] = typeof input === "string" ? [input, {}] : input;
  return { type: "event", ...grouped(eventOf(kind, { container }), change) };
}

const explained = (by: string, settles?: number): Partial<Grouped> => ({
  explainedBy: eventOf(by),
  settlesAt: settles === undefined ? undefined : at(settles).toISOString(),
});

const onlyBeginnings = (kind: string) => kind.endsWith("down");

const TABLES: Record<string, Row[]> = {
  "a problem and its end are two messages of one thread": [
    [0, "container.down", "waiting", 3],
    [3, "due", "open", null, "begin container.down"],
    [60, "container.up", "waiting", 60],
    [60, "due", "quiet", null, "end container.up"],
  ],
  "what follows within 10 seconds waits for their end": [
    [0, "container.down", "waiting", 3],
    [3, "due", "open", null, "begin container.down"],
    [4, "container.up", "waiting", 13],
    [5, ["container.down", { container: "db" }], "waiting", 13],
    [13, "due", "open", null, "report container.down"],
  ],
  "an event that is not about containers is sent at once": [
    [0, "alert.fired", "waiting", 0],
    [0, "due", "open", null, "begin alert.fired"],
  ],
  "a problem that ended before its message is mentioned once in 5 minutes": [
    [0, "container.down", "waiting", 3],
    [1, "container.up", "waiting", 3],
    [3, "due", "quiet", null, "end container.up"],
    [100, "container.down", "waiting", 160],
    [101, "container.up", "waiting", 160],
    [160, "due", "quiet", null],
    [400, "container.down", "waiting", 403],
  ],
  "an end of which the receiver did not get the beginning changes nothing": [
    [0, ["container.up", { isWanted: false }], "quiet", null],
  ],
  "a receiver of the beginning also gets an end that it does not want": [
    [0, "container.down", "waiting", 3],
    [3, "due", "open", null, "begin container.down"],
    [60, ["container.up", { isWanted: false }], "waiting", 60],
  ],
  "a receiver of the beginnings only gets no end": [
    [0, "container.down", "waiting", 3],
    [3, "due", "open", null, "begin container.down"],
    [60, ["container.up", { isWanted: false, subscribes: onlyBeginnings }], "quiet", null],
  ],
  "a muted end drops the beginning that waits": [
    [0, "container.down", "waiting", 3],
    [1, ["container.up", { isMuted: true, isWanted: false }], "waiting", 3],
    [3, "due", "quiet", null],
  ],
  "a muted end closes the alert of an on-call service": [
    [0, "container.down", "waiting", 3],
    [3, "due", "open", null, "begin container.down"],
    [60, ["container.up", { isMuted: true, isWanted: false, isOnCall: true }], "waiting", 60],
    [60, "due", "quiet", null, "end container.up"],
  ],
  "the problem that explains an event is sent instead": [
    [0, ["container.down", explained("monitor.down")], "waiting", 3],
    [3, "due", "open", null, "begin monitor.down"],
    [9, ["container.down", { container: "db", ...explained("monitor.down") }], "open", null],
  ],
  "what lasts after its cause has ended is sent a minute later": [
    [0, "engine.down", "waiting", 0],
    [0, "due", "open", null, "begin engine.down"],
    [5, ["monitor.down", explained("engine.down")], "open", null],
    [30, "engine.up", "waiting", 30],
    [30, "due", "settling", 90, "end engine.up"],
    [90, "due", "open", null, "begin monitor.down"],
    [200, "monitor.up", "waiting", 200],
    [200, "due", "quiet", null, "end monitor.up"],
  ],
  "what ends within that minute is not sent": [
    [0, "engine.down", "waiting", 0],
    [0, "due", "open", null, "begin engine.down"],
    [5, ["monitor.down", explained("engine.down")], "open", null],
    [30, "engine.up", "waiting", 30],
    [30, "due", "settling", 90, "end engine.up"],
    [40, "monitor.up", "settling", 90],
    [90, "due", "quiet", null],
  ],
  "a problem that begins within that minute is sent": [
    [0, "engine.down", "waiting", 0],
    [0, "due", "open", null, "begin engine.down"],
    [5, ["monitor.down", explained("engine.down")], "open", null],
    [30, "engine.up", "waiting", 30],
    [30, "due", "settling", 90, "end engine.up"],
    [50, "alert.fired", "waiting", 50],
    [50, "due", "open", null, "report alert.fired"],
  ],
  "a problem that begins after its cause has ended has the rest of the minute": [
    [0, ["monitor.down", explained("engine.down", 45)], "settling", 45],
    [45, "due", "open", null, "begin monitor.down"],
  ],
  "an outage drops what waits, and what it explains is not sent": [
    [0, "container.down", "waiting", 3],
    [1, "outage", "quiet", null],
  ],
  "an outage leaves a problem open of which the receiver was told": [
    [0, "container.down", "waiting", 3],
    [3, "due", "open", null, "begin container.down"],
    [20, ["container.down", { container: "db" }], "waiting", 23],
    [21, "outage", "open", null],
  ],
  "an outage does not explain a load": [
    [0, "alert.fired", "waiting", 0],
    [0, "outage", "waiting", 0],
  ],
  "six changes in 10 minutes are flapping, until a summary has nothing to say": [
    ...[0, 60, 120].flatMap((second): Row[] => [
      [second, "alert.fired", "waiting", second],
      [second, "due", "open", null, "begin alert.fired"],
      ...(second < 120
        ? [
          [second + 30, "alert.resolved", "waiting", second + 30],
          [second + 30, "due", "quiet", null, "end alert.resolved"],
        ] as Row[]
        : []),
    ]),
    [150, "alert.resolved", "flapping", 150],
    [150, "outage", "flapping", 150],
    [150, "due", "flapping", 1950, "end alert.resolved"],
    [600, "alert.fired", "flapping", 1950],
    [1950, "due", "flapping", 3750, "begin alert.fired"],
    [3750, "due", "open", null],
  ],
  "a start after two exits waits, and a crash loop is sent within 3 seconds": [
    [0, "container.down", "waiting", 3],
    [0, "container.up", "waiting", 3],
    [1, "container.down", "waiting", 3],
    [2, "container.up", "waiting", 12],
    [4, "container.crash_looping", "waiting", 7],
    [7, "due", "open", null, "begin container.crash_looping"],
  ],
};

for (const [what, rows] of Object.entries(TABLES)) {
  Deno.test(`next(): ${what}`, () => {
    const expected = rows.map(([second, _input, ...result]) => [second, ...result]);
    deepEqual(play(rows), expected);
  });
}

Deno.test("next() leaves its input as it was", () => {
  const group = Object.freeze({ ...EMPTY_GROUP, open: Object.freeze({}) });
  const { state } = next(group, inputOf("container.down"), at(0), subjectOf);
  const copy = structuredClone(state);
  next(state, inputOf("container.up"), at(1), subjectOf);
  next(state, { type: "due" }, at(3), subjectOf);
  deepEqual(state, copy);
});

Deno.test("next() keeps 20 events, and counts the others", () => {
  let group = EMPTY_GROUP;
  for (let n = 0; n < 25; n++) {
    const input = inputOf(["monitor.down", { container: `c${n}` }]);
    group = next(group, input, at(0), subjectOf).state;
    // Flapping is for changes of one kind of state, not for the limit.
    group = { ...group, changes: [], stage: "waiting" };
  }
  equal(group.pending.length, 20);
  const [effect] = next(group, { type: "due" }, at(3), subjectOf).effects;
  equal(effect?.type === "send" && effect.bundle.also.at(-1), "and 5 more");
});

Deno.test("next() keeps 20 open problems of a host, which chooses their keys", () => {
  let group = EMPTY_GROUP;
  for (let n = 0; n < 25; n++) {
    const event = { ...eventOf("monitor.down", { container: `c${n}` }), host: "edge-7" };
    group = next(group, { type: "event", ...grouped(event) }, at(0), subjectOf).state;
    group = { ...group, changes: [], stage: "waiting" };
  }
  equal(Object.keys(group.open).length, 20);
});
