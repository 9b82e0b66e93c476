/**
 * What was changed, apart from containers: clients that show it read it again.
 *
 * @module
 */

export type Changes = ReturnType<typeof createChanges>;

export function createChanges() {
  const counts = new Map<string, number>();
  let total = 0;
  let byRequests = 0;
  return {
    /**
     * Counts a change.
     *
     * @param resource Path of what has changed, e.g. `/api/webhooks`.
     * @param options.isRequested Whether a request caused it: clients are informed at once, otherwise
     *   with the next state of the host.
     */
    record(resource: string, { isRequested }: { isRequested: boolean }): void {
      counts.set(resource, (counts.get(resource) ?? 0) + 1);
      total++;
      if (isRequested) byRequests++;
    },
    /** Number of all changes since the start, and of those by requests. */
    get total() {
      return total;
    },
    get byRequests() {
      return byRequests;
    },
    /** Number of changes of each resource. */
    get counts(): Record<string, number> {
      return Object.fromEntries(counts);
    },
  };
}
