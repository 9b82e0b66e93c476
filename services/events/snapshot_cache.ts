/** A value that is built from the database, kept in memory and rebuilt after a change. @module */

export type SnapshotCache = ReturnType<typeof createSnapshotCache>;

export function createSnapshotCache() {
  let version = 0;
  let snapshot: { value: unknown; expiresMs: number } | undefined;
  return {
    /**
     * Returns the cached value. `build` creates it if it was cleared or has expired. A cache has one
     * type of value: every call must use the same one.
     *
     * @returns `version` differs for each build.
     */
    read<Value>(nowMs: number, build: () => { value: Value; expiresMs: number }) {
      if (!snapshot || nowMs >= snapshot.expiresMs) {
        snapshot = build();
        version++;
      }
      return { value: snapshot.value as Value, version };
    },
    /** Must be called after each change of the data. */
    clear: (): void => void (snapshot = undefined),
  };
}
