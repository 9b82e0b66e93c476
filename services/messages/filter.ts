/** Filter of a notification channel's events. @module */

import type { StoredNotificationChannel } from "../../db/notification_channels.ts";
import { matchesAny, stackOf } from "../access/scope.ts";
import type { Deps } from "../deps.ts";
import { type AppEvent, containersOf } from "../events/events.ts";
import { eventKind } from "../events/kinds/mod.ts";
import { isAtLeast, severityOf, stackNameOf } from "../events/message.ts";
import { knownContainers } from "./known_containers.ts";

type Filter = Pick<
  StoredNotificationChannel,
  "containers" | "events" | "minSeverity" | "stacks"
>;

/** Whether a channel wants an event by itself. */
export const wantsEvent = (deps: Pick<Deps, "inventory">, filter: Filter, event: AppEvent) =>
  (eventKind(event.event).isOnlyByName
    ? filter.events.includes(event.event)
    : subscribesTo(filter, event)) &&
  isAtLeast(severityOf(event), filter.minSeverity) && isMeant(deps, filter, event);

/** Whether a receiver gets an event, unless it also gets another one that says the same. */
export function subscribesTo(filter: Pick<Filter, "events">, { event, data }: AppEvent): boolean {
  const others = eventKind(event).reportedAs?.(data) ?? [];
  const isRepeated = others.length > 0 && others.every((kind) => isSubscribed(filter, kind));
  return isSubscribed(filter, event) && !isRepeated;
}

export const isSubscribed = ({ events }: Pick<Filter, "events">, kind: string): boolean =>
  events.includes(kind) || events.includes("*");

/** Whether an event is about a container or stack that a channel is for. */
function isMeant(
  deps: Pick<Deps, "inventory">,
  { containers, stacks }: Pick<Filter, "containers" | "stacks">,
  event: AppEvent,
): boolean {
  if (containers === null && stacks === null) return true;
  const stack = stackNameOf(event);
  if (stack !== undefined) return containers === null && matchesAny(stacks!, stack);
  const known = knownContainers(deps, event);
  const matches = (name: string, stack: string | null) =>
    (containers === null || matchesAny(containers, name)) &&
    (stacks === null || stack !== null && matchesAny(stacks, stack));
  if (eventKind(event.event).isAboutAll) {
    return known.some((container) => matches(container.name, stackOf(container)));
  }
  return containersOf(event).some((name) => {
    const container = known.find((each) => each.name === name);
    return matches(name, container ? stackOf(container) : null);
  });
}
