/**
 * Reasons to refuse a deploy: limits of the engine, and conditions that can never become true.
 *
 * @module
 */

import type { ContainerConfig } from "../../../engine/containers.ts";
import { fullImageId } from "../../../engine/image_id.ts";
import type { Project, Service } from "../load/resolve.ts";
import type { Observed } from "./observed.ts";
import type { PlannedChange } from "./change.ts";
import { takenPorts } from "./host_ports.ts";
import { imageKey, platformConflicts } from "./platform.ts";
import { scaleOf } from "./replicas.ts";
import { type Unsupported, unsupportedNetwork, unsupportedSettings } from "./requirements.ts";

/**
 * Checks what a plan would change.
 *
 * @param project With the planned services only.
 */
export function checkPlan(
  project: Project,
  whole: Project,
  changes: readonly PlannedChange[],
  observed: Observed,
): Unsupported {
  const defaults = observed.defaults ?? {};
  const services = Object.entries(project.services);
  const found = [
    ...services.map(([name, service]) => unsupportedSettings(name, service, defaults)),
    ...services.map(([name, service]) => checkHealthWaits(name, service, whole, observed)),
  ];
  const created = changes.filter(({ action }) => action === "create" || action === "recreate");
  return {
    refusals: [
      ...missingParts(project, changes, observed),
      ...created.flatMap(({ kind, name }) =>
        kind === "network" ? unsupportedNetwork(whole.networks[name]!, defaults) : []
      ),
      ...created.flatMap(({ kind, name }) => kind === "service" ? externalFiles(name, whole) : []),
      ...takenPorts(whole, changes, observed),
      ...platformConflicts(project, defaults.info ?? {}),
      ...found.flatMap(({ refusals }) => refusals),
    ],
    warnings: found.flatMap(({ warnings }) => warnings),
  };
}

/** External networks and volumes that do not exist. */
function missingParts(
  project: Project,
  changes: readonly PlannedChange[],
  observed: Observed,
): string[] {
  return changes.flatMap(({ kind, name: key }) => {
    if (kind === "service") return [];
    const section = `${kind}s` as const;
    const { external, name } = project[section][key]!;
    return external && !observed[section].has(name)
      ? [`External ${kind} ${name} does not exist`]
      : [];
  });
}

function externalFiles(key: string, project: Project): string[] {
  const { configs = [], secrets = [] } = project.services[key]!;
  return ([["configs", configs], ["secrets", secrets]] as const).flatMap(([section, grants]) =>
    grants.filter(({ source }) => project[section][source]?.external).map(({ source }) =>
      `${key}: external ${section.slice(0, -1)} ${source} exists in Swarm stacks only`
    )
  );
}

/** A service without a health check never becomes healthy, so that nothing can wait for it. */
function checkHealthWaits(
  name: string,
  { depends_on = {} }: Service,
  { services }: Project,
  observed: Observed,
): Unsupported {
  const checked: Unsupported = { refusals: [], warnings: [] };
  for (const [key, { condition, required }] of Object.entries(depends_on)) {
    const dependency = services[key];
    if (condition !== "service_healthy" || !dependency || scaleOf(dependency) === 0) continue;
    if (hasHealthCheck(dependency, observed)) continue;
    const text = `${name} waits until ${key} is healthy, and ${key} has no health check`;
    if (required) {
      checked.refusals.push(`${text}; add healthcheck to ${key} or use condition: service_started`);
    } else checked.warnings.push(`${text}; ${name} does not wait for it`);
  }
  return checked;
}

/** Of a service or its image. An image that has to be pulled may have one. */
function hasHealthCheck(service: Service, { images, imageIds }: Observed): boolean {
  const { disable, test = [] } = service.healthcheck ?? {};
  if (disable || test[0] === "NONE") return false;
  if (test.length > 0) return true;
  const id = imageIds.get(imageKey(service));
  const image: ContainerConfig | undefined = id === undefined
    ? undefined
    : images.get(fullImageId(id));
  const inherited = image?.Healthcheck?.Test ?? [];
  return !image || (inherited.length > 0 && inherited[0] !== "NONE");
}
