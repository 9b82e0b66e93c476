/**
 * The plan of a stack with stored sources.
 *
 * @module
 */

import { containerInspect, containerList } from "../../../../engine/containers.ts";
import type { ContainerConfig } from "../../../../engine/containers.ts";
import { ifThere } from "../../../../engine/errors.ts";
import { imageInspect } from "../../../../engine/images.ts";
import { networkList } from "../../../../engine/networks.ts";
import { volumeList } from "../../../../engine/volumes.ts";
import type { Deps } from "../../../deps.ts";
import { AppError } from "../../../errors.ts";
import type { Project } from "../load/resolve.ts";
import { openCurrentSource } from "../sources.ts";
import { loadStack } from "../validate.ts";
import type { Observed, StackPlan } from "./plan.ts";

const PROJECT_LABEL = "com.docker.compose.project";
const ONE_OFF_LABEL = "com.docker.compose.oneoff";

/** Parallel requests to the engine. */
const REQUESTS_MAX = 8;

/**
 * Compares the current sources of a stack with the engine. Changes nothing.
 *
 * @throws {AppError} `not_found` for a stack without stored sources; `conflict` for a Swarm stack,
 * and if this version does not accept the sources any more.
 */
export async function planStoredStack(
  deps: Pick<Deps, "db" | "secrets" | "engine">,
  name: string,
): Promise<StackPlan & { version: number }> {
  const { kind, sources, version } = openCurrentSource(deps, name);
  if (kind === "swarm") throw new AppError("conflict", `${name} is a Swarm stack`);
  const { project, errors: [error], warnings } = await loadStack(sources, {
    name,
    refusesRelative: true,
  });
  if (!project) {
    throw new AppError("conflict", `${error?.line}: ${error?.path} ${error?.message}`);
  }
  const { planProject } = await import("./plan.ts");
  const plan = planProject(project, await observe(deps, project));
  return {
    version,
    changes: plan.changes,
    warnings: [
      ...warnings.map(({ line, path, message }) => `${line}: ${path} ${message}`),
      ...plan.warnings,
    ],
  };
}

async function observe({ engine }: Pick<Deps, "engine">, project: Project): Promise<Observed> {
  const [listed, networks, volumes] = await Promise.all([
    containerList(engine, {
      all: true,
      filters: { label: [`${PROJECT_LABEL}=${project.name}`] },
    }),
    networkList(engine),
    volumeList(engine),
  ]);
  const own = listed.filter(({ Labels }) => Labels?.[ONE_OFF_LABEL]?.toLowerCase() !== "true");
  const inspects = await inParallel(own, ({ Id }) => ifThere(containerInspect(engine, Id)));
  const containers = inspects.filter((inspect) => inspect !== undefined);

  const ids = [...new Set(containers.map(({ Image }) => Image))];
  const references = [...new Set(Object.values(project.services).map(({ image }) => image))];
  const [used, wanted] = await Promise.all(
    [ids, references].map((images) =>
      inParallel(
        images,
        async (image) => [image, await ifThere(imageInspect(engine, image))] as const,
      )
    ),
  );
  return {
    containers,
    images: new Map(
      used!.flatMap(([id, image]): [string, ContainerConfig][] =>
        image ? [[id, image.Config ?? {}]] : []
      ),
    ),
    imageIds: new Map(
      wanted!.flatMap(([reference, image]) => image ? [[reference, image.Id]] : []),
    ),
    networks: new Set(networks.map(({ Name }) => Name)),
    volumes: new Set(volumes.map(({ Name }) => Name)),
  };
}

async function inParallel<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < items.length; at += REQUESTS_MAX) {
    results.push(...await Promise.all(items.slice(at, at + REQUESTS_MAX).map(work)));
  }
  return results;
}
