/** The last state of the link from this member to its hub, for commands and for the next start. @module */

import type { Database } from "./database.ts";
import { deleteSetting, selectSetting, upsertSetting } from "./settings.ts";

const SETTING = "fleet_hub_link";

export interface HubLinkState {
  isOpen: boolean;
  /** Since when it is open or closed (ISO 8601, UTC); `null` if it was never open. */
  since: string | null;
  /** Why the last one ended or could not be opened. */
  reason: string | null;
  /** Since when the hub refuses this host as unknown; `null` if it does not. */
  unknownSince: string | null;
}

const NEVER_OPEN: HubLinkState = { isOpen: false, since: null, reason: null, unknownSince: null };

export function selectHubLinkState(db: Database): HubLinkState {
  const text = selectSetting(db, SETTING);
  return text === undefined ? NEVER_OPEN : { ...NEVER_OPEN, ...JSON.parse(text) };
}

export function upsertHubLinkState(db: Database, state: HubLinkState): void {
  upsertSetting(db, SETTING, JSON.stringify(state));
}

export function deleteHubLinkState(db: Database): void {
  deleteSetting(db, SETTING);
}
