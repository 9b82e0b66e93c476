/** Attachments of containers to networks, as text that can be compared. @module */

import type { ContainerInspect, EndpointSettings } from "../../../engine/containers.ts";
import type { Attachment } from "../load/service_keys.ts";

/** Requests of a service to a network, besides names. */
export interface AttachmentRequest {
  ipv4?: string | undefined;
  ipv6?: string | undefined;
  linkLocal?: readonly string[] | null | undefined;
  mac?: string | undefined;
  gatewayPriority?: number | undefined;
  options?: Record<string, string> | null | undefined;
}

export const requestOf = (attachment: Attachment | undefined): AttachmentRequest => ({
  ipv4: attachment?.ipv4_address,
  ipv6: attachment?.ipv6_address,
  linkLocal: attachment?.link_local_ips,
  mac: attachment?.mac_address?.toLowerCase(),
  gatewayPriority: attachment?.gw_priority,
  options: attachment?.driver_opts,
});

/**
 * Requests to a network, read from its description. An engine describes a physical address, and
 * Podman every address, only as the actual one of a running container.
 */
export function describedRequest(
  { IPAMConfig, DriverOpts, GwPriority, IPAddress, GlobalIPv6Address, MacAddress }:
    EndpointSettings,
  wanted: AttachmentRequest,
  { State }: Pick<ContainerInspect, "State">,
): AttachmentRequest {
  const actual = (requested: string | undefined, found: string | undefined) =>
    requested === undefined ? undefined : State?.Running && found ? found : requested;
  return {
    ipv4: IPAMConfig ? IPAMConfig.IPv4Address : actual(wanted.ipv4, IPAddress),
    ipv6: IPAMConfig ? IPAMConfig.IPv6Address : actual(wanted.ipv6, GlobalIPv6Address),
    linkLocal: IPAMConfig?.LinkLocalIPs,
    mac: actual(wanted.mac, MacAddress)?.toLowerCase(),
    gatewayPriority: GwPriority,
    options: DriverOpts,
  };
}

/** E.g. `address 192.0.2.2, alias db`. */
export const attachmentText = (
  aliases: readonly string[],
  { ipv4, ipv6, linkLocal, mac, gatewayPriority, options }: AttachmentRequest,
) =>
  [
    ...[ipv4, ipv6, ...linkLocal ?? []].filter(Boolean).map((address) => `address ${address}`),
    ...(mac ? [`mac ${mac}`] : []),
    ...(gatewayPriority ? [`gateway priority ${gatewayPriority}`] : []),
    ...[...new Set(aliases)].sort().map((alias) => `alias ${alias}`),
    ...Object.entries(options ?? {}).sort().map(([name, value]) => `${name}=${value}`),
  ].join(", ");
