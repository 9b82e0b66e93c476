/** Decisions about the messages of an event. @module */

import type { AppEvent } from "./events.ts";

/** Whether an event begins or ends a problem, or reports something else. */
export type Phase = "begin" | "end" | "report";

/**
 * - `down`, `ill`, `loop`: of a container, by its own events
 * - `deploy`: a stack could not be deployed
 * - `alert`, `monitor`: a rule or a monitor reports that containers do not work
 * - `measure`: a rule reports something else, e.g. a load
 * - `remediation`, `incident`: what was done about it
 */
export type SubjectKind =
  | "alert"
  | "deploy"
  | "down"
  | "engine"
  | "ill"
  | "incident"
  | "loop"
  | "measure"
  | "monitor"
  | "remediation";

/** An event that can belong to others. */
export interface Subject {
  /** The object, e.g. `container web`. */
  key: string;
  kind: SubjectKind;
  phase: Phase;
  /** Names of the containers that it is about. */
  containers: readonly string[];
  /** Whether it is about containers, so that an outage of the engine explains it. */
  isOfEngine: boolean;
}

/** A decision about an event. */
export interface Decision {
  /** Nothing is sent about it, e.g. because of a silence. */
  isMuted: boolean;
  /** `undefined` for news that stand alone. */
  subject: Subject | undefined;
  /** The key of the problem that it belongs to, or its own. */
  cause: string;
  /** The event with which the problem began that explains this one; it is sent instead. */
  explainedBy: AppEvent | undefined;
  /** The problem that explains it has ended, and its consequences have until then to end. */
  settlesAt: string | undefined;
}

/** The decisions about the events of the current transaction, for all receivers. */
export type NotificationDecisions = WeakMap<AppEvent, Decision>;
