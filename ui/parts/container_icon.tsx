/** Icons of containers. They are read when the first one is shown, and again for an unknown one. @module */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { api } from "../api/client.ts";

/** Images by id. */
const images = signal<ReadonlyMap<string, string>>(new Map());

/** Ids that were looked for, so that an unknown one is looked for once. */
const sought = new Set<string>();

let isReading = false;

/** Decorates a name, which says the same. */
export function ContainerIcon({ id }: { id: string | null }) {
  useEffect(() => {
    if (id !== null && !images.peek().has(id) && !sought.has(id)) read(id);
  }, [id]);
  const url = id === null ? undefined : images.value.get(id);
  return url === undefined
    ? null
    : <img class="app-icon" src={url} alt="" width={16} height={16} />;
}

/** Icons of containers that are shown together are read together. */
function read(id: string): void {
  sought.add(id);
  if (isReading) return;
  isReading = true;
  queueMicrotask(async () => {
    try {
      const { icons } = await api("GET /api/icons");
      images.value = new Map(icons.map(({ id, url }) => [id, url]));
    } catch { /* Names do without. */ }
    isReading = false;
  });
}
