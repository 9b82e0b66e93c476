/** Networks and volumes of a project. @module */

import { networkCreate, type NetworkCreateBody } from "../../../engine/networks.ts";
import { volumeCreate } from "../../../engine/volumes.ts";
import type { Deps } from "../../deps.ts";
import { LABEL, LABELS_VERSION } from "../labels.ts";
import type { Project } from "../load/resolve.ts";
import { networkHash } from "../plan/network_changes.ts";

/** Creates a network. @throws {EngineError} 409 if the name was taken meanwhile. */
export async function createNetwork(
  { engine }: Pick<Deps, "engine">,
  project: Project,
  key: string,
): Promise<void> {
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
  await networkCreate(engine, { body });
}

export async function createVolume(
  { engine }: Pick<Deps, "engine">,
  project: Project,
  key: string,
): Promise<void> {
  const volume = project.volumes[key]!;
  await volumeCreate(engine, {
    body: {
      Name: volume.name,
      Driver: volume.driver ?? "local",
      DriverOpts: volume.driver_opts ?? {},
      Labels: { ...volume.labels, ...partLabels(project, LABEL.volume, key) },
    },
  });
}

const partLabels = ({ name }: Project, label: string, key: string) => ({
  [LABEL.project]: name,
  [label]: key,
  [LABEL.version]: LABELS_VERSION,
});
