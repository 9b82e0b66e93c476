/**
 * Counts changes by requests and by what the service does itself, apart from those of containers, so
 * that clients know when to read a resource again.
 *
 * @module
 */

export type Changes = ReturnType<typeof createChanges>;

export function createChanges() {
  const counts = new Map<string, number>();
  let total = 0;
  return {
    /** Counts a change. `resource` is the path of what has changed, e.g. `/api/webhooks`. */
    record(resource: string): void {
      counts.set(resource, (counts.get(resource) ?? 0) + 1);
      total++;
    },
    /** Number of all changes since the start. */
    get total() {
      return total;
    },
    /** Number of changes of each resource. */
    get counts(): Record<string, number> {
      return Object.fromEntries(counts);
    },
  };
}
