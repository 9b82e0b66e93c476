/** Contents of a snapshot of a stack or of volumes, and the containers that write to them. @module */

import type { Deps } from "../deps.ts";
import { isInside } from "../text/paths.ts";
import { type Part, volumePart } from "../backup/trees/part.ts";
import type { Container } from "../containers/inventory.ts";
import { currentContainers, type ReadDeps } from "../containers/reads.ts";
import { AppError } from "../errors.ts";
import { findStack } from "../stacks/stacks.ts";

export interface Contents {
  /** `null` for single volumes. */
  stack: string | null;
  /** The containers of the stack, or those that use the volumes. */
  containers: Container[];
  parts: Part[];
  /** Containers outside of the stack that use one of its volumes or directories. */
  shared: { part: string; container: Container }[];
  /** Directories of the host that the snapshot does not have, because they are not below `STACK_ROOTS`. */
  leftOut: string[];
}

type ContentsDeps = ReadDeps & Pick<Deps, "config" | "db" | "swarm">;

/**
 * The volumes of a compose project and its directories below `STACK_ROOTS`.
 *
 * @throws {AppError} `not_found`; `conflict` for a Swarm stack, whose volumes are on many hosts.
 */
export async function contentsOfStack(deps: ContentsDeps, name: string): Promise<Contents> {
  const { kind, services } = await findStack(deps, name);
  if (kind === "swarm") {
    throw new AppError(
      "conflict",
      `Stack ${name} is managed by Swarm; choose volumes of this host`,
    );
  }
  const containers = services.flatMap((service) => service.containers);
  const { parts, leftOut } = partsOf(containers, deps.config.stackRoots);
  const own = new Set(containers.map(({ id }) => id));
  const others = (await currentContainers(deps)).filter(({ id }) => !own.has(id));
  return {
    stack: name,
    containers,
    parts,
    shared: parts.flatMap((part) =>
      others.filter((container) => uses(container, part))
        .map((container) => ({ part: part.path, container }))
    ),
    leftOut,
  };
}

/** Volumes with the containers that use them. Whether they exist is found out when they are read. */
export async function contentsOfVolumes(
  deps: ContentsDeps,
  names: readonly string[],
): Promise<Contents> {
  const parts = [...new Set(names)].map(volumePart);
  const containers = (await currentContainers(deps))
    .filter((container) => parts.some((part) => uses(container, part)));
  return { stack: null, containers, parts, shared: [], leftOut: [] };
}

/** The volumes and directories that a snapshot of containers has. */
export function partsOf(
  containers: readonly Container[],
  roots: readonly string[],
): Pick<Contents, "parts" | "leftOut"> {
  const mounts = containers.flatMap(({ details }) => details.mounts);
  const volumes = new Set(mounts.flatMap(({ type, name }) => type === "volume" ? name ?? [] : []));
  const binds = [...new Set(mounts.flatMap(({ type, source }) => type === "bind" ? source : []))];
  const isKept = (source: string) => roots.some((root) => isInside(source, root));
  const kept = binds.filter(isKept);
  // A directory in another one is read with it.
  const outer = kept.filter((source) =>
    !kept.some((other) => other !== source && isInside(source, other))
  );
  return {
    parts: [
      ...[...volumes].sort().map(volumePart),
      ...outer.sort().map((source): Part => ({
        path: `/directories${source}`,
        mount: { type: "bind", source },
      })),
    ],
    leftOut: binds.filter((source) => !isKept(source)).sort(),
  };
}

/** Whether a container has the part mounted, or a directory around it or in it. */
function uses({ details }: Container, { mount }: Part): boolean {
  return details.mounts.some(({ type, name, source }) =>
    mount.type === "volume"
      ? type === "volume" && name === mount.source
      : type === "bind" && (source === mount.source || isInside(source, mount.source) ||
        isInside(mount.source, source))
  );
}

/** The containers that may write to what the snapshot has. */
export const writersOf = ({ containers, shared, parts }: Contents): Container[] =>
  [...new Set([...containers, ...shared.map(({ container }) => container)])]
    .filter(({ details }) =>
      details.mounts.some((mount) =>
        !mount.readOnly &&
        parts.some((part) => uses({ details: { mounts: [mount] } } as Container, part))
      )
    );
