/** Other programs on the host that manage or update containers. Pure. @module */

import type { Container } from "../containers/inventory.ts";
import { isInside } from "../compose/load/paths.ts";
import type { ForeignStack } from "./evaluate.ts";
import { findProgram } from "./known_programs.ts";
import type { Manager } from "./report.ts";

/** The socket of an engine, e.g. `/var/run/docker.sock`. */
const SOCKET = /\/(?:docker|podman)\.sock$/;

/** @param containers All of the engine. */
export function findManagers(
  containers: readonly Container[],
  stacks: readonly ForeignStack[],
): Manager[] {
  return containers.filter((each) => !each.self).flatMap((container) => {
    const program = findProgram(container.image);
    if (!program && !hasSocket(container)) return [];
    const owned = stacks.filter((stack) => isOwner(container, stack)).map(({ name }) => name);
    const updated = program?.updates === "all" ? stacks.map(({ name }) => name) : owned;
    // Many programs read the socket and deploy nothing.
    if (!program && owned.length === 0) return [];
    const { name, image } = container;
    return [{
      name: program?.name ?? name,
      image,
      container: name,
      updates: program?.updates ?? "none",
      stacks: updated,
      setting: program?.setting ?? "",
    }];
  });
}

const hasSocket = ({ details: { mounts } }: Container) =>
  mounts.some(({ source, destination }) => SOCKET.test(source) || SOCKET.test(destination));

/** Whether a container has the files of a stack at the path in its labels. */
function isOwner({ details: { mounts }, composeProject }: Container, stack: ForeignStack): boolean {
  // A program that is in a stack itself was deployed by another one.
  if (composeProject === stack.name) return false;
  const [path] = stack.origins[0]?.configFiles ?? [];
  return path !== undefined &&
    mounts.some(({ destination }) =>
      destination !== "/" && destination !== path && isInside(path, destination)
    );
}
