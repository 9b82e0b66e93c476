/** Networks and volumes of a project. @module */

import {
  findNetwork,
  type Network,
  networkCreate,
  type NetworkCreateBody,
} from "../../../engine/networks.ts";
import { findVolume, type Volume, volumeCreate } from "../../../engine/volumes.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { LABEL, LABELS_VERSION } from "../labels.ts";
import type { Project } from "../load/resolve.ts";
import { isCreatedFrom, networkHash } from "../plan/network_changes.ts";

/**
 * Creates a network.
 *
 * @returns Its id.
 * @throws {EngineError} 409 if the name was taken meanwhile.
 */
export async function createNetwork(
  { engine }: Pick<Deps, "engine">,
  project: Project,
  key: string,
): Promise<string> {
  const network = project.networks[key]!;
  const { driver, driver_opts, internal, attachable, enable_ipv4, enable_ipv6, ipam } = network;
  const body: NetworkCreateBody = {
    Name: network.name,
    ...(driver !== undefined && { Driver: driver }),
    ...(driver_opts && { Options: driver_opts }),
    ...(internal !== undefined && { Internal: internal }),
    ...(attachable !== undefined && { Attachable: attachable }),
    ...(enable_ipv4 !== undefined && { EnableIPv4: enable_ipv4 }),
    ...(enable_ipv6 !== undefined && { EnableIPv6: enable_ipv6 }),
    ...(ipam && {
      IPAM: {
        ...(ipam.driver !== undefined && { Driver: ipam.driver }),
        ...(ipam.options && { Options: ipam.options }),
        Config: (ipam.config ?? []).map(({ subnet, gateway, ip_range, aux_addresses }) => ({
          ...(subnet !== undefined && { Subnet: subnet }),
          ...(gateway !== undefined && { Gateway: gateway }),
          ...(ip_range !== undefined && { IPRange: ip_range }),
          ...(aux_addresses && { AuxiliaryAddresses: aux_addresses }),
        })),
      },
    }),
    Labels: {
      ...network.labels,
      ...partLabels(project, LABEL.network, key),
      [LABEL.networkHash]: networkHash(network),
    },
  };
  return await networkCreate(engine, { body });
}

/** The step that creates a network; its result is the id. */
export const networkStep = (key: string) => `network ${key}`;

/** Finds the network that {@linkcode createNetwork} created for this project. */
export async function findOwnNetwork(
  { engine }: Pick<Deps, "engine">,
  project: Project,
  key: string,
): Promise<Network | undefined> {
  const network = project.networks[key]!;
  const found = await findNetwork(engine, network.name);
  return found && isCreatedFrom(network, found) && isLabelled(found, project, LABEL.network, key)
    ? found
    : undefined;
}

/** Finds the volume that {@linkcode createVolume} created for this project. */
export async function findOwnVolume(
  { engine }: Pick<Deps, "engine">,
  project: Project,
  key: string,
): Promise<Volume | undefined> {
  const found = await findVolume(engine, project.volumes[key]!.name);
  return found && isLabelled(found, project, LABEL.volume, key) ? found : undefined;
}

const isLabelled = (
  { Labels }: Pick<Network, "Labels">,
  { name }: Project,
  label: string,
  key: string,
): boolean => Labels?.[LABEL.project] === name && Labels[label] === key;

/** Creates a volume, unless the project has it. @throws {AppError} `conflict` if others have it. */
export async function createVolume(
  { engine }: Pick<Deps, "engine">,
  project: Project,
  key: string,
): Promise<void> {
  const volume = project.volumes[key]!;
  const created = await volumeCreate(engine, {
    body: {
      Name: volume.name,
      Driver: volume.driver ?? "local",
      DriverOpts: volume.driver_opts ?? {},
      Labels: { ...volume.labels, ...partLabels(project, LABEL.volume, key) },
    },
  });
  // The engine returns an existing one.
  if (!isLabelled(created, project, LABEL.volume, key)) {
    throw new AppError("conflict", `Volume ${volume.name} was created meanwhile; deploy again`);
  }
}

/** Labels by which Compose finds a network or volume of a project. */
export const partLabels = ({ name }: Project, label: string, key: string) => ({
  [LABEL.project]: name,
  [label]: key,
  [LABEL.version]: LABELS_VERSION,
});
