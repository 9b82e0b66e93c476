/** Loads the parts for a server with a fleet, which others do not need. @module */

import { signal } from "@preact/signals";
import { HOST } from "../state/root.ts";
import { reloadIfReachable } from "./reload.ts";

/** `undefined` until they are loaded. */
export const fleetParts = signal<typeof import("./fleet.tsx") | undefined>(undefined);

const isNeeded = HOST !== undefined || document.documentElement.dataset.fleet === "on";

export function loadFleetParts(): void {
  if (!isNeeded || fleetParts.peek()) return;
  import("./fleet.tsx").then(async (module) => {
    // The host's limit is known before its first page is drawn.
    await module.readRoleAtHost();
    fleetParts.value = module;
  }).catch(reloadIfReachable);
}
