/** Plans a rehearsal: its containers, and which of their data it copies. @module */

import { type ContainerInspect, containerInspect } from "../../../engine/containers.ts";
import { ifThere } from "../../../engine/errors.ts";
import { imageInspect } from "../../../engine/images.ts";
import { systemInfo } from "../../../engine/system.ts";
import type { MountSource } from "../../containers/helper_container.ts";
import type { Container } from "../../containers/inventory.ts";
import { withOwnPolicy } from "../../containers/left_stopped.ts";
import { parseDependsOn } from "../../containers/order.ts";
import { isUp, listAll, type ReadDeps } from "../../containers/reads.ts";
import { dependentsOf, refersTo } from "../../containers/share_group.ts";
import { unique } from "../../unique.ts";
import type { Deps } from "../../deps.ts";
import { DEPENDS_ON_LABEL } from "../../stacks/groups.ts";
import { isInside } from "../../text/paths.ts";
import { planMember, sourcesOf, type TrialMember } from "../trial/members.ts";

export interface RehearsalPlan {
  containers: Container[];
  members: TrialMember[];
  /** Names of the containers that the verdict counts, the target first. */
  judged: string[];
  copied: MountSource[];
  /** Files and directories of the host that are not below `STACK_ROOTS`. */
  leftOut: string[];
}

/** New images by the names of the containers that get them. */
export type NewImages = ReadonlyMap<string, string>;

/**
 * @param images Reference or id of the image that each container gets; its own one without an entry.
 * @param targets Names of the containers that are updated.
 */
export async function planRehearsal(
  deps: ReadDeps & Pick<Deps, "config" | "db">,
  targets: readonly string[],
  images: NewImages,
): Promise<RehearsalPlan> {
  const { config, db, engine } = deps;
  const all = await listAll(deps);
  const updated = all.filter(({ name }) => targets.includes(name))
    .sort((one, other) => targets.indexOf(one.name) - targets.indexOf(other.name));
  const replaced = withDependents(updated, all);
  const { DefaultRuntime: defaultRuntime } = await systemInfo(engine);
  const members: TrialMember[] = [];
  const containers = withDependencies(replaced, all);
  for (const { id, name, composeService: service } of containers) {
    const inspect: ContainerInspect = withOwnPolicy(db, await containerInspect(engine, id));
    const own = await ifThere(imageInspect(engine, inspect.Image));
    const image = images.get(name) ?? inspect.Image;
    members.push(planMember(
      { ...inspect, id, name, service },
      { own, image: await imageInspect(engine, image) },
      { apiVersion: engine.apiVersion, defaultRuntime },
    ));
  }
  const sources = sourcesOf(members);
  const isCopied = ({ type, source }: MountSource) =>
    type === "volume" || config.stackRoots.some((root) => isInside(source, root));
  return {
    containers,
    members,
    judged: replaced.filter(isUp).map(({ name }) => name),
    copied: sources.filter(isCopied),
    leftOut: sources.filter((each) => !isCopied(each)).map(({ source }) => source),
  };
}

/** The containers, and those that are replaced with them because they share their namespaces. */
function withDependents(containers: readonly Container[], all: readonly Container[]): Container[] {
  return unique(containers.flatMap((each) => [each, ...dependentsOf(each, all)]), ({ id }) => id);
}

/** The containers, and those that they need: by shared namespaces, links and `depends_on`. */
function withDependencies(
  containers: readonly Container[],
  all: readonly Container[],
): Container[] {
  const found = new Set(containers);
  for (const container of found) {
    for (const other of all) if (needs(container, other)) found.add(other);
  }
  return [...found];
}

function needs(container: Container, other: Container): boolean {
  const { composeProject, labels, links, shares } = container;
  if ([...shares, ...links].some((ref) => refersTo(ref, other))) return true;
  if (composeProject === null || other.composeProject !== composeProject) return false;
  return parseDependsOn(labels[DEPENDS_ON_LABEL]).some(({ service, condition }) =>
    service === other.composeService &&
    (isUp(other) || condition === "service_completed_successfully")
  );
}
