/** The last membership, if the hub has ended it and this installation has joined no fleet since. @module */

import type { Database } from "./database.ts";
import { deleteSetting, selectSetting, upsertSetting } from "./settings.ts";

const SETTING = "fleet_ended_membership";

export interface EndedMembership {
  /** Name of the hub, and that of this host there. */
  hub: string;
  name: string;
  /** Sentence of the hub. */
  reason: string;
  /** ISO 8601, UTC. */
  endedAt: string;
}

export function selectEndedMembership(db: Database): EndedMembership | undefined {
  const text = selectSetting(db, SETTING);
  return text === undefined ? undefined : JSON.parse(text);
}

export function upsertEndedMembership(db: Database, ended: EndedMembership): void {
  upsertSetting(db, SETTING, JSON.stringify(ended));
}

/** @returns Whether there was one. */
export function deleteEndedMembership(db: Database): boolean {
  return deleteSetting(db, SETTING);
}
