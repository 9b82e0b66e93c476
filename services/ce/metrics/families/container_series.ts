/**
 * The lines of one container: its figures, and the labels that they share.
 *
 * @module
 */

import type { Container } from "../../../state/inventory.ts";
import type { ContainerStats } from "../../../state/stats_cache.ts";
import { counter, type Family, gauge, type Labels, labelValue, type Series } from "./family.ts";

/** A container with what its lines have in common. */
export interface Exported {
  container: Container;
  sharedLabels: Labels;
  stats: ContainerStats | undefined;
}

/** Reads the figures of one container; `null` where it has none. */
export type Values = (exported: Exported) => Series[] | number | null;

/** Containers are replaced in the inventory when they change, and so are their labels here. */
const labelsOf = new WeakMap<Container, { kind: EngineKind; labels: Labels }>();

export type EngineKind = "docker" | "podman" | undefined;

/** Makes families over the same containers. */
export function familyOf(exported: readonly Exported[]) {
  return (type: "counter" | "gauge", name: string, help: string, read: Values): Family => {
    const values: Series[] = [];
    for (const one of exported) {
      const { sharedLabels } = one;
      const found = read(one);
      const list = typeof found === "number" ? [{ value: found }] : found ?? [];
      for (const series of list) {
        // A figure that the engine forgot must not make the whole text unreadable.
        if (Number.isFinite(series.value)) values.push({ ...series, sharedLabels });
      }
    }
    return type === "counter" ? counter(name, help, values) : gauge(name, help, values);
  };
}

/** cAdvisor's: of a container's own labels only those that tell its place in a stack. */
export function sharedLabels(container: Container, kind: EngineKind): Labels {
  const known = labelsOf.get(container);
  if (known && known.kind === kind) return known.labels;
  const { id, name, image, composeProject, composeService } = container;
  const labels = {
    // cAdvisor's id is the path of the control group.
    id: kind === "podman" ? `/machine.slice/libpod-${id}.scope` : `/docker/${id}`,
    name: labelValue(name),
    image: labelValue(image),
    ...(composeProject !== null && {
      container_label_com_docker_compose_project: labelValue(composeProject),
    }),
    ...(composeService !== null && {
      container_label_com_docker_compose_service: labelValue(composeService),
    }),
  };
  labelsOf.set(container, { kind, labels });
  return labels;
}
