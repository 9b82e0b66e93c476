/** Images in use that have a newer one. @module */

import type { ImageUpdate } from "../api/types.ts";
import { useRead, useReloadOn } from "../components/reading.ts";
import { engineReachable } from "../state/live.ts";

/** Keeps them up to date while a component is shown; `undefined` until they are known. */
export function useImageUpdates(): readonly ImageUpdate[] | undefined {
  const { data, reload } = useRead(
    "GET /api/updates",
    engineReachable.value ? { query: { status: "update_available" } } : undefined,
  );
  useReloadOn("image.update_available", reload);
  useReloadOn("update.succeeded", reload);
  return data.value?.updates;
}
