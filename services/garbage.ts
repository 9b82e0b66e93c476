/**
 * Garbage collection on demand, for work after which the runtime would keep the memory for long.
 *
 * @module
 */

/** `last-resort` collects as much as it can, which takes longer. */
type Flavor = "regular" | "last-resort";

/** Collects garbage before it returns, if the runtime exposes the function (`--expose-gc`). */
export function collectGarbage(flavor: Flavor = "regular"): void {
  const { gc } = globalThis as {
    gc?: (options: { type: "major"; execution: "sync"; flavor: Flavor }) => void;
  };
  gc?.({ type: "major", execution: "sync", flavor });
}
