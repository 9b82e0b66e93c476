/** Events of problems that last. @module */

/** Problem that an event begins or ends. */
export interface Problem {
  key: string;
  phase: "begin" | "end";
  /** Keys of other problems that end with it. */
  alsoEnds?: readonly string[];
}

/**
 * Leaves out the events about problems that have ended since.
 *
 * @param events Newest first: a problem may have begun again after its end.
 */
export function lasting<Event extends { problem?: Problem }>(events: readonly Event[]): Event[] {
  const ended = new Set<string>();
  return events.filter(({ problem }) => {
    if (problem?.phase === "end") {
      for (const key of [problem.key, ...problem.alsoEnds ?? []]) ended.add(key);
    }
    return problem === undefined || !ended.has(problem.key);
  });
}
