/**
 * Which containers have an update.
 *
 * @module
 */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useRead, useReloadOn } from "../../components/reading.ts";
import { engineReachable } from "../../state/live.ts";

/** Ids of containers with an update. */
export const outdated = signal<ReadonlySet<string>>(new Set());

/** Keeps {@linkcode outdated} up to date while a component is shown. */
export function useUpdateMarks(): void {
  const { data, reload } = useRead("GET /api/updates", engineReachable.value ? {} : undefined);
  useReloadOn("image.update_available", reload);
  useReloadOn("update.succeeded", reload);
  useEffect(() => {
    const updates = data.value?.updates ?? [];
    const ids = updates.filter(({ status }) => status === "update_available")
      .flatMap(({ containers }) => containers.map(({ id }) => id));
    const known = outdated.peek();
    // A new set would draw every row again.
    if (ids.length === known.size && ids.every((id) => known.has(id))) return;
    outdated.value = new Set(ids);
  }, [data.value]);
}
