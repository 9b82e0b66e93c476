/**
 * Adopts a project that was deployed elsewhere: from then on its sources are stored here.
 *
 * @module
 */

import { selectCurrentVersion } from "../../../db/ce/stack_versions.ts";
import type { Caller } from "../../auth/caller.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound } from "../../errors.ts";
import type { StackPlan } from "./plan/plan.ts";
import { planSources } from "./plan/stored.ts";
import { createStackSource } from "./sources.ts";
import type { StackSources } from "./validate.ts";

export interface Adoption extends StackPlan {
  /** Whether the sources were stored. */
  adopted: boolean;
}

/**
 * Plans the deploy of the sources, and stores them if it recreates no container or the caller
 * accepts that. Containers stay as they are.
 *
 * @throws {AppError} `not_found` for a project without containers; `invalid` for sources that cannot
 * be deployed; `conflict` for a stack that has sources.
 */
export async function adoptStack(
  deps: Pick<Deps, "config" | "db" | "secrets" | "engine" | "now" | "log">,
  caller: Caller,
  name: string,
  { acceptRecreate, ...sources }: StackSources & { acceptRecreate: boolean },
): Promise<Adoption> {
  if (selectCurrentVersion(deps.db, name)) {
    throw new AppError("conflict", `Stack ${name} already has sources`);
  }
  const { changes, warnings, isDeployed } = await planSources(deps, name, sources);
  if (!isDeployed) throw notFound("Stack", name);
  const adopted = acceptRecreate || changes.every(({ action }) => action !== "recreate");
  if (adopted) await createStackSource(deps, caller, { name, kind: "compose", ...sources });
  return { adopted, changes, warnings };
}
