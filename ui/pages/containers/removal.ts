/** Removes a container, after a confirmation that says what goes with it. @module */

import { api } from "../../api/client.ts";
import type { Container } from "../../api/types.ts";
import { count, plain } from "../../base/text.ts";
import { confirm } from "../../components/dialog.tsx";
import { withResult } from "../../state/toasts.ts";

/**
 * @param volumes Number of its volumes, where it is known.
 * @returns Whether it was removed.
 */
export async function removeContainer(
  { id, name, state }: Pick<Container, "id" | "name" | "state">,
  volumes?: number,
): Promise<boolean> {
  const isUp = state === "running" || state === "paused" || state === "restarting";
  const kept = volumes === undefined ? "volumes" : volumes > 0 && count(volumes, "volume");
  const consequence = `${isUp ? "The container is running and is killed first. " : ""}` +
    `The container ${plain(name)} and all files in it are deleted.` +
    (kept ? ` Its ${kept} and their files are kept.` : "");
  if (!await confirm({ verb: "Remove", name, consequence })) return false;
  return withResult(
    `Removed ${plain(name)}`,
    () => api("DELETE /api/containers/{id}", { path: { id }, query: { force: isUp } }),
  );
}
