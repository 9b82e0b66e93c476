/** Events of problems that last. @module */

/**
 * Leaves out the events about problems that have ended since.
 *
 * @param events Newest first: a problem may have begun again after its end.
 */
export function lasting<Event extends { problem?: { key: string; phase: "begin" | "end" } }>(
  events: readonly Event[],
): Event[] {
  const ended = new Set<string>();
  return events.filter(({ problem }) => {
    if (problem?.phase === "end") ended.add(problem.key);
    return problem === undefined || !ended.has(problem.key);
  });
}
