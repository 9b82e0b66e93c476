/**
 * The start order of a compose project's services, from the dependencies in container labels.
 *
 * @module
 */

/** The state that a dependency must reach before its dependent is started. */
type DependencyCondition =
  | "service_started"
  | "service_healthy"
  | "service_completed_successfully";

export interface Dependency {
  service: string;
  condition: DependencyCondition;
}

/** Limits for labels, which can have any content; the rest is ignored. */
const LABEL_MAX = 32 * 1024;
const DEPENDENCIES_MAX = 256;

/**
 * Reads the label `com.docker.compose.depends_on`, e.g.
 * `db:service_healthy:false,cache:service_started:true`: service, condition, and whether a restart
 * is propagated (used by compose only). A missing or unknown condition counts as `service_started`.
 */
export function parseDependsOn(label: string | undefined): Dependency[] {
  const dependencies = new Map<string, Dependency>();
  for (const entry of (label ?? "").slice(0, LABEL_MAX).split(",")) {
    const [service = "", condition] = entry.trim().split(":");
    if (service === "" || dependencies.size >= DEPENDENCIES_MAX) continue;
    dependencies.set(service, { service, condition: parseCondition(condition) });
  }
  return [...dependencies.values()];
}

function parseCondition(text: string | undefined): DependencyCondition {
  return text === "service_healthy" || text === "service_completed_successfully"
    ? text
    : "service_started";
}

/**
 * Sorts services into levels that depend on earlier levels only, so that the services of a level
 * can be started in parallel. Dependencies on unknown services are ignored. A cycle is broken at
 * one of its members, which is then started before its dependencies.
 *
 * @param dependencies The services that each service depends on.
 */
export function startOrder(dependencies: ReadonlyMap<string, readonly string[]>): string[][] {
  const waiting = new Set([...dependencies.keys()].sort());
  const unmet = (service: string) =>
    dependencies.get(service)!.find((other) => other !== service && waiting.has(other));

  const levels: string[][] = [];
  while (waiting.size > 0) {
    let level = [...waiting].filter((service) => unmet(service) === undefined);
    if (level.length === 0) level = [findCycleMember([...waiting][0]!, unmet)];
    levels.push(level);
    for (const service of level) waiting.delete(service);
  }
  return levels;
}

/** Follows unmet dependencies until a service repeats. Every service must have one. */
function findCycleMember(start: string, unmet: (service: string) => string | undefined): string {
  const seen = new Set<string>();
  let service = start;
  while (!seen.has(service)) {
    seen.add(service);
    service = unmet(service)!;
  }
  return service;
}
