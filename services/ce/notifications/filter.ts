/**
 * Which events a notification channel gets.
 *
 * @module
 */

import type { StoredNotificationChannel } from "../../../db/ce/notification_channels.ts";
import { matchesAny, stackOf } from "../../auth/scope.ts";
import type { Deps } from "../../deps.ts";
import type { AppEvent } from "../../events/events.ts";
import { containersOf, isAtLeast, severityOf } from "./message.ts";

type Filter = Pick<
  StoredNotificationChannel,
  "containers" | "events" | "minSeverity" | "stacks"
>;

/**
 * Kinds that are news only to channels that name them: `*` does not mean these. Those of containers
 * are sent to the others, too, as the end of a problem.
 */
const NAMED_KINDS: readonly string[] = [
  "container.up",
  "container.healthy",
  "container.removed",
  "update.started",
];

/** Whether a channel wants an event by itself. */
export const wantsEvent = (deps: Pick<Deps, "inventory">, filter: Filter, event: AppEvent) =>
  (NAMED_KINDS.includes(event.event)
    ? filter.events.includes(event.event)
    : isSubscribed(filter, event.event)) &&
  isAtLeast(severityOf(event), filter.minSeverity) && isMeant(deps, filter, event);

export const isSubscribed = ({ events }: Pick<Filter, "events">, kind: string): boolean =>
  events.includes(kind) || events.includes("*");

/** Whether an event is about a container that a channel is for. */
function isMeant(
  { inventory }: Pick<Deps, "inventory">,
  { containers, stacks }: Pick<Filter, "containers" | "stacks">,
  event: AppEvent,
): boolean {
  if (containers === null && stacks === null) return true;
  const known = inventory.listFollowed();
  const matches = (name: string, stack: string | null) =>
    (containers === null || matchesAny(containers, name)) &&
    (stacks === null || stack !== null && matchesAny(stacks, stack));
  // Without the engine, every container is concerned.
  if (event.event.startsWith("engine.")) {
    return known.some((container) => matches(container.name, stackOf(container)));
  }
  return containersOf(event).some((name) => {
    const container = known.find((each) => each.name === name);
    return matches(name, container ? stackOf(container) : null);
  });
}
