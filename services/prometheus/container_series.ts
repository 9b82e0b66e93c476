/** Metric series of containers and their shared labels. @module */

import type { Container } from "../containers/inventory.ts";
import type { ContainerStats } from "../containers/stats_cache.ts";
import { type Family, type Labels, labelValue, metric, type Series } from "./family.ts";

/** A container to export. */
export interface ExportedContainer {
  container: Container;
  sharedLabels: Labels;
  stats: ContainerStats | undefined;
}

/** Reads the values of a container; `null` if it has none. */
export type Values = (exported: ExportedContainer) => Series[] | number | null;

export type EngineKind = "docker" | "podman" | undefined;

export type ContainerLabels = (container: Container, kind: EngineKind) => Labels;

/** Returns a function that creates families of the given containers. */
export function familyOf(exported: readonly ExportedContainer[]) {
  return (name: string, help: string, read: Values): Family => {
    const values: Series[] = [];
    for (const container of exported) {
      const { sharedLabels } = container;
      const value = read(container);
      const list = typeof value === "number" ? [{ value }] : value ?? [];
      for (const series of list) {
        // A value missing in the engine's answer would make the export invalid.
        if (Number.isFinite(series.value)) values.push({ ...series, sharedLabels });
      }
    }
    return metric(name, help, values);
  };
}

/**
 * Returns a function that gives a container's labels: those of cAdvisor, and of the container's own
 * labels only those of compose. They are cached, because the library formats shared labels once per
 * object. A container that changes is a new object in the inventory.
 */
export function createContainerLabels(): ContainerLabels {
  const cache = new WeakMap<Container, { kind: EngineKind; labels: Labels }>();
  return (container, kind) => {
    const cached = cache.get(container);
    if (cached && cached.kind === kind) return cached.labels;
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
    cache.set(container, { kind, labels });
    return labels;
  };
}
