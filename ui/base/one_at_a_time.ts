/** Repeated work of which one run is enough for all that was requested before it. @module */

/** @returns Runs `work`, or lets a run that has begun be followed by one more. */
export function oneAtATime(work: () => Promise<void>): () => void {
  let requests = 0;
  return async () => {
    if (requests++) return;
    try {
      do {
        requests = 1;
        await work();
      } while (requests > 1);
    } finally {
      requests = 0;
    }
  };
}
