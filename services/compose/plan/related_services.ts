/** Services that a plan changes together with others. @module */

import { dependenciesOf, type Project, type Service } from "../load/resolve.ts";
import { type PlannedChange, serviceChange } from "./change.ts";
import { reason } from "./differences.ts";
import type { NetworkChanges } from "./network_changes.ts";
import type { Observed } from "./observed.ts";
import { replicasOf } from "./replicas.ts";

/** The names of services, and of those that they depend on. */
export function withDependencies({ services }: Project, names: readonly string[]): Set<string> {
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
export function withDependents(
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

/** Services with containers on a network that is created again are recreated, also unselected ones. */
export function withNetworks(
  changes: readonly PlannedChange[],
  project: Project,
  { attached, containers }: Observed,
  { recreated }: NetworkChanges,
): PlannedChange[] {
  return changes.map((change) => {
    const { name, reasons } = change;
    const causes = [...recreated.keys()].filter((key) =>
      attached?.get(project.networks[key]!.name)?.some(({ service }) => service === name) ??
        Object.hasOwn(project.services[name]!.networks ?? {}, key)
    ).map((key) =>
      reason(`networks.${key}`, null, null, `network ${project.networks[key]!.name} is recreated`)
    );
    if (causes.length === 0 || replicasOf(project, name, containers).kept.length === 0) {
      return change;
    }
    return serviceChange(name, "recreate", [...reasons, ...causes]);
  });
}

const restartingServices = ({ depends_on = {} }: Service): string[] =>
  Object.keys(depends_on).filter((name) => depends_on[name]!.restart);

const sharedServices = ({ ipc, network_mode, pid, volumes_from = [] }: Service): string[] => [
  ...[ipc, network_mode, pid].flatMap((mode) => /^service:(.+)$/.exec(mode ?? "")?.[1] ?? []),
  ...volumes_from.filter((entry) => !entry.startsWith("container:"))
    .map((entry) => entry.split(":")[0]!),
];
