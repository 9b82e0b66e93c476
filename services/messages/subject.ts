/** Subjects of events, for the decision which events become one message. @module */

import type { Deps } from "../deps.ts";
import type { Subject } from "../events/decisions.ts";
import type { AppEvent } from "../events/events.ts";
import { eventKind } from "../events/kinds/mod.ts";
import { containersOf } from "../events/message.ts";

/** Subject of an event; `undefined` for news that stand alone. */
export function subjectOf(
  { inventory }: Pick<Deps, "inventory">,
  event: AppEvent,
): Subject | undefined {
  const { phase, subject, targets } = eventKind(event.event);
  if (!subject) return undefined;
  const nameOf = (target: string) =>
    inventory.listFollowed().find(({ id, name }) => name === target || id.startsWith(target))
      ?.name ?? target;
  const containers = targets?.(event.data).map(nameOf) ?? containersOf(event);
  const isOfEngine = containers.length > 0;
  return { isOfEngine, ...subject(event.data, containers), phase, containers };
}
