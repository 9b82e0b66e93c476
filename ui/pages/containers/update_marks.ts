/** Marks of containers that have an update. @module */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useImageUpdates } from "../../parts/image_updates.ts";

/** Ids of containers with an update. */
export const outdated = signal<ReadonlySet<string>>(new Set());

/** Keeps {@linkcode outdated} up to date while a component is shown. */
export function useUpdateMarks(): void {
  const updates = useImageUpdates();
  useEffect(() => {
    const ids = (updates ?? []).flatMap(({ containers }) => containers.map(({ id }) => id));
    const known = outdated.peek();
    // A new set would write every row again.
    if (ids.length === known.size && ids.every((id) => known.has(id))) return;
    outdated.value = new Set(ids);
  }, [updates]);
}
