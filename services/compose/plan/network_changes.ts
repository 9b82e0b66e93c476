/**
 * Networks that exist with other settings than the file has. A network cannot be changed, so that it is
 * created again, and with it the containers on it.
 *
 * @module
 */

import type { ContainerInspect } from "../../../engine/containers.ts";
import type { Network as EngineNetwork } from "../../../engine/networks.ts";
import { nodeCrypto } from "../../builtins.ts";
import { lostNetworks } from "../../containers/lost_network.ts";
import { attachmentsOf } from "../../containers/record.ts";
import { LABEL } from "../labels.ts";
import type { Network } from "../load/project_keys.ts";
import type { Project } from "../load/resolve.ts";
import { type Reason, reason } from "./differences.ts";
import type { Observed } from "./observed.ts";
import { networkDifferences, rangeDifferences } from "./parts.ts";

/** Identifies the settings from which Longshore created a network. */
export function networkHash({ name: _, ...settings }: Network): string {
  const ordered = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(ordered)
      : typeof value === "object" && value !== null
      ? Object.fromEntries(
        Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1).map(([key, each]) => [
          key,
          ordered(each),
        ]),
      )
      : value;
  return nodeCrypto().createHash("sha256").update(JSON.stringify(ordered(settings))).digest("hex");
}

/** Whether Longshore created a network from these settings. Its id does not say so with Podman. */
export const isCreatedFrom = (network: Network, { Labels }: EngineNetwork): boolean =>
  Labels?.[LABEL.networkHash] === networkHash(network);

/** Why a network has to be created again; empty if it does not. */
export function networkReasons(
  key: string,
  network: Network,
  found: EngineNetwork | undefined,
): Reason[] {
  if (!found || network.external) return [];
  if (isCreatedFrom(network, found)) return [];
  const texts = networkDifferences(network, found);
  if (found.Labels?.[LABEL.networkHash] !== undefined && texts.length === 0) {
    texts.push("a setting was removed");
  }
  return texts.map((text) => reason(`networks.${key}`, null, null, text));
}

/** Why a container cannot start on its networks any more; empty if it can. */
export function lostNetworkReasons(
  container: ContainerInspect,
  { networkDetails }: Pick<Observed, "networkDetails">,
): Reason[] {
  if (!networkDetails) return [];
  const ids = new Set([...networkDetails.values()].map(({ Id }) => Id));
  return lostNetworks(attachmentsOf(container), ids).map((name) =>
    reason(`networks.${name}`, null, null, `network ${name} of the container was removed`)
  );
}

/** Settings that the engine did not take when the network was created. */
const unappliedSettings = (network: Network, found: EngineNetwork): string[] =>
  network.external ? [] : [
    ...networkDifferences(network, found),
    ...rangeDifferences(network, found),
  ].map((text) => `The engine does not describe network ${found.Name} as it was created: ${text}`);

/** Changes of a plan to the networks that differ. */
export interface NetworkChanges {
  /** Reasons by key. */
  recreated: ReadonlyMap<string, Reason[]>;
  /** Sentences about those that stay as they are. */
  warnings: string[];
  /** Sentences about what the engine left out of those that Longshore created. */
  unapplied: string[];
}

/**
 * Decides which networks are created again: none that has a container that the deploy does not replace.
 *
 * @param used The keys of the networks of the planned services.
 */
export function planNetworks(
  { networks, services }: Project,
  used: ReadonlySet<string>,
  { networkDetails, attached }: Observed,
  { recreatesContainers, removesOrphans }: {
    recreatesContainers: boolean;
    removesOrphans: boolean;
  },
): NetworkChanges {
  const recreated = new Map<string, Reason[]>();
  const warnings: string[] = [];
  const unapplied: string[] = [];
  for (const key of used) {
    const network = networks[key];
    const found = network && networkDetails?.get(network.name);
    if (!found) continue;
    const reasons = networkReasons(key, network, found);
    if (reasons.length === 0) {
      if (isCreatedFrom(network, found)) unapplied.push(...unappliedSettings(network, found));
      continue;
    }
    const others = (attached?.get(network.name) ?? []).filter(({ service }) =>
      service === undefined || !(removesOrphans || Object.hasOwn(services, service))
    );
    const obstacle = others.length > 0
      ? `it has containers that the deploy does not replace: ${
        others.map(({ name }) => name).sort().join(", ")
      }`
      : found.Scope === "swarm"
      ? "it belongs to a swarm"
      : recreatesContainers
      ? undefined
      : "containers are not recreated";
    if (obstacle === undefined) recreated.set(key, reasons);
    else {
      warnings.push(
        ...reasons.map(({ text }) =>
          `Network ${network.name} exists with other settings, and stays as it is, because ` +
          `${obstacle}: ${text}`
        ),
      );
    }
  }
  return { recreated, warnings, unapplied };
}
