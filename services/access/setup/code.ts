/** The setup code, which proves that a client may set up the server: only its operator sees the code. @module */

import { nodeCrypto } from "../../builtins.ts";
import { AppError } from "../../errors.ts";
import { makeTypedCode, normalizeTypedCode } from "../typed_code.ts";

const LENGTH = 12;

/** A code as a person may type it. */
export const SETUP_CODE = /^(?:[2-9A-HJ-NP-Za-hj-np-z]{4}[- ]?){2}[2-9A-HJ-NP-Za-hj-np-z]{4}$/;

export const SETUP_CODE_MINUTES = 60;

/** Wrong codes after which the code is not accepted any more. */
const FAILURES_MAX = 10;

export type SetupCode = ReturnType<typeof createSetupCode>;

/**
 * Creates the code of this start. It is kept in memory only: the next start creates another. It gives
 * nothing but the setup, so that it may stand in a log.
 */
export function createSetupCode(now: () => Date) {
  const text = makeTypedCode(LENGTH);
  const endsAt = now().getTime() + SETUP_CODE_MINUTES * 60_000;
  let failures = 0;
  let isTaken = false;

  const assertInForce = () => {
    if (now().getTime() >= endsAt) throw refused("The setup code has expired");
    if (failures >= FAILURES_MAX) throw refused("The setup code has ended after 10 wrong codes");
  };

  return {
    /** E.g. `K7QF-2MXA-9RTD`, 60 bits. */
    text,
    /** Whether it is neither expired nor ended by wrong codes. */
    get isInForce(): boolean {
      return now().getTime() < endsAt && failures < FAILURES_MAX;
    },
    /**
     * Takes the code for one setup. Disposing of the result gives it back, for a setup that failed.
     *
     * @throws {AppError} `unauthorized` for a wrong code, and for any code after the end of this one;
     * `conflict` while another setup has it.
     */
    take(given: string): Disposable {
      assertInForce();
      if (!isSame(normalizeTypedCode(given), text)) {
        failures++;
        assertInForce();
        throw new AppError("unauthorized", "The setup code is wrong");
      }
      if (isTaken) throw new AppError("conflict", "Another browser is using this setup code");
      isTaken = true;
      return { [Symbol.dispose]: () => void (isTaken = false) };
    },
  };
}

const refused = (sentence: string) =>
  new AppError("unauthorized", `${sentence}; restart the service to get another`);

/** Compares in constant time. Both have the length of a code. */
const isSame = (left: string, right: string): boolean =>
  nodeCrypto().timingSafeEqual(new TextEncoder().encode(left), new TextEncoder().encode(right));
