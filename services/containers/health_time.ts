/**
 * Measures how long containers take to become healthy, so that an update gives a slow one time.
 *
 * @module
 */

import { raiseHealthTime } from "../../db/updates/health_times.ts";
import type { EngineEvent } from "../../engine/events.ts";
import type { Deps } from "../deps.ts";

/**
 * Records the time from a container's start to its first successful health check. Called before the
 * container is read again, so that the snapshot still has the state before the event.
 */
export function recordHealthTime(
  { db, inventory, now }: Pick<Deps, "db" | "inventory" | "now">,
  { Action, Actor }: Pick<EngineEvent, "Action" | "Actor">,
): void {
  if (Action !== "health_status: healthy") return;
  const container = inventory.get(Actor.ID);
  if (container?.health !== "starting" || container.startedAt === null) return;
  const ms = now().getTime() - Date.parse(container.startedAt);
  if (ms > 0) raiseHealthTime(db, container.originalName, ms);
}
