/** Ends the problems of containers that were removed, because no other event does. @module */

import { deleteProblem, selectProblemsOfKinds } from "../../db/notification_problems.ts";
import { emit, type EmitDeps } from "../events/emit.ts";
import type { EventMap } from "../events/kinds/mod.ts";
import type { SubjectKind } from "../events/kinds/kind.ts";

/** A crash loop has an end of its own. */
const KINDS: readonly SubjectKind[] = ["down", "ill"];

/** So that its beginning was sent, and `docker compose` has replaced the container. */
const AGE_MIN_MS = 60_000;

/** Emits `container.removed` for each container with a reported problem that no longer exists. */
export function reportRemovedContainers(deps: EmitDeps): void {
  const { db, inventory, now } = deps;
  if (!inventory.live) return;
  const begun = selectProblemsOfKinds(
    db,
    KINDS,
    new Date(now().getTime() - AGE_MIN_MS).toISOString(),
  );
  if (begun.length === 0) return;
  // During a replacement a container has a temporary name.
  const names = new Set(inventory.list().map(({ originalName }) => originalName));
  for (const { key, event } of begun) {
    const { data: { container, id }, host } = event as {
      data: EventMap["container.down"];
      host?: string;
    };
    // A host of the fleet reports its own.
    if (host !== undefined || names.has(container)) continue;
    emit(deps, "container.removed", { container, id });
    // Nothing else does it if the last channel was deleted meanwhile.
    deleteProblem(db, key);
  }
}
