/** Containers of the server or host of an event. @module */

import type { ScopedContainer } from "../access/scope.ts";
import type { Deps } from "../deps.ts";
import { type AppEvent, containersOf } from "../events/events.ts";

/** All of this server; of a host those of the event, with the stack that the host has named. */
export const knownContainers = (
  { inventory }: Pick<Deps, "inventory">,
  event: AppEvent,
): readonly ScopedContainer[] =>
  event.host === undefined ? inventory.listFollowed() : containersOf(event).map((name) => ({
    name,
    composeProject: event.stack ?? null,
    labels: {},
  }));
