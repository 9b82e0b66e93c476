/** Limits of handshakes with a hub, before anything is computed for one. @module */

import { AppError } from "../../errors.ts";

/** Limit of handshakes that begin in a second, and of those that have not ended. */
const SECOND_MAX = 20;
const OPEN_MAX = 64;

export type Admission = ReturnType<typeof createAdmission>;

export function createAdmission(now: () => Date) {
  let second = 0;
  let begun = 0;
  let open = 0;
  return {
    /**
     * Runs a handshake.
     *
     * @throws {AppError} `unavailable`, synchronously, if there are too many; what `handshake` throws.
     */
    run(handshake: () => Promise<void>): void {
      const current = Math.floor(now().getTime() / 1000);
      if (current !== second) begun = 0;
      second = current;
      if (begun >= SECOND_MAX || open >= OPEN_MAX) {
        throw new AppError("unavailable", "Too many hosts connect at the same time; try again");
      }
      begun++;
      open++;
      try {
        handshake().finally(() => open--);
      } catch (error) {
        open--;
        throw error;
      }
    },
  };
}
