/** The update of everything that has a newer image. @module */

import { api } from "../../api/client.ts";
import type { ImageUpdate } from "../../api/types.ts";
import { confirm } from "../../components/dialog.tsx";
import { count, plain } from "../../base/text.ts";
import { hasRole } from "../../state/session.ts";
import { sentenceOf, showAlert, showStatus } from "../../state/toasts.ts";
import { isAvailable } from "./columns.tsx";

type Container = ImageUpdate["containers"][number];

const isWanted = ({ blocked, policy }: Container) => !blocked && policy !== "off";

/** The containers that an update of all installs a newer image in. */
export const outdatedContainers = (updates: readonly ImageUpdate[]): Container[] =>
  updates.filter(isAvailable).flatMap(({ containers }) => containers.filter(isWanted));

/**
 * Stacks of which several containers are updated, so that this happens in the order in which these
 * depend on each other. Stacks with a container whose image cannot be pulled or is not wanted are
 * left out, because it would end the update of the stack.
 */
function stacksOf(updates: readonly ImageUpdate[], outdated: readonly Container[]): string[] {
  if (!hasRole("operator", "stacks:update")) return [];
  const kept = new Set(
    updates.flatMap((update) => {
      const isCurrent = update.status === "up_to_date" || isAvailable(update);
      return update.containers.filter((each) => !isCurrent || !isWanted(each))
        .map(({ stack }) => stack);
    }),
  );
  const counts = Map.groupBy(outdated, ({ stack }) => stack);
  return [...counts].flatMap(([stack, { length }]) =>
    stack !== null && length > 1 && !kept.has(stack) ? [stack] : []
  );
}

/** Confirms and starts the updates, each as a job. */
export async function updateAll(updates: readonly ImageUpdate[]): Promise<void> {
  const outdated = outdatedContainers(updates);
  const consequence = `${outdated.map(({ name }) => plain(name)).join(", ")}: each is recreated ` +
    "from its newest image, and returns to what it runs now if that fails.";
  const what = count(outdated.length, "container");
  if (!await confirm({ verb: "Update", name: what, consequence, isSafe: true })) return;

  const stacks = stacksOf(updates, outdated);
  const single = outdated.filter(({ stack }) => stack === null || !stacks.includes(stack));
  const starts = [
    ...stacks.map((name) => () =>
      api("POST /api/stacks/{name}/update", { path: { name }, body: {} })
    ),
    ...single.map(({ id }) => () =>
      api("POST /api/containers/{id}/update", { path: { id }, body: {} })
    ),
  ];
  const refusals: string[] = [];
  for (const start of starts) {
    try {
      await start();
    } catch (error) {
      refusals.push(plain(sentenceOf(error)));
    }
  }
  const started = starts.length - refusals.length;
  if (started > 0) showStatus(`Started ${count(started, "update")}`);
  if (refusals.length > 0) {
    showAlert(`${refusals.length} of ${starts.length} not started. ${refusals.join("; ")}`);
  }
}
