/**
 * Networks and volumes of a project that other containers need. The engine counts only running ones on
 * a network, but a stopped one could not start without it.
 *
 * @module
 */

import { type Network, networkList } from "../../../engine/networks.ts";
import { volumeList } from "../../../engine/volumes.ts";
import { includesContainer, type Scope } from "../../access/scope.ts";
import { AppError } from "../../errors.ts";
import type { Container } from "../../containers/inventory.ts";
import { listAll, type ReadDeps } from "../../containers/reads.ts";
import { LABEL } from "../labels.ts";

export interface PartInUse {
  kind: "network" | "volume";
  name: string;
  /** Those that stay when the project is removed, by name. */
  users: Container[];
}

/** The networks of a project, and on request volumes, that have containers of others. */
export async function partsInUse(
  deps: ReadDeps,
  project: string,
  { volumes }: { volumes: boolean },
): Promise<PartInUse[]> {
  const filters = { label: [`${LABEL.project}=${project}`] };
  const [all, networks, stored] = await Promise.all([
    listAll(deps),
    networkList(deps.engine, { filters }),
    volumes ? volumeList(deps.engine, { filters }) : [],
  ]);
  const others = all.filter((each) => !isRemoved(each, project))
    .toSorted((a, b) => a.name < b.name ? -1 : 1);
  const parts: PartInUse[] = [
    ...networks.map(({ Id, Name }) => ({
      kind: "network" as const,
      name: Name,
      users: others.filter((each) => isOnNetwork(each, { Id, Name })),
    })),
    ...stored.map(({ Name }) => ({
      kind: "volume" as const,
      name: Name,
      users: others.filter((each) => each.volumes.includes(Name)),
    })),
  ];
  return parts.filter(({ users }) => users.length > 0);
}

/** Whether a container, which may be stopped, needs a network. */
export const isOnNetwork = (
  { attachments }: Pick<Container, "attachments">,
  { Id, Name }: Pick<Network, "Id" | "Name">,
): boolean =>
  // A container that has never run knows the name only, with Podman every container.
  attachments.some(({ networkId, network }) => [Id, Name].includes(networkId || network));

/** One-off containers of the project stay. */
const isRemoved = ({ composeProject, labels }: Container, project: string) =>
  composeProject === project && labels[LABEL.oneOff]?.toLowerCase() !== "true";

export const inUseWarnings = (parts: readonly PartInUse[]): string[] =>
  parts.map(({ kind, name, users }) =>
    `${
      kind === "network" ? "Network" : "Volume"
    } ${name} stays, because other containers need it: ${users.map((each) => each.name).join(", ")}`
  );

/**
 * Refuses to remove what containers outside of an API token's scope need.
 *
 * @throws {AppError} `forbidden`
 */
export function assertUsersInScope(scope: Scope | undefined, parts: readonly PartInUse[]): void {
  const part = parts.find(({ users }) => !users.every((each) => includesContainer(scope, each)));
  if (!part) return;
  throw new AppError(
    "forbidden",
    `Containers that this token cannot access need ${part.kind} ${part.name}`,
  );
}
