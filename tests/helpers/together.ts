/** Parts of a test that mostly wait, at the same time. @module */

/**
 * Runs all parts and waits until each of them has ended.
 *
 * @param parts By what they show, for the error.
 * @throws {Error} With the failures of all parts.
 */
export async function together(parts: Record<string, () => Promise<void>>): Promise<void> {
  const names = Object.keys(parts);
  const outcomes = await Promise.allSettled(Object.values(parts).map((run) => run()));
  const failures = outcomes.flatMap((outcome, index) =>
    outcome.status === "rejected" ? [`${names[index]}: ${outcome.reason?.stack}`] : []
  );
  if (failures.length > 0) throw new Error(failures.join("\n\n"));
}
