/** Other programs on the host that manage or update containers. Pure. @module */

import type { Container } from "../containers/inventory.ts";
import type { ForeignStack } from "./evaluate.ts";
import { findProgram, hasFilesOf } from "../updates/other_programs.ts";
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
    const owned = stacks.filter((stack) =>
      stack.containers.some((each) => hasFilesOf(container, each))
    ).map(({ name }) => name);
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
