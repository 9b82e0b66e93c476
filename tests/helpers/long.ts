/** Tests that the gate leaves out. @module */

/** Set to `off` by `tests/run.ts` for the gate. */
export const LONG_VARIABLE = "LONGSHORE_LONG_TESTS";

/**
 * Registers a test that the gate leaves out, because a cheaper one proves the same promise, e.g.
 * `long(engineTest)("…", run)`: a variant, the same with the other engine, a fault at each call, or a
 * page whose endpoints are tested without a browser.
 */
export const long = <Register extends (...args: never[]) => void>(register: Register): Register =>
  Deno.env.get(LONG_VARIABLE) === "off" ? (() => {}) as unknown as Register : register;
