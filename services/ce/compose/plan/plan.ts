/**
 * Plans a deploy: what differs between a project and what the engine has. Pure.
 *
 * @module
 */

import type { ContainerConfig, ContainerInspect } from "../../../../engine/containers.ts";
import type { Network } from "../../../../engine/networks.ts";
import type { Volume } from "../../../../engine/volumes.ts";
import type { Container } from "../../../state/inventory.ts";
import { dependenciesOf, type Project, type Service } from "../load/resolve.ts";
import type { Context, EngineDefaults } from "./comparison.ts";
import { unknownSettings } from "./comparisons.ts";
import { dependentsOfPlan, dependentWarnings } from "./dependents.ts";
import { differences, fileReasons, type Reason, reason } from "./differences.ts";
import type { PlanOptions, RecreatePolicy } from "./options.ts";
import { networkDifferences, volumeDifferences } from "./parts.ts";
import { replicasOf, serviceOf } from "./replicas.ts";
import { uncomparedKeys } from "./settings.ts";

/** What the engine has. */
export interface Observed {
  /** The containers of the project, without one-off ones. */
  containers: readonly ContainerInspect[];
  /** The configurations of their images by id. */
  images: ReadonlyMap<string, ContainerConfig>;
  /** The ids of the project's images by reference; missing for those that have to be pulled. */
  imageIds: ReadonlyMap<string, string>;
  /** Names of all networks. */
  networks: ReadonlySet<string>;
  /** Names of all volumes. */
  volumes: ReadonlySet<string>;
  /** Hashes of the configs and secrets that are copied, by service. */
  fileHashes?: ReadonlyMap<string, string>;
  /** The networks and volumes themselves by name, to warn of differences. */
  networkDetails?: ReadonlyMap<string, Network>;
  volumeDetails?: ReadonlyMap<string, Volume>;
  /** All containers of the engine, to find those that depend on the project's. */
  all?: readonly Container[];
  defaults?: EngineDefaults;
}

export interface PlannedChange {
  kind: "service" | "network" | "volume";
  /** The key in the project; of an orphan, the service of its containers. */
  name: string;
  action: "create" | "recreate" | "start" | "remove" | "none";
  reasons: Reason[];
}

export interface StackPlan {
  /** Networks, volumes, then services. */
  changes: PlannedChange[];
  warnings: string[];
}

export function planProject(
  whole: Project,
  observed: Observed,
  { recreate = "changed", removeOrphans = false, services: only }: PlanOptions = {},
): StackPlan {
  const warnings: string[] = [];
  const selected = only && withDependencies(whole, only);
  const changes = Object.keys(whole.services).map((name) =>
    !selected || selected.has(name)
      ? planService(name, whole, observed, recreate, warnings)
      : serviceChange(name, "none")
  );
  const services = withDependents(changes, whole, observed)
    .filter(({ name, action }) => !selected || selected.has(name) || action !== "none");
  const project: Project = {
    ...whole,
    services: Object.fromEntries(services.map(({ name }) => [name, whole.services[name]!])),
  };
  const orphans = new Set(
    observed.containers.map(serviceOf).filter((name) => !Object.hasOwn(whole.services, name)),
  );
  const planned = [
    ...planParts("network", project.networks, usedNetworks(project), observed.networks, warnings),
    ...planParts("volume", project.volumes, usedVolumes(project), observed.volumes, warnings),
    ...services,
    ...[...orphans].sort().map((name) =>
      serviceChange(name, removeOrphans ? "remove" : "none", [
        reason(name, "running", null, "is not in the Compose file"),
      ])
    ),
  ];
  const dependents = dependentsOfPlan(planned, whole, observed);
  return {
    changes: planned,
    warnings: [
      ...warnings,
      ...partWarnings(project, observed),
      ...dependentWarnings(dependents),
    ],
  };
}

const serviceChange = (
  name: string,
  action: PlannedChange["action"],
  reasons: Reason[] = [],
): PlannedChange => ({ kind: "service", name, action, reasons });

/** The names of services, and of those that they depend on. */
function withDependencies({ services }: Project, names: readonly string[]): Set<string> {
  const kept = new Set<string>();
  const keep = (name: string) => {
    const service = services[name];
    if (!service || kept.has(name)) return;
    kept.add(name);
    for (const dependency of Object.keys(dependenciesOf(service))) keep(dependency);
  };
  for (const name of names) keep(name);
  return kept;
}

/**
 * Containers that share a namespace or volumes of a recreated one, or depend on it with `restart`,
 * are recreated together with it, also those of services that were not selected.
 */
function withDependents(
  changes: readonly PlannedChange[],
  project: Project,
  { containers }: Observed,
): PlannedChange[] {
  const all = new Map(changes.map((change) => [change.name, change]));
  const isRecreated = (name: string) => all.get(name)?.action === "recreate";
  for (let isComplete = false; !isComplete;) {
    isComplete = true;
    for (const [name, { action, reasons }] of all) {
      if (action === "recreate") continue;
      const service = project.services[name]!;
      const shared = sharedServices(service).find(isRecreated);
      const restarted = restartingServices(service).find(isRecreated);
      const cause = shared ?? restarted;
      if (cause === undefined || replicasOf(project, name, containers).kept.length === 0) continue;
      const text = shared === undefined
        ? `depends with restart on ${cause}, which is recreated`
        : `shares a namespace or volumes of ${cause}, which is recreated`;
      all.set(
        name,
        serviceChange(name, "recreate", [...reasons, reason("depends_on", null, cause, text)]),
      );
      isComplete = false;
    }
  }
  return [...all.values()];
}

const restartingServices = ({ depends_on = {} }: Service): string[] =>
  Object.keys(depends_on).filter((name) => depends_on[name]!.restart);

const sharedServices = ({ ipc, network_mode, pid, volumes_from = [] }: Service): string[] => [
  ...[ipc, network_mode, pid].flatMap((mode) => /^service:(.+)$/.exec(mode ?? "")?.[1] ?? []),
  ...volumes_from.filter((entry) => !entry.startsWith("container:"))
    .map((entry) => entry.split(":")[0]!),
];

/** Networks and volumes have data or connections, so that a deploy does not replace them. */
function partWarnings(
  { networks, volumes }: Project,
  { networkDetails, volumeDetails }: Observed,
): string[] {
  const warn = (kind: string, name: string, differences: string[]) =>
    differences.map((text) =>
      `${kind} ${name} exists with other settings, which a deploy does not change: ${text}`
    );
  return [
    ...Object.values(networks).filter(({ external }) => !external).flatMap((network) => {
      const found = networkDetails?.get(network.name);
      return found ? warn("Network", network.name, networkDifferences(network, found)) : [];
    }),
    ...Object.values(volumes).filter(({ external }) => !external).flatMap((volume) => {
      const found = volumeDetails?.get(volume.name);
      return found ? warn("Volume", volume.name, volumeDifferences(volume, found)) : [];
    }),
  ];
}

function usedNetworks({ services }: Project): Set<string> {
  return new Set(Object.values(services).flatMap(({ networks }) => Object.keys(networks ?? {})));
}

function usedVolumes({ services }: Project): Set<string> {
  const mounts = Object.values(services).flatMap(({ volumes }) => volumes ?? []);
  return new Set(mounts.flatMap(({ type, source }) => type === "volume" && source ? [source] : []));
}

/** Parts that no service uses are not created. */
function planParts(
  kind: "network" | "volume",
  parts: Record<string, { name: string; external?: true }>,
  used: ReadonlySet<string>,
  existing: ReadonlySet<string>,
  warnings: string[],
): PlannedChange[] {
  return Object.entries(parts).filter(([key]) => used.has(key)).map(([key, { name, external }]) => {
    const exists = existing.has(name);
    if (external && !exists) warnings.push(`External ${kind} ${name} does not exist`);
    return {
      kind,
      name: key,
      action: exists || external ? "none" : "create",
      reasons: exists || external ? [] : [reason(name, null, name, "does not exist")],
    };
  });
}

function planService(
  name: string,
  project: Project,
  observed: Observed,
  recreate: RecreatePolicy,
  warnings: string[],
): PlannedChange {
  const service = project.services[name]!;
  const replicas = replicasOf(project, name, observed.containers);
  const { wanted, kept, superfluous, missing, stopped, completed } = replicas;
  if (!observed.imageIds.has(service.image)) {
    warnings.push(`Image ${service.image} of ${name} is not on the engine and has to be pulled`);
  }
  warnings.push(...unknownSettings(name, service, observed.defaults ?? {}));
  const existing = kept.length + superfluous.length;
  if (existing === 0) {
    return wanted === 0
      ? serviceChange(name, "none")
      : serviceChange(name, "create", [reason("scale", "0", `${wanted}`, "no container exists")]);
  }
  const uncompared = uncomparedKeys(service);
  if (uncompared.length > 0) {
    warnings.push(`Not compared with the containers of ${name}: ${uncompared.join(", ")}`);
  }
  const options = unlistedLogOptions(service, [...kept, ...superfluous]);
  if (options.length > 0) {
    warnings.push(
      `The containers of ${name} have logging options that are not in the Compose file and may be ` +
        `defaults of the engine: ${options.join(", ")}`,
    );
  }
  const scale = existing === wanted ? [] : [
    reason("scale", `${existing}`, `${wanted}`, `scale changed from ${existing} to ${wanted}`),
  ];
  const differing = recreationReasons(name, project, observed, recreate);
  if (differing.length > 0) return serviceChange(name, "recreate", [...differing, ...scale]);
  const states = [
    ...stateReason(stopped, "running", `${stopped.length} not running`),
    ...stateReason(completed, null, `${completed.length} completed with exit code 0`),
  ];
  const action = missing.length > 0
    ? "create"
    : superfluous.length > 0
    ? "remove"
    : stopped.length > 0
    ? "start"
    : "none";
  return serviceChange(name, action, [...scale, ...states]);
}

/** Why the containers of a service are recreated; the first that differs stands for all. */
function recreationReasons(
  name: string,
  project: Project,
  observed: Observed,
  recreate: RecreatePolicy,
): Reason[] {
  if (recreate === "never") return [];
  const context: Context = {
    name,
    service: project.services[name]!,
    project,
    serviceOf: (container) => serviceOfContainer(observed, container),
    defaults: observed.defaults ?? {},
  };
  const { kept } = replicasOf(project, name, observed.containers);
  const differing = kept.map((each) => [
    ...differences(context, each, observed),
    ...fileReasons(each, observed.fileHashes?.get(name)),
  ]).find((reasons) => reasons.length > 0) ?? [];
  const isRequested = recreate === "always" && differing.length === 0 && kept.length > 0;
  return isRequested ? [reason("recreate", null, "always", "recreation was requested")] : differing;
}

function stateReason(
  containers: readonly ContainerInspect[],
  to: string | null,
  text: string,
): Reason[] {
  if (containers.length === 0) return [];
  const from = [...new Set(containers.map(({ State }) => State.Status))].join(", ");
  return [reason("state", from, to, text)];
}

function serviceOfContainer({ containers }: Observed, container: string): string | undefined {
  const found = containers.find(({ Id, Name }) =>
    Id === container || Name === `/${container}` || Name === container
  );
  return found && serviceOf(found);
}

function unlistedLogOptions(service: Service, containers: readonly ContainerInspect[]): string[] {
  const found = containers.flatMap(({ HostConfig }) =>
    Object.keys(HostConfig.LogConfig?.Config ?? {})
  );
  return [...new Set(found)].filter((name) => !Object.hasOwn(service.logging?.options ?? {}, name));
}
