/** Actions on a stack besides starting, stopping and restarting it. @module */

import { api, ApiError } from "../../api/client.ts";
import type { StackDetail } from "../../api/types.ts";
import { confirm } from "../../components/dialog.tsx";
import type { MenuItem } from "../../components/menu.tsx";
import { count, plain } from "../../base/text.ts";
import { stackPath } from "../../paths.ts";
import { navigate } from "../../state/router.ts";
import { hasRole } from "../../state/session.ts";
import { withResult } from "../../state/toasts.ts";
import { reportJob } from "../../state/jobs.ts";
import { rollBackStack } from "../updates/roll_back.tsx";

/** The actions that apply now. */
export function moreActions(stack: StackDetail, onChange: () => void): MenuItem[] {
  if (!hasRole("admin", "stacks:write")) return [];
  const isCompose = stack.kind === "compose";
  const isDeployed = isCompose && stack.containerCount > 0;
  const items: MenuItem[] = [];
  if (isCompose && !stack.hasSources) {
    items.push({ name: "Adopt", onSelect: () => navigate(stackPath(stack, "source")) });
  }
  if (isDeployed) {
    items.push({ name: "Roll back", onSelect: () => void rollBackStack(stack) });
    items.push({
      name: "Down",
      danger: true,
      onSelect: () => void takeDown(stack).then(onChange),
    });
  }
  if (stack.hasSources && !isDeployed) {
    items.push({ name: "Delete", danger: true, onSelect: () => void deleteStack(stack) });
  }
  return items;
}

/** Confirms and removes the containers and networks of a Compose project. */
async function takeDown({ name, services, hasSources }: StackDetail): Promise<void> {
  const names = services.flatMap(({ containers }) => containers.map(({ name }) => plain(name)));
  const options = { volumes: false, images: false };
  const option = (key: keyof typeof options, label: string) => (
    <>
      <br />
      <label class="check">
        <input
          type="checkbox"
          onChange={({ currentTarget: { checked } }) => options[key] = checked}
        />
        {label}
      </label>
    </>
  );
  const consequence = (
    <>
      {count(names.length, "container")} and the networks of the stack are removed:{" "}
      {names.join(", ")}. {hasSources
        ? "Its sources are kept."
        : "Longshore does not have its sources and cannot deploy it again."}
      {option("volumes", "Remove its volumes with all data")}
      {option("images", "Remove images that no other container uses")}
    </>
  );
  if (!await confirm({ verb: "Down", name, consequence, typed: true })) return;
  const body = { volumes: options.volumes, images: options.images ? "local" : "none" } as const;
  await reportJob(
    () => api("POST /api/stacks/{name}/down", { path: { name }, body }),
    `Removed ${plain(name)}`,
  );
}

/** Confirms and deletes the sources. */
export async function deleteStack({ name }: Pick<StackDetail, "name">): Promise<void> {
  const path = { name };
  const [versions, directory] = !hasRole("operator", "stack_sources:read")
    ? []
    : await Promise.all([
      api("GET /api/stacks/{name}/versions", { path }).then(({ versions }) => versions.length),
      api("GET /api/stacks/{name}/source", { path }).then(({ directory }) => directory),
    ]).catch((error) => {
      // Sources that cannot be read can be deleted.
      if (error instanceof ApiError) return [];
      throw error;
    });
  const consequence =
    `The sources of ${plain(name)} ${versions ? `and all ${count(versions, "version")} ` : ""}` +
    `are deleted from Longshore.` +
    (directory ? ` The files in ${plain(directory)} stay.` : "");
  if (!await confirm({ verb: "Delete", name, consequence, typed: true })) return;
  const isDeleted = await withResult(
    `Deleted ${plain(name)}`,
    () => api("DELETE /api/stacks/{name}", { path }),
  );
  if (isDeleted) navigate("/stacks");
}
