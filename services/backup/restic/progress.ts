/** Reports of progress that are not sent too often. @module */

const INTERVAL_MS = 200;

/** Calls `report` with every first values of 200 ms. */
export function slowly<Values extends unknown[]>(
  report: (...values: Values) => void,
): (...values: Values) => void {
  let last = -INTERVAL_MS;
  return (...values) => {
    const now = performance.now();
    if (now - last < INTERVAL_MS) return;
    last = now;
    report(...values);
  };
}
