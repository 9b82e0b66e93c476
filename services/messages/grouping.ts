/** Groups of events by receiver and cause: reads and stores them, and sends their messages. @module */

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
import { type AppEvent, isOfSameHost } from "../events/events.ts";
import { threadOf } from "../events/message.ts";
import type { PauseOfPeople, RecorderDeps } from "../events/recorder.ts";
import type { Bundle } from "./bundle.ts";
import { decide } from "./causes.ts";
import { EMPTY_GROUP, type Group, type Grouped, type Input, next } from "./group.ts";
import { subjectOf } from "./subject.ts";

/** Messages that are passed on at once, in one transaction; requests are served before the next. */
const FLUSHED_MAX = 25;

/** A group is kept for this time after its last change, in milliseconds. */
const KEPT_MS = 30 * 24 * 3_600_000;

type GroupDeps = Pick<Deps, "crashLines" | "db" | "inventory" | "now" | "outbox">;

/** A receiver. */
export interface Target extends Pick<Grouped, "subscribes"> {
  id: string;
  isOnCall?: boolean;
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

/**
 * Decides for each receiver which message it gets about an event. Must be called in its transaction.
 *
 * @param event.root The event that caused this one, or itself.
 * @param event.pause Why nothing is said about it.
 */
export function groupEvent(
  deps: RecorderDeps,
  { channel, targets, send }: Receivers,
  { event, root, pause }: { event: AppEvent; root: AppEvent; pause: PauseOfPeople | undefined },
): void {
  if (targets.length === 0) return;
  const { subject, cause, ...decision } = decide(deps, event, root, pause);
  const isOutage = subject?.kind === "engine" && subject.phase === "begin" && !decision.isMuted;
  for (const { id: targetId, isOnCall = false, subscribes, wants } of targets) {
    // Instead of the messages that it explains, even if its kind of events is not wanted.
    const isTaken = isOutage && dropExplained(deps, { channel, targetId }, event, send);
    const isWanted = isTaken || !decision.isMuted && wants();
    if (!subject) {
      const bundle: Bundle = { event, also: [], thread: threadOf(event), phase: "report" };
      if (isWanted) send(targetId, withLogLines(deps, bundle));
    } else if (isWanted || subject.phase === "end") {
      const key = { channel, targetId, cause };
      const item = { ...decision, event, subject, isWanted, isOnCall, subscribes };
      advance(deps, key, selectGroup(deps.db, key), { type: "event", ...item }, send);
    }
  }
}

/**
 * Passes on messages of a channel that are due, at most {@linkcode FLUSHED_MAX}.
 *
 * @returns Time until the next one is due, in milliseconds; `undefined` without one.
 */
export function flushGroups(deps: GroupDeps, channel: string, send: Send): number | undefined {
  const { db, now } = deps;
  const at = now();
  const due = selectDueGroups(db, channel, at.toISOString(), FLUSHED_MAX);
  if (due.length > 0) {
    // A commit waits for the disk, so all of them share one.
    db.transaction(() => {
      for (const group of due) advance(deps, group, group, { type: "due" }, send);
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
 * Drops what a receiver would be told about containers of the same host.
 *
 * @returns Whether there was something.
 */
function dropExplained(
  deps: GroupDeps,
  receiver: Omit<GroupKey, "cause">,
  outage: AppEvent,
  send: Send,
): boolean {
  return selectWaitingGroups(deps.db, receiver)
    .filter(({ cause }) => isOfSameHost(outage, cause))
    .map((group) => advance(deps, group, group, { type: "outage" }, send))
    .includes(true);
}

/** Takes a group to its next state, and carries out what follows. @returns Whether it has changed. */
function advance(
  deps: GroupDeps,
  key: GroupKey,
  stored: NotificationGroup | undefined,
  input: Input,
  send: Send,
): boolean {
  const before = stored ? parseGroup(stored) : EMPTY_GROUP;
  const { state, effects } = next(before, input, deps.now(), (event) => subjectOf(deps, event));
  if (state === before) return false;
  store(deps, key, state);
  for (const effect of effects) {
    if (effect.type === "send") send(key.targetId, withLogLines(deps, effect.bundle));
    else deps.outbox.notify();
  }
  return true;
}

const parseGroup = ({ state, dueAt }: NotificationGroup): Group => ({
  ...JSON.parse(state),
  dueAt,
});

function store({ db, now }: GroupDeps, key: GroupKey, group: Group): void {
  if (group === EMPTY_GROUP) return deleteGroup(db, key);
  const { channel, targetId, cause } = key;
  const { dueAt, ...state } = group;
  const row = { channel, targetId, cause, state: JSON.stringify(state), dueAt };
  upsertGroup(db, { ...row, updatedAt: now().toISOString() });
}

/** Adds the last log lines of the container that crashed or failed. */
function withLogLines({ crashLines }: GroupDeps, bundle: Bundle): Bundle {
  const { data, eventId } = bundle.event;
  const lines = crashLines.get("jobId" in data ? data.jobId : eventId) ?? [];
  return { ...bundle, also: [...lines, ...bundle.also] };
}
