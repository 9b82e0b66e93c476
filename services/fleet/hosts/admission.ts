/** Limits of handshakes with a hub, before anything is computed for one. @module */

import { addressGroup } from "../../access/address_group.ts";
import { AppError } from "../../errors.ts";

/**
 * Limit of handshakes that begin in a second, of those that have not ended, and of those of one client:
 * hosts behind one address try again.
 */
const SECOND_MAX = 20;
const OPEN_MAX = 64;
const OPEN_OF_CLIENT_MAX = 8;

/** A handshake that has not ended. */
interface Place {
  /** Ends it; only while the peer has sent nothing. */
  giveUp?: () => void;
}

/** Part of the limits for clients that no host has connected from: others must not keep hosts away. */
const UNKNOWN_PART = 1 / 2;

export type Admission = ReturnType<typeof createAdmission>;

/** @param isKnown Whether a host has connected from an address of the group. */
export function createAdmission(now: () => Date, isKnown: (group: string) => boolean) {
  let second = 0;
  let begun = 0;
  /** With the client, oldest first. */
  const open = new Map<Place, string>();

  /** Frees a place, because a host that is not silent needs it for some milliseconds only. */
  function giveUpOldest(isMeant: (client: string) => boolean): boolean {
    for (const [place, client] of open) {
      if (!place.giveUp || !isMeant(client)) continue;
      open.delete(place);
      place.giveUp();
      return true;
    }
    return false;
  }

  function hasPlace(client: string, max: number): boolean {
    const isOfClient = (other: string) => other === client;
    const ofClient = open.values().filter(isOfClient).toArray().length;
    if (ofClient >= OPEN_OF_CLIENT_MAX) return giveUpOldest(isOfClient);
    return open.size < max || giveUpOldest(() => true);
  }

  return {
    /**
     * Runs a handshake. Where all places are taken, the oldest silent one is given up.
     *
     * @throws {AppError} `unavailable`, synchronously, if there are too many; what `handshake` throws.
     */
    run(address: string, handshake: (place: Place) => Promise<void>): void {
      const client = addressGroup(address);
      const current = Math.floor(now().getTime() / 1000);
      if (current !== second) begun = 0;
      second = current;
      const part = isKnown(client) ? 1 : UNKNOWN_PART;
      if (begun >= SECOND_MAX * part || !hasPlace(client, OPEN_MAX * part)) {
        throw new AppError("unavailable", "Too many hosts connect at the same time; try again");
      }
      begun++;
      const place: Place = {};
      open.set(place, client);
      try {
        handshake(place).finally(() => open.delete(place));
      } catch (error) {
        open.delete(place);
        throw error;
      }
    },
  };
}
