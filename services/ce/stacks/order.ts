/**
 * In which order the services of a compose project are started, from what their containers'
 * labels say of dependencies.
 *
 * @module
 */

/** What a service asks of one that it depends on, before it is started itself. */
export type DependencyCondition =
  | "service_started"
  | "service_healthy"
  | "service_completed_successfully";

export interface Dependency {
  service: string;
  condition: DependencyCondition;
}

/** Anyone can write labels; what is beyond these bounds is ignored. */
const LABEL_MAX = 32 * 1024;
const DEPENDENCIES_MAX = 256;

/**
 * Reads the label `com.docker.compose.depends_on`, e.g.
 * `db:service_healthy:false,cache:service_started:true`: service, condition, and whether a restart
 * carries over (which concerns compose only). Conditions that are missing or not known count as
 * `service_started`.
 */
export function parseDependsOn(label: string | undefined): Dependency[] {
  const dependencies = new Map<string, Dependency>();
  for (const entry of (label ?? "").slice(0, LABEL_MAX).split(",")) {
    const [service = "", condition] = entry.trim().split(":");
    if (service === "" || dependencies.size >= DEPENDENCIES_MAX) continue;
    dependencies.set(service, { service, condition: asCondition(condition) });
  }
  return [...dependencies.values()];
}

function asCondition(text: string | undefined): DependencyCondition {
  return text === "service_healthy" || text === "service_completed_successfully"
    ? text
    : "service_started";
}

/**
 * Sorts services into levels: each level depends on earlier ones only, so that the services of one
 * level can be started at the same time. Stopping takes the levels in reverse. Dependencies on
 * services that are not among the given ones are passed over. A circle is cut open at one of its
 * members, which then comes before what it depends on.
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
    if (level.length === 0) level = [memberOfCircle([...waiting][0]!, unmet)];
    levels.push(level);
    for (const service of level) waiting.delete(service);
  }
  return levels;
}

/** Follows unmet dependencies, of which every service has one here, until one comes up again. */
function memberOfCircle(start: string, unmet: (service: string) => string | undefined): string {
  const seen = new Set<string>();
  let service = start;
  while (!seen.has(service)) {
    seen.add(service);
    service = unmet(service)!;
  }
  return service;
}
