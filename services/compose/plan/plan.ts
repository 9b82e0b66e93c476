/** Plans a deploy: what differs between a project and what the engine has. Pure. @module */

import type { ContainerInspect } from "../../../engine/containers.ts";
import { unitIn, unitText } from "../../containers/units.ts";
import { inPodText, isInPod } from "../../updates/recreate/podman.ts";
import { nameOf } from "../../updates/recreate/replace.ts";
import type { Project, Service } from "../load/resolve.ts";
import { type PlannedChange, serviceChange } from "./change.ts";
import type { Context } from "./comparison.ts";
import { dependentsOfPlan, dependentWarnings } from "./dependents.ts";
import { differences, fileReasons, type Reason, reason } from "./differences.ts";
import { lostNetworkReasons, planNetworks } from "./network_changes.ts";
import type { Observed } from "./observed.ts";
import type { PlanOptions, RecreatePolicy } from "./options.ts";
import { volumeDifferences } from "./parts.ts";
import { imageKey } from "./platform.ts";
import { checkPlan } from "./refusals.ts";
import { withDependencies, withDependents, withNetworks } from "./related_services.ts";
import { replicasOf, serviceOf } from "./replicas.ts";
import { supportedService } from "./requirements.ts";
import { uncomparedKeys } from "./settings.ts";

export interface StackPlan {
  /** Networks, volumes, then services. */
  changes: PlannedChange[];
  /** The refusals first. */
  warnings: string[];
  /** Why a deploy would be refused; empty if it can be started. */
  refusals: string[];
  /**
   * Settings that the engine has left out of containers that it created, as a part of the warnings.
   */
  unapplied: string[];
}

/** Notes that the planning of services adds to the plan. */
type Notes = Pick<StackPlan, "warnings" | "refusals" | "unapplied">;

export function planProject(
  whole: Project,
  observed: Observed,
  { recreate = "changed", removeOrphans = false, services: only }: PlanOptions = {},
): StackPlan {
  const notes: Notes = { warnings: [], refusals: [], unapplied: [] };
  const selected = only && withDependencies(whole, only);
  const planned = Object.keys(whole.services).map((name) =>
    !selected || selected.has(name)
      ? planService(name, whole, observed, recreate, notes)
      : serviceChange(name, "none")
  );
  const networks = planNetworks(whole, usedNetworks(onlyServices(whole, selected)), observed, {
    recreatesContainers: recreate !== "never",
    removesOrphans: removeOrphans,
  });
  const attached = withNetworks(planned, whole, observed, networks);
  const services = withDependents(attached, whole, observed)
    .filter(({ name, action }) => !selected || selected.has(name) || action !== "none");
  const project = onlyServices(whole, new Set(services.map(({ name }) => name)));
  const orphans = new Set(
    observed.containers.map(serviceOf).filter((name) => !Object.hasOwn(whole.services, name)),
  );
  const used = usedNetworks(project);
  const changes = [
    ...planParts("network", project.networks, used, observed.networks, networks.recreated),
    ...planParts("volume", project.volumes, usedVolumes(project), observed.volumes),
    ...services,
    ...[...orphans].sort().map((name) =>
      serviceChange(name, removeOrphans ? "remove" : "none", [
        reason(name, "running", null, "is not in the Compose file"),
      ])
    ),
  ];
  const checked = checkPlan(project, whole, changes, observed);
  const refusals = [
    ...checked.refusals,
    ...notes.refusals,
    ...ownedElsewhere(services, whole, observed),
  ];
  const unapplied = [...notes.unapplied, ...networks.unapplied];
  return {
    changes,
    refusals,
    unapplied,
    warnings: [
      ...refusals,
      ...checked.warnings,
      ...notes.warnings,
      ...unapplied,
      ...networks.warnings,
      ...volumeWarnings(project, observed),
      ...dependentWarnings(dependentsOfPlan(changes, whole, observed)),
    ],
  };
}

/** Limit of the reasons of one change; a service may have thousands of ports or variables. */
const REASONS_MAX = 100;

const onlyServices = (project: Project, names: ReadonlySet<string> | undefined): Project => ({
  ...project,
  services: Object.fromEntries(
    Object.entries(project.services).filter(([name]) => !names || names.has(name)),
  ),
});

/** Containers that would be recreated outside of their pod, or behind the back of their unit. */
const ownedElsewhere = (
  services: readonly PlannedChange[],
  project: Project,
  { containers }: Observed,
): string[] =>
  services.filter(({ action }) => action === "recreate").flatMap(({ name }) =>
    replicasOf(project, name, containers).kept.flatMap((each) => {
      const unit = unitIn(each.Config.Labels);
      return [
        ...(isInPod(each) ? [inPodText(nameOf(each))] : []),
        ...(unit === null ? [] : [unitText(nameOf(each), unit)]),
      ];
    })
  );

/** Volumes have data, so that a deploy does not replace them. */
const volumeWarnings = ({ volumes }: Project, { volumeDetails }: Observed): string[] =>
  Object.values(volumes).filter(({ external }) => !external).flatMap((volume) => {
    const found = volumeDetails?.get(volume.name);
    return (found ? volumeDifferences(volume, found) : []).map((text) =>
      `Volume ${volume.name} exists with other settings, which a deploy does not change: ${text}`
    );
  });

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
  recreated: ReadonlyMap<string, Reason[]> = new Map(),
): PlannedChange[] {
  return Object.entries(parts).filter(([key]) => used.has(key)).map(([key, { name, external }]) => {
    const again = recreated.get(key);
    if (again) return { kind, name: key, action: "recreate", reasons: again };
    return existing.has(name) || external ? { kind, name: key, action: "none", reasons: [] } : {
      kind,
      name: key,
      action: "create",
      reasons: [reason(name, null, name, "does not exist")],
    };
  });
}

function planService(
  name: string,
  project: Project,
  observed: Observed,
  recreate: RecreatePolicy,
  { warnings, unapplied }: Notes,
): PlannedChange {
  const service = project.services[name]!;
  const replicas = replicasOf(project, name, observed.containers);
  const { wanted, kept, superfluous, missing, stopped, completed } = replicas;
  if (!observed.imageIds.has(imageKey(service))) {
    warnings.push(
      `Image ${imageKey(service)} of ${name} is not on the engine and has to be pulled`,
    );
  }
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
  const { reasons: differing, missing: lacking } = recreationReasons(
    name,
    project,
    observed,
    recreate,
  );
  if (lacking.length > 0) {
    unapplied.push(
      `The engine does not describe these settings of ${name} as the Compose file has them, and may ` +
        `not have applied them: ${lacking.join(", ")}`,
    );
  }
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

/**
 * Why the containers of a service are recreated; the first that differs stands for all. Otherwise the
 * paths of the settings that they lack.
 */
function recreationReasons(
  name: string,
  project: Project,
  observed: Observed,
  recreate: RecreatePolicy,
): { reasons: Reason[]; missing: string[] } {
  const defaults = observed.defaults ?? {};
  const context: Context = {
    name,
    service: supportedService(project.services[name]!, defaults),
    project,
    serviceOf: (container) => serviceOfContainer(observed, container),
    defaults,
  };
  const { kept, stopped } = replicasOf(project, name, observed.containers);
  const compared = kept.map((each) => {
    const { reasons, unapplied } = differences(context, each, observed);
    return {
      reasons: [
        ...reasons,
        ...fileReasons(each, observed.fileHashes?.get(name)),
        ...(stopped.includes(each) ? lostNetworkReasons(each, observed) : []),
      ],
      unapplied,
    };
  });
  const missing = [...new Set(compared.flatMap(({ unapplied }) => unapplied))];
  const differing = compared.find(({ reasons }) => reasons.length > 0)?.reasons ?? [];
  if (recreate === "never") return { reasons: [], missing };
  const isRequested = recreate === "always" && differing.length === 0 && kept.length > 0;
  if (isRequested) {
    return { reasons: [reason("recreate", null, "always", "recreation was requested")], missing };
  }
  const more = differing.length - REASONS_MAX;
  const shown = differing.slice(0, REASONS_MAX);
  if (more > 0) shown.push(reason("", null, null, `${more} more differences`));
  return { reasons: shown, missing };
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
