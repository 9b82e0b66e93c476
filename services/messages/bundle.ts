/** One message about several events of a cause: its title, lines, thread and phase. @module */

import type { Subject } from "../events/decisions.ts";
import { describeEvent } from "../events/description.ts";
import type { AppEvent } from "../events/events.ts";
import type { Phase } from "../events/kinds/kind.ts";
import { isAtLeast, isExit, phaseOf, severityOf, threadOf } from "../events/message.ts";

/** Time between the summaries of what is flapping, in milliseconds. */
export const SUMMARY_MS = 30 * 60_000;

/** Details of an event that is in the message of another one. */
const DETAILS_MAX = 3;

/** One message about one or several events. */
export interface Bundle {
  /** The most important event. */
  event: AppEvent;
  /** Lines about the others. */
  also: string[];
  thread: string;
  phase: Phase;
}

/** Content of the next message about a cause. */
export interface Content {
  /** The thread of the messages, from the first until the problem ended. */
  thread: string | null;
  /** The beginnings of problems of which the receiver was told, by object. */
  open: Readonly<Record<string, AppEvent>>;
  /** Events for the next message, oldest first. */
  pending: readonly AppEvent[];
  /** Headlines of events that another problem explains, to be mentioned at the end. */
  held: readonly string[];
  /** Events that did not fit into `pending`. */
  more: number;
}

/** Subject of a message: events that waited, a summary while flapping, or problems that outlast their cause. */
export type Occasion = "events" | "summary" | "lasting";

/** The object that an event is about; `undefined` for news that stand alone. */
export type SubjectOf = (event: AppEvent) => Subject | undefined;

/** Composes the next message; `undefined` if nothing is left to say. */
export function composeBundle(
  content: Content,
  occasion: Occasion,
  subjectOf: SubjectOf,
): Bundle | undefined {
  const { held, open, pending, thread } = content;
  const events = occasion === "lasting" ? Object.values(open) : withoutRepeats(pending);
  if (events.length === 0) return undefined;
  const event = occasion === "summary" ? events.at(-1)! : mostImportant(events, subjectOf);
  const phase = occasion === "lasting" ? "begin" : phaseOfBundle(content, event);
  const mentions = phase === "end" ? held.map((headline) => `Meanwhile: ${headline}`) : [];
  return {
    event,
    also: [...linesAbout(content, occasion, events, event), ...mentions],
    thread: thread ?? threadOf(events[0]!),
    phase,
  };
}

/** The end of a container that ran out of memory says so: the event before it says nothing else. */
function withoutRepeats(events: readonly AppEvent[]): readonly AppEvent[] {
  const ended = events.filter(isExit).filter(({ data }) => data.reason === "oom")
    .map(({ data }) => data.container);
  return events.filter(({ event, data }) =>
    event !== "container.oom" || !ended.includes(data.container)
  );
}

/** The one that people should see first: the last event of an object, by severity. */
function mostImportant(events: readonly AppEvent[], subjectOf: SubjectOf): AppEvent {
  const last = new Map(events.map((event) => [subjectOf(event)?.key, event]));
  return [...last.values()].reduce((most, event) =>
    isAtLeast(severityOf(most), severityOf(event)) ? most : event
  );
}

function phaseOfBundle({ open, pending, thread }: Content, event: AppEvent): Phase {
  const phase = phaseOf(event);
  const isOver = Object.keys(open).length === 0 &&
    pending.some((each) => phaseOf(each) === "end");
  if (isOver || phase === "end") return "end";
  return thread === null ? phase : "report";
}

/** Lines about the events that are not in the title. */
function linesAbout(
  { more, pending }: Content,
  occasion: Occasion,
  events: readonly AppEvent[],
  shown: AppEvent,
): string[] {
  if (occasion === "summary") {
    const minutes = SUMMARY_MS / 60_000;
    return [
      `It keeps changing; the next summary follows in ${minutes} minutes`,
      `Changes since the last message: ${pending.length + more}`,
    ];
  }
  return [
    ...(occasion === "lasting" ? ["This lasts although its cause has ended"] : []),
    ...events.filter((event) => event !== shown).flatMap((event) => {
      const { headline, lines } = describeEvent(event);
      return [headline, ...lines.slice(0, DETAILS_MAX)];
    }),
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
}
