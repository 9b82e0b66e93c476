/** Subjects of events, for the decision which events become one message. @module */

import type { Deps } from "../deps.ts";
import type { Subject } from "../events/decisions.ts";
import { type AppEvent, containersOf, keyOf } from "../events/events.ts";
import { eventKind } from "../events/kinds/mod.ts";

/** Subject of an event; `undefined` for news that stand alone. */
export function subjectOf(
  { inventory }: Pick<Deps, "inventory">,
  event: AppEvent,
): Subject | undefined {
  const { phase, subject, targets } = eventKind(event.event);
  if (!subject) return undefined;
  if (event.host !== undefined) return subjectOfHost(event);
  const nameOf = (target: string) =>
    inventory.listFollowed().find(({ id, name }) => name === target || id.startsWith(target))
      ?.name ?? target;
  const containers = targets?.(event.data).map(nameOf) ?? containersOf(event);
  const isOfEngine = containers.length > 0;
  return { isOfEngine, ...subject(event.data, containers), phase, containers };
}

/** Keys and containers are those of the host, so that nothing is taken for an object of another one. */
function subjectOfHost(event: AppEvent): Subject {
  const { isShared, phase, subject, targets } = eventKind(event.event);
  const containers = targets?.(event.data) ?? containersOf(event);
  const own = { isOfEngine: containers.length > 0, ...subject!(event.data, containers) };
  return {
    ...own,
    key: isShared ? own.key : keyOf(event, own.key),
    phase,
    containers: containers.map((name) => keyOf(event, name)),
  };
}
