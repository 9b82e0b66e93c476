/**
 * Problems that began during a silence or maintenance: those that last longer are reported once.
 *
 * @module
 */

import { deleteHeldEvent, type HeldEvent, selectHeldEvents } from "../../../db/held_events.ts";
import type { Deps } from "../../deps.ts";
import { type EmitDeps, notifyPeople } from "../../events/emit.ts";
import type { AppEvent } from "../../events/events.ts";
import { eventKind } from "../../events/kinds/mod.ts";
import { currentPause } from "./silencer.ts";

type HeldDeps = EmitDeps & Pick<Deps, "inventory">;

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
  { inventory }: Pick<Deps, "inventory">,
  { event, data }: AppEvent,
): boolean | undefined {
  const { lasts } = eventKind(event);
  if (!lasts) return true;
  if (!inventory.live) return undefined;
  const { container: name } = data as { container: string };
  const container = inventory.list().find((each) => each.name === name);
  return container !== undefined && lasts(container);
}
