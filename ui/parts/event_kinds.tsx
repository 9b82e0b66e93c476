/** Choice of the events that a receiver gets, and its text in tables. @module */

import type { EventKind } from "../api/types.ts";
import { CheckGroup } from "../components/check_group.tsx";
import { eventKinds } from "../state/kinds.ts";
import { groupsOf, useKinds, WithKinds } from "./kinds.tsx";

const ALL_PROBLEMS = "Everything that is a problem";

/** Kinds that a text names; the others are counted. */
const NAMED_MAX = 2;

/** The end of a problem belongs to it. */
const problemsOf = (kinds: readonly EventKind[]): string[] =>
  kinds.filter(({ severity, phase }) => severity !== "info" || phase === "end")
    .map(({ id }) => id);

/**
 * @param props.hasSeverity Whether the form has a field for the least severity, which chooses problems.
 */
export const EventKinds = ({ checked = [], hasSeverity = false }: {
  checked?: readonly string[];
  hasSeverity?: boolean;
}) => (
  <WithKinds name="Events" kinds={eventKinds}>
    {(kinds) => (
      <CheckGroup
        label="Events"
        name="events"
        options={[{ value: "*", name: "All events", title: "*" }]}
        shortcut={hasSeverity ? undefined : { name: ALL_PROBLEMS, values: problemsOf(kinds) }}
        groups={groupsOf(kinds)}
        checked={checked}
        hint="All events include those of later versions"
        required
      />
    )}
  </WithKinds>
);

/** Events of a receiver in a table. Its tooltip has the codes. */
export function EventsText({ events }: { events: readonly string[] }) {
  const kinds = useKinds(eventKinds);
  return <span class="cut" title={events.join(", ")}>{textOf(events, kinds)}</span>;
}

/** E.g. `Containers: stopped, unhealthy and 3 more`. */
function textOf(events: readonly string[], kinds: readonly EventKind[]): string {
  if (events.includes("*")) return "All events";
  const problems = problemsOf(kinds);
  const areProblems = problems.length > 0 && events.length === problems.length &&
    problems.every((id) => events.includes(id));
  if (areProblems) return ALL_PROBLEMS;
  const known = kinds.filter(({ id }) => events.includes(id));
  const others = events.filter((event) => known.every(({ id }) => id !== event));
  const names = known.map(({ group, words }, at) =>
    group === known[at - 1]?.group ? words : `${group}: ${words}`
  );
  const all = [...names, ...others];
  const shown = all.slice(0, NAMED_MAX).join(", ");
  return all.length > NAMED_MAX ? `${shown} and ${all.length - NAMED_MAX} more` : shown;
}
