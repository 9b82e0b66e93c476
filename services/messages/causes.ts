/**
 * Causes of events: which events have the same one, and which are not sent because another problem
 * explains them. Notification channels, chats and pushes share the decision about an event.
 *
 * @module
 */

import { selectJobs } from "../../db/jobs.ts";
import {
  countProblemsOf,
  deleteProblem,
  deleteProblemsBefore,
  deleteProblemsOf,
  type NotificationProblem,
  replaceProblem,
  selectProblem,
  selectProblemsAbout,
  updateProblemEnded,
  updateProblemsCause,
} from "../../db/notification_problems.ts";
import { type AppEvent, isOfSameHost, keyOf } from "../events/events.ts";
import type { PauseOfPeople, RecorderDeps } from "../events/recorder.ts";
import type { Decision, Subject } from "../events/decisions.ts";
import { OF_SWARM, type SubjectKind } from "../events/kinds/kind.ts";
import { automaticActor } from "../access/audit/audit.ts";
import { isUp } from "../containers/reads.ts";
import { phaseOf } from "../events/message.ts";
import { subjectOf } from "./subject.ts";

/** Time for which events about containers wait for an outage of the engine, in milliseconds. */
export const HOLD_MS = 3_000;

/** Time that containers have to start after an outage of the engine, in milliseconds. */
export const SETTLE_MS = 60_000;

/** A problem whose end was never reported is forgotten after this time. */
const PROBLEM_MAX_MS = 30 * 24 * 3_600_000;

/** Limit of the problems of a host of the fleet, and of those of swarms: hosts choose their keys. */
const OF_HOST_MAX = 500;

const AUTOMATIC = automaticActor("update policy").userId;

/** The cause of all hosts of a hub that are away: they may share an uplink. */
const HOSTS = "hosts of the fleet";

type Cause = Pick<Decision, "cause" | "explainedBy" | "settlesAt">;

/**
 * Decides about an event once, for all receivers, and records problems that begin or end.
 *
 * @param root The event that caused this one, or itself.
 * @param pause Why nothing is said about it.
 */
export function decide(
  deps: RecorderDeps,
  event: AppEvent,
  root: AppEvent,
  pause: PauseOfPeople | undefined,
): Decision {
  const known = deps.decisions.get(event);
  if (known) return known;
  const isNews = isWorthTelling(deps, event);
  const isMuted = pause !== undefined || !isNews;
  const subject = subjectOf(deps, event);
  const parent = root === event ? undefined : decide(deps, root, root, pause);
  const decision = { isMuted, subject, ...findCause(deps, event, subject, parent) };
  deps.decisions.set(event, decision);
  // People know of what the hub of this host tells them.
  if (subject) recordProblem(deps, event, subject, decision, isNews && pause === "hub");
  return decision;
}

/** Whether people get messages about an event at all; one of a host was checked there. */
export const isWorthTelling = (
  deps: Pick<RecorderDeps, "db" | "inventory" | "reservations">,
  event: AppEvent,
): boolean =>
  event.host !== undefined ||
  !isFinishedTask(event) && !isOfUpdate(deps, event) && !isRepeatedFailure(deps, event);

/** Forgets problems whose end was never reported. */
export function sweepProblems({ db, now }: Pick<RecorderDeps, "db" | "now">): void {
  deleteProblemsBefore(db, new Date(now().getTime() - PROBLEM_MAX_MS).toISOString());
}

function findCause(
  deps: RecorderDeps,
  event: AppEvent,
  subject: Subject | undefined,
  parent: Decision | undefined,
): Cause {
  const { db } = deps;
  const own = subject && selectProblem(db, subject.key);
  // A consequence of an event in the same moment belongs to it, and so does its end.
  if (parent?.subject) {
    const { cause, explainedBy, settlesAt } = parent;
    return { cause: own?.cause ?? cause, explainedBy, settlesAt };
  }
  if (!subject) return ownCause(event.eventId);
  if (subject.kind === "host") return ownCause(keyOf(event, HOSTS));
  const about = subject.containers.length === 0 ? [] : selectProblemsAbout(db, subject.containers);
  const others = about.filter((problem) => isOpen(deps, problem));
  const engine = subject.isOfEngine ? currentOutage(deps, event) : undefined;
  const explaining = engine ?? others.find((other) => explains(other, subject));
  // The end of a problem goes to where its beginning was sent.
  if (own && subject.phase !== "begin") {
    return explaining?.cause === own.cause ? causeBy(explaining) : ownCause(own.cause);
  }
  return explaining ? causeBy(explaining) : ownCause(own?.cause ?? others[0]?.cause ?? subject.key);
}

const ownCause = (cause: string): Cause => ({
  cause,
  explainedBy: undefined,
  settlesAt: undefined,
});

/** The events of a problem were stored by {@linkcode recordProblem}. */
const causeBy = ({ cause, endedAt, event }: NotificationProblem): Cause => ({
  cause,
  explainedBy: event as AppEvent,
  settlesAt: endedAt === null ? undefined : new Date(Date.parse(endedAt) + SETTLE_MS).toISOString(),
});

/** Kinds of problems that each kind explains, if both are about the same container. */
const EXPLAINED: { [Kind in SubjectKind]?: readonly SubjectKind[] } = {
  alert: ["alert", "down", "monitor"],
  down: ["alert", "monitor"],
  loop: ["alert", "down", "ill", "monitor", "remediation"],
  monitor: ["alert", "down", "monitor"],
};

const explains = (problem: NotificationProblem, { key, kind }: Subject): boolean =>
  (problem.key !== key || problem.kind === "loop") &&
  EXPLAINED[problem.kind as SubjectKind]?.includes(kind) === true;

/**
 * A start of a container may have been missed; then it is not down any more. Those of hosts are not
 * known here.
 */
function isOpen(
  { inventory }: RecorderDeps,
  { kind, containers, event }: NotificationProblem,
): boolean {
  if (kind !== "down" || (event as AppEvent).host !== undefined) return true;
  const container = inventory.listFollowed().find(({ name }) => name === containers[0]);
  return container !== undefined && !isUp(container);
}

/** The outage of the engine of an event, also for a while after its end. */
function currentOutage(
  { db, now }: RecorderDeps,
  event: AppEvent,
): NotificationProblem | undefined {
  const outage = selectProblem(db, keyOf(event, "engine"));
  const isOver = outage?.endedAt != null &&
    now().getTime() - Date.parse(outage.endedAt) >= SETTLE_MS;
  return isOver ? undefined : outage;
}

function recordProblem(
  { db, now }: RecorderDeps,
  event: AppEvent,
  { key, kind, phase, containers }: Subject,
  { cause, isMuted }: Decision,
  isToldByHub: boolean,
): void {
  const at = now();
  if (phase === "end") {
    if (kind !== "engine") return void deleteProblem(db, key);
    updateProblemEnded(db, key, at.toISOString());
    // The message about the end names the containers that do not run.
    deleteProblemsOf(db, key, ["down", "ill"]);
  }
  if (phase !== "begin" || isMuted && !isToldByHub) return;
  if (kind === "engine") {
    // Problems that began a moment before are explained by it.
    const since = new Date(at.getTime() - HOLD_MS).toISOString();
    updateProblemsCause(db, since, key, (other) => isOfSameHost(event, other));
  }
  const before = selectProblem(db, key);
  // A container in a crash loop can run out of memory, too.
  if (before?.kind === "loop" && kind !== "loop") return;
  const isOfHost = !before && event.host !== undefined;
  const prefix = key.startsWith(OF_SWARM) ? OF_SWARM : keyOf(event, "");
  if (isOfHost && countProblemsOf(db, prefix) >= OF_HOST_MAX) return;
  const openedAt = before && kind !== "engine" ? before.openedAt : at.toISOString();
  const names = [...containers];
  replaceProblem(db, { key, kind, cause, containers: names, event, openedAt, endedAt: null });
}

/** A task that ended as it should is not a problem; webhooks and streams have the event. */
const isFinishedTask = (event: AppEvent) =>
  event.event === "container.down" && event.data.reason === "exited" && event.data.exitCode === 0;

/** An automatic update is tried again every hour; the same failure is reported once. */
function isRepeatedFailure({ db }: Pick<RecorderDeps, "db">, { event, data }: AppEvent): boolean {
  if (event !== "update.failed") return false;
  const [last, before] = selectJobs(db, { target: data.container }, { limit: 2 });
  return last?.id === data.jobId && before?.error === data.reason &&
    [last, before].every(({ createdBy }) => createdBy === AUTOMATIC);
}

/** The update or deploy reports its result, which is a rollback if the new container fails. */
function isOfUpdate(
  { inventory, reservations }: Pick<RecorderDeps, "inventory" | "reservations">,
  { event, data }: AppEvent,
): boolean {
  if (!event.startsWith("container.") || phaseOf({ event }) !== "begin") return false;
  const { container, id } = data as { container: string; id: string };
  return reservations.isReplaced({
    id,
    name: inventory.temporary.originalOf({ id, name: container }),
  });
}
