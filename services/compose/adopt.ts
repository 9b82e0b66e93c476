/**
 * Adopts a project that was deployed elsewhere: from then on its sources are stored here.
 *
 * @module
 */

import { selectCurrentVersion } from "../../db/stack_versions.ts";
import type { Caller } from "../access/caller.ts";
import type { Deps } from "../deps.ts";
import { AppError, notFound } from "../errors.ts";
import type { ReadDeps } from "../containers/reads.ts";
import { placeOfProject, readSources } from "./disk_sources.ts";
import type { StackPlan } from "./plan/plan.ts";
import { planSources } from "./plan/stored.ts";
import { type FileDeps, withHostFiles } from "./project_files.ts";
import { restoreSources } from "./redacted_sources.ts";
import { type SourcesView, viewSources } from "./source_view.ts";
import { storeNewStack } from "./sources.ts";
import type { SourceOrigin } from "./origin.ts";
import type { StackSources, StoredSources } from "./validate.ts";

export interface Adoption extends Pick<StackPlan, "changes" | "warnings"> {
  /** Whether the sources were stored. */
  adopted: boolean;
  /** Those that were planned. */
  sources: SourcesView;
}

/** Sources without a text are those on disk that the labels of the containers name. */
type AdoptedSources = Omit<StackSources, "compose"> & { compose?: string | undefined };

/**
 * Plans the deploy of the sources, and stores them if it recreates no container or the caller
 * accepts that. Containers and files stay as they are. A dry run stores nothing.
 *
 * @throws {AppError} `not_found` for a project without containers; `invalid` for sources that cannot
 * be deployed; `conflict` for a stack that has sources, and for files that cannot be read.
 */
export async function adoptStack(
  deps: FileDeps & ReadDeps & Pick<Deps, "db" | "secrets">,
  caller: Caller,
  name: string,
  { acceptRecreate, dryRun, compose, ...rest }: AdoptedSources & {
    acceptRecreate: boolean;
    dryRun: boolean;
  },
): Promise<Adoption> {
  if (selectCurrentVersion(deps.db, name)) {
    throw new AppError("conflict", `Stack ${name} already has sources`);
  }
  const sources = compose === undefined
    ? await sourcesOnDisk(deps, name, rest.profiles)
    : restoreSources<StoredSources>({ compose, ...rest }, undefined);
  const { changes, warnings, isDeployed } = await planSources(deps, caller, name, sources);
  if (!isDeployed) throw notFound("Stack", name);
  const adopted = !dryRun &&
    (acceptRecreate || changes.every(({ action }) => action !== "recreate"));
  if (adopted) {
    const origin = originOf(sources);
    await storeNewStack(deps, caller, { name, kind: "compose", sources: { ...sources, origin } });
  }
  return { adopted, changes, warnings, sources: viewSources(caller, sources) };
}

const originOf = ({ place }: StoredSources): SourceOrigin =>
  place ? { kind: "host", path: place.configFiles[0]! } : { kind: "text", path: null };

async function sourcesOnDisk(deps: FileDeps, name: string, profiles: string[] | undefined) {
  const place = await placeOfProject(deps, name);
  return await withHostFiles(
    deps,
    place.directory,
    "read",
    (files) => readSources(deps, files, place, { profiles }),
  );
}
