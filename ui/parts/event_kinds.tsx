/** Choice of the events that a receiver gets, and its text in tables. @module */

import { useEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { EventKind } from "../api/types.ts";
import { capital } from "../base/text.ts";
import { CheckGroup } from "../components/fields.tsx";
import { Loading } from "../components/states.tsx";
import { eventKinds, readEventKinds } from "../state/event_kinds.ts";
import { sentenceOf } from "../state/toasts.ts";

const ALL_PROBLEMS = "Everything that is a problem";

/** Kinds that a text names; the others are counted. */
const NAMED_MAX = 2;

/** The end of a problem belongs to it. */
const isProblem = ({ severity, phase }: EventKind): boolean =>
  severity !== "info" || phase === "end";

/**
 * @param props.hasSeverity Whether the form has a field for the least severity, which chooses problems.
 */
export function EventKinds({ checked = [], hasSeverity = false }: {
  checked?: readonly string[];
  hasSeverity?: boolean;
}) {
  const failure = useSignal<string | undefined>(undefined);
  const shortcut = useRef<HTMLInputElement>(null);
  useEffect(() => {
    readEventKinds().catch((error) => failure.value = sentenceOf(error));
  }, []);
  const kinds = eventKinds.value;
  const boxes = () => [
    ...shortcut.current?.form?.querySelectorAll<HTMLInputElement>("[name=events]") ?? [],
  ];
  const showShortcut = () => {
    if (!shortcut.current || !kinds) return;
    const chosen = boxes().filter((box) => box.checked).map(({ value }) => value);
    shortcut.current.checked = areProblems(chosen, kinds);
  };
  // Boxes have other values after the session had ended.
  useEffect(showShortcut, [kinds]);
  const choose = () => {
    const isChosen = shortcut.current!.checked;
    const problems = kinds!.filter(isProblem).map(({ id }) => id);
    for (const box of boxes()) box.checked = isChosen && problems.includes(box.value);
  };

  if (failure.value !== undefined) return <p class="note danger" role="alert">{failure.value}</p>;
  if (!kinds) return <Loading name="Events" />;
  return (
    <div onChange={({ target }) => target === shortcut.current || showShortcut()}>
      <CheckGroup
        label="Events"
        name="events"
        options={[{ value: "*", name: "All events", title: "*" }]}
        parts={{ summary: "Kinds of events", all: "*", list: partsOf(kinds) }}
        checked={checked}
        hint="All events include those of later versions"
        required
      >
        {!hasSeverity && (
          <label class="check">
            <input ref={shortcut} type="checkbox" onChange={choose} />
            {ALL_PROBLEMS}
          </label>
        )}
      </CheckGroup>
    </div>
  );
}

function partsOf(kinds: readonly EventKind[]) {
  return [...new Set(kinds.map(({ group }) => group))].map((title) => ({
    title,
    options: kinds.filter(({ group }) => group === title)
      .map(({ id, words, description }) => ({
        value: id,
        name: capital(words),
        title: `${id}: ${description}`,
      })),
  }));
}

/** The kinds, where their codes do as well until they are known, or if they cannot be read. */
export function useEventKinds(): readonly EventKind[] {
  useEffect(() => {
    readEventKinds().catch(() => {});
  }, []);
  return eventKinds.value ?? [];
}

/** Events of a receiver in a table. Its tooltip has the codes. */
export function EventsText({ events }: { events: readonly string[] }) {
  const kinds = useEventKinds();
  return <span class="cut" title={events.join(", ")}>{textOf(events, kinds)}</span>;
}

/** E.g. `Containers: stopped, unhealthy and 3 more`. */
function textOf(events: readonly string[], kinds: readonly EventKind[]): string {
  if (events.includes("*")) return "All events";
  if (areProblems(events, kinds)) return ALL_PROBLEMS;
  const known = kinds.filter(({ id }) => events.includes(id));
  const others = events.filter((event) => known.every(({ id }) => id !== event));
  const names = known.map(({ group, words }, at) =>
    group === known[at - 1]?.group ? words : `${group}: ${words}`
  );
  const all = [...names, ...others];
  const shown = all.slice(0, NAMED_MAX).join(", ");
  return all.length > NAMED_MAX ? `${shown} and ${all.length - NAMED_MAX} more` : shown;
}

function areProblems(events: readonly string[], kinds: readonly EventKind[]): boolean {
  const problems = kinds.filter(isProblem);
  return problems.length > 0 && events.length === problems.length &&
    problems.every(({ id }) => events.includes(id));
}
