/**
 * Problems that began during a silence or maintenance: those that last longer are reported once.
 *
 * @module
 */

import { selectFleetHost } from "../../../db/fleet_hosts.ts";
import { deleteHeldEvent, type HeldEvent, selectHeldEvents } from "../../../db/held_events.ts";
import type { Deps } from "../../deps.ts";
import { type EmitDeps, notifyPeople } from "../../events/emit.ts";
import type { AppEvent } from "../../events/events.ts";
import { eventKind } from "../../events/kinds/mod.ts";
import { currentPause } from "./silencer.ts";

type HeldDeps = EmitDeps & Pick<Deps, "fleet" | "inventory">;

/** Reports the problems whose silence or maintenance is over. */
export function reportHeldEvents(deps: HeldDeps): void {
  const { db } = deps;
  for (const { thread, event, cause } of selectHeldEvents(db) as Held[]) {
    if (currentPause(deps, cause)) continue;
    const lasts = isLasting(deps, event);
    if (lasts === undefined) continue;
    db.transaction(() => {
      deleteHeldEvent(db, thread);
      if (lasts) notifyPeople(deps, event);
    });
  }
}

type Held = HeldEvent & { event: AppEvent; cause: AppEvent };

/**
 * Whether a problem of a container still exists, because not every end is an event: containers are
 * removed, or become healthy. Other problems are no longer held once they ended.
 *
 * @returns `undefined` while the state of the containers is unknown.
 */
function isLasting(
  deps: HeldDeps,
  event: AppEvent,
): boolean | undefined {
  const { lasts } = eventKind(event.event);
  const isGone = event.host !== undefined && !selectFleetHost(deps.db, event.serverId);
  if (isGone) return false;
  if (!lasts) return true;
  const containers = containersAt(deps, event);
  if (!containers) return undefined;
  const { container: name } = event.data as { container: string };
  const container = containers.find((each) => each.name === name);
  return container !== undefined && lasts(container);
}

/** The containers of the server or host of an event; `undefined` while they are not known. */
function containersAt(
  { fleet, inventory }: HeldDeps,
  { host, serverId }: AppEvent,
): readonly { name: string; state: string; health: string | null }[] | undefined {
  if (host === undefined) return inventory.live ? inventory.list() : undefined;
  const copy = fleet.copies.get(serverId);
  return copy?.asOf.containers ? [...copy.lists.containers.values()] : undefined;
}
