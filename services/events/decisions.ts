/** Decisions about the messages of an event. @module */

import type { AppEvent } from "./events.ts";
import type { KindSubject, Phase } from "./kinds/kind.ts";

/** An event that can belong to others. */
export interface Subject extends KindSubject {
  phase: Phase;
  /** Names of the containers that it is about. */
  containers: readonly string[];
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
