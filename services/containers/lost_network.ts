/**
 * Networks that were removed while a stopped container was on them. The engine knows them by id: it
 * does not start the container, also if another network has the same name now. Pure.
 *
 * @module
 */

import { PREDEFINED_NETWORKS } from "../../engine/networks.ts";
import type { Container } from "./inventory.ts";

type Attachments = readonly Pick<Container["attachments"][number], "networkId" | "network">[];

/** The names of those networks of a container that do not exist. @param ids Those that do. */
export const lostNetworks = (attachments: Attachments, ids: ReadonlySet<string>): string[] =>
  attachments.filter(({ networkId, network }) =>
    // Podman finds networks by name, and the engine's own ones get other ids when it restarts.
    networkId !== "" && networkId !== network && !ids.has(networkId) &&
    !PREDEFINED_NETWORKS.has(network)
  ).map(({ network }) => network);

/** The engine's reason why a container does not start, which has only the id of a lost network. */
export function startFailure(message: string, attachments: Attachments): string {
  const lost = /not found/i.test(message) &&
    attachments.find(({ networkId }) => networkId !== "" && message.includes(networkId));
  if (!lost) return message;
  return `Network ${lost.network} of the container was removed; recreate the container, ` +
    "or deploy its stack";
}
