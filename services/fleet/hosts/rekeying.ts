/** The hub's side of new keys of a host; `enrolment/rotation.ts` is the host's. @module */

import type { StateDatabase } from "../../../db/database.ts";
import { selectFleetHostByKey } from "../../../db/fleet_hosts.ts";
import { replaceHostNextKeys, selectFleetHostByNextKey } from "../../../db/fleet_next_keys.ts";
import type { Control } from "../link/control.ts";
import type { OpenLink } from "../link/open_link.ts";

/**
 * Stores what a host announces over one link: one pair, because a host uses it from its next connection
 * on, and would else fill the disk and the queue of answers.
 */
export function createRekeying(db: StateDatabase, hostId: string) {
  let announced: Control<"rekey"> | undefined;

  return function receive(message: Control<"rekey">, link: OpenLink): void {
    const { linkKey, noteKey } = message;
    if (announced) {
      // A host repeats it until it has the answer.
      if (announced.linkKey === linkKey && announced.noteKey === noteKey) return;
      return link.close("other new keys were announced before");
    }
    announced = message;
    // A key that another host has would make it this one.
    if (selectFleetHostByKey(db, linkKey)) return;
    const other = selectFleetHostByNextKey(db, linkKey);
    if (other && other.id !== hostId) return;
    replaceHostNextKeys(db, { hostId, linkKey, noteKey });
    link.tell({ type: "rekeyed", linkKey });
  };
}
