/** Links of a container, so that they can be compared. @module */

import type { ContainerInspect } from "../../../engine/containers.ts";

export interface Link {
  /** The name of a container. */
  container: string;
  alias: string;
}

/** Links as the engine has them on the networks; on its default network, as paths. */
export function linksOf({ HostConfig, NetworkSettings }: ContainerInspect): Link[] {
  const links = [
    ...HostConfig.Links ?? [],
    ...Object.values(NetworkSettings.Networks ?? {}).flatMap(({ Links }) => Links ?? []),
  ];
  return links.map((link) => {
    const [container = "", alias = container] = link.split(":");
    return {
      container: container.replace(/^\//, ""),
      alias: alias.slice(alias.lastIndexOf("/") + 1),
    };
  });
}

export const aliasOf = (link: string) => link.slice(link.lastIndexOf(":") + 1);

/** Compose also links `db_1` and the name of the container. */
export const isNumbered = (alias: string, container: string) =>
  alias === container || (/[-_]\d+$/.test(alias) && /[-_]\d+$/.test(container) &&
    container.replaceAll("_", "-").endsWith(`-${alias.replaceAll("_", "-")}`));
