/**
 * Messages that a receiver gets about one cause: the first event is sent at once, what follows within
 * 10 seconds is one more message, what another problem explains is only mentioned, and an object that
 * changes all the time gets a summary every 30 minutes.
 *
 * @module
 */

import type { Decision, Subject } from "../events/decisions.ts";
import { describeEvent } from "../events/description.ts";
import type { AppEvent } from "../events/events.ts";
import { eventKind } from "../events/kinds/mod.ts";
import { phaseOf } from "../events/message.ts";
import { type Bundle, composeBundle, type Content, type SubjectOf, SUMMARY_MS } from "./bundle.ts";
import { HOLD_MS, SETTLE_MS } from "./causes.ts";

/**
 * - `quiet`: the receiver knows of no problem. An event leads to `waiting`.
 * - `waiting`: events wait for their message. It leads to `open`; to `quiet` if it ends all problems, or
 *   is not sent because they ended before; to `settling` if only the cause has ended.
 * - `open`: the receiver knows of a problem that lasts. An event leads to `waiting`.
 * - `settling`: the cause has ended. What still lasts a minute later is sent, which leads to `open`.
 *   Another problem leads to `waiting`.
 * - `flapping`: more than 5 changes in 10 minutes, from any state. Each summary leads to the next one,
 *   and a time without a change to `open` or `quiet`. A crash loop leads to `waiting`.
 *
 * An outage of the engine, which explains what is `waiting`, leads to `open` or `quiet`.
 */
type Stage = "quiet" | "waiting" | "open" | "settling" | "flapping";

/** State of a receiver's messages about a cause. Times are ISO 8601, UTC. */
export interface Group extends Content {
  stage: Stage;
  /** Time of the next message, which the states `quiet` and `open` lack. */
  dueAt: string | null;
  /** The last message. */
  sentAt: string | null;
  /** The last changes that count for flapping. */
  changes: readonly string[];
}

/** The group of a cause of which the receiver knows nothing. */
export const EMPTY_GROUP: Group = {
  stage: "quiet",
  thread: null,
  open: {},
  pending: [],
  held: [],
  more: 0,
  dueAt: null,
  sentAt: null,
  changes: [],
};

/** Inputs of a group: an event, the time of its next message, and an outage of the engine. */
export type Input = { type: "event" } & Grouped | { type: "due" } | { type: "outage" };

/** An event of the cause, what was decided about it, and its receiver. */
export interface Grouped extends Pick<Decision, "isMuted" | "explainedBy" | "settlesAt"> {
  event: AppEvent;
  subject: Subject;
  /** Whether the receiver wants this event. */
  isWanted: boolean;
  /** Whether it has an alert for each problem, which must be closed also during a silence. */
  isOnCall: boolean;
  /** Whether it gets events of a kind. */
  subscribes: (kind: string) => boolean;
}

/** Actions after a step: a message is sent, or the next one has to be waited for. */
export type Effect = { type: "send"; bundle: Bundle } | { type: "wait" };

/** A group that is not changed stays the same object; {@linkcode EMPTY_GROUP} is forgotten. */
export interface Step {
  state: Group;
  effects: readonly Effect[];
}

/** Events after a message wait for others until this time after it, in milliseconds. */
const JOIN_MS = 10_000;

/**
 * Time for which hosts of the fleet that go away, or come back, wait for others, in milliseconds: those
 * behind one uplink are noticed within the interval of two beats, and dial again within another one.
 */
export const HOSTS_JOIN_MS = 45_000;

/** A container that exited twice since the last message is in a crash loop at its third exit. */
const EXITS_BEFORE_LOOP = 2;

/** A container that works again before its failure was sent is mentioned once in this time. */
const BLIP_MS = 5 * 60_000;

/** A container that fails again within that time may work again after this one. */
const AGAIN_MS = 60_000;

/** More changes than this within this time, in milliseconds, are flapping. */
const CHANGES_MAX = 5;
const CHANGES_MS = 10 * 60_000;

/** Limit of the events, open problems and mentions of a group. */
const EVENTS_MAX = 20;

/** Limit of the open problems of this server. A host of the fleet chooses the keys of its own. */
const OPEN_MAX = 200;

/** Decides what a receiver gets after an event, at the time of a message, or at an outage. */
export function next(group: Group, input: Input, now: Date, subjectOf: SubjectOf): Step {
  switch (input.type) {
    case "event": {
      const state = afterEvent(group, input, now, subjectOf);
      if (state === group) return { state, effects: [] };
      return { state: inStage(state), effects: state.dueAt === null ? [] : [{ type: "wait" }] };
    }
    case "due":
      return afterDue(group, now, subjectOf);
    case "outage":
      return { state: afterOutage(group, subjectOf), effects: [] };
  }
}

/** The stage that follows from the other fields. After the end of all problems, a new thread begins. */
function inStage(group: Group): Group {
  const { dueAt, open, pending, stage } = group;
  if (dueAt !== null) {
    return { ...group, stage: stage === "flapping" || stage === "settling" ? stage : "waiting" };
  }
  const isOver = pending.length + Object.keys(open).length === 0;
  const thread = isOver ? null : group.thread;
  return { ...group, thread, stage: thread === null ? "quiet" : "open" };
}

function afterEvent(group: Group, item: Grouped, now: Date, subjectOf: SubjectOf): Group {
  const { event, explainedBy, isMuted, isOnCall, isWanted, subscribes } = item;
  const { key, phase } = item.subject;
  const { [key]: begun, ...others } = group.open;
  if (!isWanted && !begun) return group;

  const after = { ...group, open: phase === "end" ? others : group.open };
  // Instead of the recovery that will not come any more.
  const { insteadOf = [] } = eventKind(event.event);
  const isTaken = [event.event, ...insteadOf].some(subscribes);
  const closesAlert = isOnCall && phase === "end" && group.thread !== null;
  // A receiver of the start also gets the end, unless it subscribed only to the start.
  const isSent = (!isMuted || closesAlert) &&
    (isWanted || isTaken || !subscribes(begun!.event));
  if (isSent) return (explainedBy ? addExplained : addOwn)(after, item, now, subjectOf);
  if (!isMuted) return after;
  return { ...after, pending: group.pending.filter((each) => subjectOf(each)?.key !== key) };
}

type Add = (group: Group, item: Grouped, now: Date, subjectOf: SubjectOf) => Group;

/** Mentions an event that another problem explains. */
const addExplained: Add = (group, { event, explainedBy, settlesAt, subject }, now, subjectOf) => {
  const { key, kind, phase } = subject;
  const isOfOutage = subjectOf(explainedBy!)?.kind === "engine";
  const isOfContainer = kind === "down" || kind === "ill" || kind === "loop";
  const after = { ...group };
  if (settlesAt === undefined && group.thread === null && group.pending.length === 0) {
    after.pending = [explainedBy!];
    after.open = { ...after.open, [subjectOf(explainedBy!)!.key]: explainedBy! };
    after.dueAt = later(now, isOfOutage ? 0 : HOLD_MS);
  }
  // The messages about the outage name the containers that do not run.
  const isNamed = isOfOutage && isOfContainer && settlesAt === undefined;
  if (!isNamed) {
    if (phase === "begin" && Object.keys(after.open).length < EVENTS_MAX) {
      after.open = { ...after.open, [key]: after.open[key] ?? event };
    }
    if (!isOfContainer) after.held = withHeadline(after.held, event);
  }
  const isSettling = settlesAt !== undefined && after.dueAt === null &&
    Object.keys(after.open).length > 0;
  return isSettling ? { ...after, stage: "settling", dueAt: settlesAt } : after;
};

/** Adds an event to the next message. */
const addOwn: Add = (group, { event, subject }, now) => {
  const { isOfEngine, key, kind, phase } = subject;
  const { more, open, pending, stage } = group;
  if (stage === "settling" && phase === "end") return group;
  const hasRoom = pending.length < EVENTS_MAX;
  const after: Group = {
    ...group,
    stage: stage === "settling" ? "waiting" : stage,
    open: phase === "begin" && hasRoomFor(open, key, event) ? { ...open, [key]: event } : open,
    pending: [...hasRoom ? pending : pending.slice(0, -1), event],
    more: hasRoom ? more : more + 1,
    // Each of many hosts changes once.
    changes: phase === "report" || kind === "host" ? group.changes : withChange(group, now),
  };
  if (kind === "loop" && phase === "begin") {
    // Until its end, nothing else about the container is sent.
    return { ...after, stage: "waiting", changes: [], dueAt: later(now, HOLD_MS) };
  }
  if (stage === "flapping") return after;
  if (after.changes.length > CHANGES_MAX) {
    return { ...after, stage: "flapping", dueAt: later(now, 0) };
  }
  const isAgain = eventKind(event.event).isOftenBrief && isRecent(group, now);
  const waitMs = kind === "host"
    ? HOSTS_JOIN_MS
    : isAgain
    ? AGAIN_MS
    : isOfEngine && phase !== "end"
    ? HOLD_MS
    : 0;
  return { ...after, dueAt: dueTime(after, event, waitMs, now) };
};

const hasRoomFor = (open: Group["open"], key: string, { host }: AppEvent): boolean =>
  Object.hasOwn(open, key) ||
  Object.keys(open).length < (host === undefined ? OPEN_MAX : EVENTS_MAX);

/** Time of the next message after an event was added to it. @param waitMs Delay of the event. */
function dueTime(group: Group, event: AppEvent, waitMs: number, now: Date): string {
  const { dueAt, pending, sentAt } = group;
  if (mayBeLoop(group, event)) return latest(later(now, JOIN_MS), dueAt);
  const isJoined = dueAt !== null && pending.length > 1;
  if (isJoined && phaseOf(event) !== "begin") return dueAt;
  const heldUntil = latest(
    later(now, waitMs),
    sentAt === null ? null : later(new Date(sentAt), JOIN_MS),
  );
  return isJoined && dueAt < heldUntil ? dueAt : heldUntil;
}

/** Whether a start follows so many exits that the next one decides what the message says. */
const mayBeLoop = ({ pending }: Group, { event, data }: AppEvent): boolean =>
  event === "container.up" &&
  pending.filter((each) =>
      each.event === "container.down" && each.data.container === data.container &&
      each.data.reason !== "stopped"
    ).length >= EXITS_BEFORE_LOOP;

/** Whether a problem of the object was sent, and has ended, a short time ago. */
const isRecent = ({ sentAt, thread }: Group, now: Date): boolean =>
  thread === null && sentAt !== null && now.getTime() - Date.parse(sentAt) < BLIP_MS;

function withChange({ changes }: Group, now: Date): string[] {
  const since = later(now, -CHANGES_MS);
  return [...changes, later(now, 0)].filter((time) => time > since).slice(-CHANGES_MAX - 1);
}

function withHeadline(held: readonly string[], event: AppEvent): readonly string[] {
  const { headline } = describeEvent(event);
  return held.length < EVENTS_MAX && !held.includes(headline) ? [...held, headline] : held;
}

/** The message that is due, unless nothing is left to say. */
function afterDue(group: Group, now: Date, subjectOf: SubjectOf): Step {
  const { held, open, pending, stage } = group;
  const isFlapping = stage === "flapping";
  const occasion = isFlapping ? "summary" : stage === "settling" ? "lasting" : "events";
  const bundle = composeBundle(group, occasion, subjectOf);
  if (!bundle || isRepeatedBlip(group, now)) {
    const mentioned = pending.reduce(withHeadline, held);
    return { state: inStage({ ...group, held: mentioned, pending: [], dueAt: null }), effects: [] };
  }
  const isEnd = bundle.phase === "end";
  const isLasting = Object.keys(open).length > 0;
  const isSettling = isEnd && isLasting && !isFlapping;
  const state = inStage({
    ...group,
    stage: isSettling ? "settling" : isFlapping ? stage : "waiting",
    thread: isEnd && !isLasting ? null : bundle.thread,
    pending: [],
    held: isEnd ? [] : held,
    more: 0,
    sentAt: later(now, 0),
    dueAt: isFlapping ? later(now, SUMMARY_MS) : isSettling ? later(now, SETTLE_MS) : null,
  });
  return { state, effects: [{ type: "send", bundle }] };
}

/** A problem that ended before its beginning was sent, again. */
const isRepeatedBlip = (group: Group, now: Date): boolean =>
  isRecent(group, now) && group.stage !== "flapping" &&
  Object.keys(group.open).length === 0 && phaseOf(group.pending[0]!) === "begin";

/** Drops what waits if an outage of the engine explains all of it. */
function afterOutage(group: Group, subjectOf: SubjectOf): Group {
  const { pending, stage, thread } = group;
  const isExplained = pending.length > 0 && pending.every((each) => subjectOf(each)?.isOfEngine);
  if (!isExplained || stage === "flapping") return group;
  return thread === null ? EMPTY_GROUP : inStage({ ...group, pending: [], dueAt: null });
}

const later = (time: Date, ms: number): string => new Date(time.getTime() + ms).toISOString();

/** Times of the same form have the order of their texts. */
const latest = (time: string, other: string | null): string =>
  other !== null && other > time ? other : time;
