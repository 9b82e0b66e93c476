/** Repeated work of which one run is enough for all that was requested before it. @module */

/** @returns Runs `work`, or lets a run that has begun be followed by one more. */
export function oneAtATime(work: () => Promise<void>): () => void {
  let isRunning = false;
  let isRequested = false;
  const run = async () => {
    isRunning = true;
    try {
      while (isRequested) {
        isRequested = false;
        await work();
      }
    } finally {
      isRunning = false;
    }
  };
  return () => {
    isRequested = true;
    if (!isRunning) void run();
  };
}
