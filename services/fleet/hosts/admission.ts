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

export type Admission = ReturnType<typeof createAdmission>;

export function createAdmission(now: () => Date) {
  let second = 0;
  let begun = 0;
  let open = 0;
  const ofClients = new Map<string, number>();

  function count(client: string, change: 1 | -1): void {
    open += change;
    const left = (ofClients.get(client) ?? 0) + change;
    if (left === 0) ofClients.delete(client);
    else ofClients.set(client, left);
  }

  return {
    /**
     * Runs a handshake.
     *
     * @throws {AppError} `unavailable`, synchronously, if there are too many; what `handshake` throws.
     */
    run(address: string, handshake: () => Promise<void>): void {
      const client = addressGroup(address);
      const current = Math.floor(now().getTime() / 1000);
      if (current !== second) begun = 0;
      second = current;
      if (
        begun >= SECOND_MAX || open >= OPEN_MAX ||
        (ofClients.get(client) ?? 0) >= OPEN_OF_CLIENT_MAX
      ) {
        throw new AppError("unavailable", "Too many hosts connect at the same time; try again");
      }
      begun++;
      count(client, 1);
      try {
        handshake().finally(() => count(client, -1));
      } catch (error) {
        count(client, -1);
        throw error;
      }
    },
  };
}
