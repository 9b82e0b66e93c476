/**
 * A value that is built from the database, kept in memory and rebuilt after a change.
 *
 * @module
 */

export interface SnapshotCache {
  /**
   * Returns the cached value. `build` creates it if it was cleared or has expired. A cache has one
   * type of value: every call must use the same one.
   *
   * @returns `version` differs for each build.
   */
  read<Value>(
    nowMs: number,
    build: () => { value: Value; expiresMs: number },
  ): { value: Value; version: number };
  /** Must be called after each change of the data. */
  clear(): void;
}

export function createSnapshotCache(): SnapshotCache {
  let version = 0;
  let snapshot: { value: unknown; expiresMs: number } | undefined;
  return {
    read<Value>(nowMs: number, build: () => { value: Value; expiresMs: number }) {
      if (!snapshot || nowMs >= snapshot.expiresMs) {
        snapshot = build();
        version++;
      }
      return { value: snapshot.value as Value, version };
    },
    clear: () => void (snapshot = undefined),
  };
}
