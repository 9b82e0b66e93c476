/**
 * Messages of a receiver about a cause, and their times: the first goes at once, everything that
 * follows within 10 seconds is one more, what another problem explains is only mentioned, and an
 * object that changes all the time gets a summary every 30 minutes.
 *
 * @module
 */

import {
  deleteGroup,
  deleteGroupsBefore,
  deleteGroupsOf,
  type GroupKey,
  type NotificationGroup,
  selectDueGroups,
  selectGroup,
  selectNextGroupDueAt,
  selectWaitingGroups,
  upsertGroup,
} from "../../db/notification_groups.ts";
import type { Deps } from "../deps.ts";
import { describeEvent } from "../events/description.ts";
import type { AppEvent } from "../events/events.ts";
import type { EventKind } from "../events/kinds/mod.ts";
import type { Pause, RecorderDeps } from "../events/recorder.ts";
import type { Decision, Subject } from "../events/decisions.ts";
import type { Phase } from "../events/kinds/kind.ts";
import { decide, HOLD_MS, SETTLE_MS } from "./causes.ts";
import { isAtLeast, phaseOf, severityOf, threadOf } from "../events/message.ts";
import { subjectOf } from "./subject.ts";

/** Events after a message wait for others until this time after it, in milliseconds. */
const JOIN_MS = 10_000;

/** A container that exited twice since the last message is in a crash loop at its third exit. */
const LOOP_KIND = "container.crash_looping";
const EXITS_BEFORE_LOOP = 2;

/** A container that works again before its failure was sent is mentioned once in this time. */
const BLIP_MS = 5 * 60_000;

/** A container that fails again within that time may work again after this one. */
const AGAIN_MS = 60_000;
const AGAIN_KINDS: readonly string[] = ["container.down", "container.unhealthy"];

const RECOVERIES: readonly EventKind[] = ["container.up", "container.healthy"];

/** More changes than this within this time, in milliseconds, are flapping. */
const CHANGES_MAX = 5;
const CHANGES_MS = 10 * 60_000;

/** Time between the summaries of what is flapping, in milliseconds. */
const SUMMARY_MS = 30 * 60_000;

/** Limit of the events, open problems and mentions of a group. */
const EVENTS_MAX = 20;

/** Details of an event that is in the message of another one. */
const DETAILS_MAX = 3;

/** Messages that are passed on at once, in one transaction; requests are served before the next. */
const FLUSHED_MAX = 25;

/** A group is kept for this time after its last change, in milliseconds. */
const KEPT_MS = 30 * 24 * 3_600_000;

type GroupDeps = Pick<Deps, "db" | "inventory" | "now" | "outbox">;
type FlushDeps = GroupDeps & Pick<Deps, "crashLines">;

/** One message about one or several events. */
export interface Bundle {
  /** The most important event. */
  event: AppEvent;
  /** Lines about the others. */
  also: string[];
  thread: string;
  phase: Phase;
}

/** A receiver. */
export interface Target {
  id: string;
  /** Whether it has an alert for each problem, which must be closed also during a silence. */
  isOnCall?: boolean;
  /** Whether it gets events of a kind. */
  subscribes: (kind: string) => boolean;
  /** Whether it wants this event. */
  wants: () => boolean;
}

/** The receivers of a channel of the outbox. */
export interface Receivers {
  channel: string;
  targets: readonly Target[];
  /** Sends news that stand alone; the others wait for {@linkcode flushGroups}. */
  send: Send;
}

type Send = (targetId: string, bundle: Bundle) => void;

/** An event that can belong to others, and what was decided about it. */
type Grouped = Decision & { subject: Subject; event: AppEvent };

/** State of a receiver's messages about a cause. Times are ISO 8601, UTC. */
interface State {
  /** The thread of the messages, from the first until the problem ended. */
  thread: string | null;
  /** The beginnings of problems of which the receiver was told, by object. */
  open: Record<string, AppEvent>;
  /** Events for the next message, oldest first. */
  pending: AppEvent[];
  /** Events that another problem explains, to be mentioned at the end. */
  held: string[];
  /** Events that did not fit into `pending`. */
  more: number;
  /** The last message. */
  sentAt: string | null;
  /** The last changes that count for flapping. */
  changes: string[];
  isFlapping: boolean;
  /** The cause ended; the next message says what lasts. */
  isSettling: boolean;
}

const newState = (): State => ({
  thread: null,
  open: {},
  pending: [],
  held: [],
  more: 0,
  sentAt: null,
  changes: [],
  isFlapping: false,
  isSettling: false,
});

/**
 * Decides for each receiver which message it gets about an event. Must be called in its transaction.
 *
 * @param event.root The event that caused this one, or itself.
 * @param event.pause Why nothing is said about it.
 */
export function groupEvent(
  deps: RecorderDeps,
  { channel, targets, send }: Receivers,
  { event, root, pause }: { event: AppEvent; root: AppEvent; pause: Pause | undefined },
): void {
  if (targets.length === 0) return;
  const { subject, ...decision } = decide(deps, event, root, pause);
  for (const target of targets) {
    const receiver = { channel, targetId: target.id };
    const hasTaken = !decision.isMuted && takeExplained(deps, receiver, event);
    const isWanted = hasTaken || !decision.isMuted && target.wants();
    if (!subject) {
      const bundle = { event, also: logLinesOf(deps, event), thread: threadOf(event) };
      if (isWanted) send(target.id, { ...bundle, phase: "report" });
    } else if (isWanted || subject.phase === "end") {
      const item = { ...decision, subject, event, isWanted, target };
      record(deps, { ...receiver, cause: decision.cause }, item);
    }
  }
}

/**
 * Passes on messages of a channel that are due, at most {@linkcode FLUSHED_MAX}.
 *
 * @returns Time until the next one is due, in milliseconds; `undefined` without one.
 */
export function flushGroups(
  deps: FlushDeps,
  channel: string,
  send: Send,
): number | undefined {
  const { db, now } = deps;
  const at = now();
  const due = selectDueGroups(db, channel, at.toISOString(), FLUSHED_MAX);
  if (due.length > 0) {
    // A commit waits for the disk, so all of them share one.
    db.transaction(() => {
      for (const group of due) {
        const bundle = nextBundle(deps, group);
        if (bundle) send(group.targetId, bundle);
      }
    });
  }
  const dueAt = selectNextGroupDueAt(db, channel);
  return dueAt === null ? undefined : Math.max(0, Date.parse(dueAt) - at.getTime());
}

/** Drops what a receiver would be told, because it was deleted or disabled. */
export function dropGroups({ db }: Pick<Deps, "db">, channel: string, targetId: string): void {
  deleteGroupsOf(db, { channel, targetId });
}

/** Forgets what receivers were told long ago. */
export function sweepGroups({ db, now }: Pick<Deps, "db" | "now">): void {
  deleteGroupsBefore(db, new Date(now().getTime() - KEPT_MS).toISOString());
}

/**
 * At an outage of the engine, drops what receivers would be told about its containers. They
 * get a message about the outage, even if they do not want its kind of events.
 *
 * @returns Whether there was something.
 */
function takeExplained(
  deps: GroupDeps,
  receiver: Omit<GroupKey, "cause">,
  event: AppEvent,
): boolean {
  if (event.event !== "engine.down") return false;
  let hasTaken = false;
  for (const group of selectWaitingGroups(deps.db, receiver)) {
    const state = stateOf(group);
    const isOfEngine = state.pending.length > 0 &&
      state.pending.every((each) => subjectOf(deps, each)?.isOfEngine);
    if (!isOfEngine || state.isFlapping) continue;
    hasTaken = true;
    if (state.thread === null) deleteGroup(deps.db, group);
    else store(deps, group, { ...state, pending: [] }, null);
  }
  return hasTaken;
}

function record(
  deps: GroupDeps,
  key: GroupKey,
  item: Grouped & { isWanted: boolean; target: Target },
): void {
  const { event, explainedBy, isMuted, subject: { key: object, phase }, target } = item;
  const before = selectGroup(deps.db, key);
  const state: State = before ? stateOf(before) : newState();
  const begun = state.open[object];
  if (!item.isWanted && !begun) return;

  let dueAt = before?.dueAt ?? null;
  if (phase === "end") delete state.open[object];
  // Instead of the recovery that will not come any more.
  const isTaken = target.subscribes(event.event) ||
    event.event === "container.removed" && RECOVERIES.some((kind) => target.subscribes(kind));
  const closesAlert = target.isOnCall === true && phase === "end" && state.thread !== null;
  // A receiver of the start also gets the end, unless it subscribed only to the start.
  const isSent = (!isMuted || closesAlert) &&
    (item.isWanted || isTaken || !target.subscribes(begun!.event));
  if (isSent) dueAt = (explainedBy ? addExplained : addOwn)(deps, state, dueAt, item);
  else if (isMuted) {
    state.pending = state.pending.filter((each) => subjectOf(deps, each)?.key !== object);
  }
  store(deps, key, state, dueAt);
  if (dueAt !== null) deps.outbox.notify();
}

type Add = (
  deps: GroupDeps,
  state: State,
  dueAt: string | null,
  item: Grouped,
) => string | null;

/** Mentions an event that another problem explains. @returns When the next message is due. */
const addExplained: Add = (deps, state, dueAt, { event, explainedBy, settlesAt, subject }) => {
  const { key, kind, phase } = subject;
  const isOfOutage = explainedBy!.event === "engine.down";
  const isOfContainer = kind === "down" || kind === "ill" || kind === "loop";
  if (settlesAt === undefined && state.thread === null && state.pending.length === 0) {
    state.pending.push(explainedBy!);
    state.open[subjectOf(deps, explainedBy!)!.key] = explainedBy!;
    dueAt = later(deps, isOfOutage ? 0 : HOLD_MS);
  }
  // The messages about the outage name the containers that do not run.
  const isNamed = isOfOutage && isOfContainer && settlesAt === undefined;
  if (!isNamed) {
    if (phase === "begin") open(state, key, event);
    if (!isOfContainer) hold(state, event);
  }
  if (settlesAt !== undefined && dueAt === null && Object.keys(state.open).length > 0) {
    state.isSettling = true;
    return settlesAt;
  }
  return dueAt;
};

/** Adds an event to the next message. @returns When it is due. */
const addOwn: Add = (deps, state, dueAt, { event, subject: { isOfEngine, key, phase } }) => {
  if (state.isSettling && phase === "end") return dueAt;
  state.isSettling = false;
  if (phase === "begin") state.open[key] = event;
  if (state.pending.length < EVENTS_MAX) state.pending.push(event);
  else {
    state.pending[EVENTS_MAX - 1] = event;
    state.more++;
  }
  if (phase !== "report") addChange(deps, state);
  if (event.event === LOOP_KIND) {
    // Until its end, nothing else about the container is sent.
    Object.assign(state, { isFlapping: false, changes: [] });
    return later(deps, HOLD_MS);
  }
  if (!state.isFlapping && state.changes.length > CHANGES_MAX) {
    state.isFlapping = true;
    return later(deps, 0);
  }
  if (mayBeLoop(state, event)) return [later(deps, JOIN_MS), dueAt ?? ""].sort().at(-1)!;
  const isJoined = dueAt !== null && (state.isFlapping || state.pending.length > 1);
  if (isJoined && (state.isFlapping || phase !== "begin")) return dueAt;
  const isAgain = AGAIN_KINDS.includes(event.event) && isRecent(deps, state);
  const waitMs = isAgain ? AGAIN_MS : isOfEngine && phase !== "end" ? HOLD_MS : 0;
  const joinedAt = state.sentAt === null
    ? ""
    : new Date(Date.parse(state.sentAt) + JOIN_MS).toISOString();
  const heldUntil = [later(deps, waitMs), joinedAt].sort().at(-1)!;
  return isJoined && dueAt! < heldUntil ? dueAt : heldUntil;
};

/** Whether a start follows so many exits that the next one decides what the message says. */
const mayBeLoop = ({ isFlapping, pending }: State, { event, data }: AppEvent): boolean =>
  event === "container.up" && !isFlapping &&
  pending.filter((each) =>
      each.event === "container.down" && each.data.container === data.container &&
      each.data.reason !== "stopped"
    ).length >= EXITS_BEFORE_LOOP;

/** Whether a problem of the object was sent, and has ended, a short time ago. */
const isRecent = ({ now }: GroupDeps, { sentAt, thread }: State): boolean =>
  thread === null && sentAt !== null && now().getTime() - Date.parse(sentAt) < BLIP_MS;

function addChange({ now }: GroupDeps, state: State): void {
  const since = new Date(now().getTime() - CHANGES_MS).toISOString();
  state.changes = [...state.changes, now().toISOString()]
    .filter((time) => time > since).slice(-CHANGES_MAX - 1);
}

function open(state: State, key: string, event: AppEvent): void {
  if (Object.keys(state.open).length < EVENTS_MAX) state.open[key] ??= event;
}

function hold(state: State, event: AppEvent): void {
  const { headline } = describeEvent(event);
  if (state.held.length < EVENTS_MAX && !state.held.includes(headline)) state.held.push(headline);
}

/** Composes the next message of a group, and stores that it was sent. */
function nextBundle(deps: FlushDeps, group: NotificationGroup): Bundle | undefined {
  const state = stateOf(group);
  const { isSettling, thread } = state;
  const lasting = Object.values(state.open);
  const events = isSettling ? lasting : withoutRepeats(state.pending);
  if (events.length === 0 || isRepeatedBlip(deps, state)) {
    for (const event of state.pending) hold(state, event);
    const next = { ...state, pending: [], isFlapping: false, isSettling: false };
    store(deps, group, next, null);
    return undefined;
  }
  const event = state.isFlapping ? events.at(-1)! : mostImportant(deps, events);
  const phase = isSettling ? "begin" : phaseOfBundle(state, event);
  const isEnd = phase === "end";
  const bundle: Bundle = {
    event,
    also: [
      ...logLinesOf(deps, event),
      ...textAbout(state, events, event),
      ...(isEnd ? state.held.map(mention) : []),
    ],
    thread: thread ?? threadOf(events[0]!),
    phase,
  };
  const next: State = {
    ...state,
    thread: isEnd && lasting.length === 0 ? null : bundle.thread,
    pending: [],
    held: isEnd ? [] : state.held,
    more: 0,
    sentAt: deps.now().toISOString(),
    isSettling: isEnd && lasting.length > 0 && !state.isFlapping,
  };
  const nextMs = state.isFlapping ? SUMMARY_MS : next.isSettling ? SETTLE_MS : undefined;
  store(deps, group, next, nextMs === undefined ? null : later(deps, nextMs));
  return bundle;
}

/** The end of a container that ran out of memory says so: the event before it says nothing else. */
function withoutRepeats(events: readonly AppEvent[]): readonly AppEvent[] {
  const ended = events.flatMap(({ event, data }) =>
    (event === "container.down" || event === "container.crash_looping") && data.reason === "oom"
      ? [data.container]
      : []
  );
  return events.filter(({ event, data }) =>
    event !== "container.oom" || !ended.includes(data.container)
  );
}

/** The last log lines of the container that crashed or failed. */
const logLinesOf = ({ crashLines }: Pick<Deps, "crashLines">, { data, eventId }: AppEvent) => [
  ...crashLines.get("jobId" in data ? data.jobId : eventId) ?? [],
];

/** A problem that ended before its beginning was sent, again. */
function isRepeatedBlip(deps: GroupDeps, state: State): boolean {
  return isRecent(deps, state) && !state.isFlapping &&
    Object.keys(state.open).length === 0 && phaseOf(state.pending[0]!) === "begin";
}

/** The one that people should see first: the last event of an object, by severity. */
function mostImportant(deps: GroupDeps, events: readonly AppEvent[]): AppEvent {
  const last = new Map(events.map((event) => [subjectOf(deps, event)?.key, event]));
  return [...last.values()].reduce((most, event) =>
    isAtLeast(severityOf(most), severityOf(event)) ? most : event
  );
}

function phaseOfBundle(state: State, event: AppEvent): Phase {
  const phase = phaseOf(event);
  const isOver = Object.keys(state.open).length === 0 &&
    state.pending.some((each) => phaseOf(each) === "end");
  if (isOver || phase === "end") return "end";
  return state.thread === null ? phase : "report";
}

/** Lines about the events that are not in the title. */
function textAbout(
  { isFlapping, isSettling, more, pending }: State,
  events: readonly AppEvent[],
  shown: AppEvent,
): string[] {
  if (isFlapping) {
    const minutes = SUMMARY_MS / 60_000;
    return [
      `It keeps changing; the next summary follows in ${minutes} minutes`,
      `Changes since the last message: ${pending.length + more}`,
    ];
  }
  return [
    ...(isSettling ? ["This lasts although its cause has ended"] : []),
    ...events.filter((event) => event !== shown).flatMap((event) => {
      const { headline, lines } = describeEvent(event);
      return [headline, ...lines.slice(0, DETAILS_MAX)];
    }),
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
}

const mention = (headline: string) => `Meanwhile: ${headline}`;

const later = ({ now }: GroupDeps, ms: number): string =>
  new Date(now().getTime() + ms).toISOString();

const stateOf = ({ state }: NotificationGroup): State => JSON.parse(state);

function store(deps: GroupDeps, key: GroupKey, state: State, dueAt: string | null): void {
  const { channel, targetId, cause } = key;
  const isOver = dueAt === null && state.pending.length + Object.keys(state.open).length === 0;
  const text = JSON.stringify(isOver ? { ...state, thread: null } : state);
  const group = { channel, targetId, cause, state: text, dueAt };
  upsertGroup(deps.db, { ...group, updatedAt: deps.now().toISOString() });
}
