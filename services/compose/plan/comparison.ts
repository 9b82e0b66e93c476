/** One comparison of the plan, and what all of them share. @module */

import type { ContainerConfig, ContainerInspect, HostConfig } from "../../../engine/containers.ts";
import type { EngineInfo } from "../../../engine/system.ts";
import type { Project, Service } from "../load/resolve.ts";

/** A setting. Lists are maps from their entries if their order means nothing. */
export type Setting = string | readonly string[] | Readonly<Record<string, string>>;

/** Context of a comparison besides the values. */
export interface Context {
  /** The key of the service. */
  name: string;
  /** Without what the engine ignores. */
  service: Service;
  project: Project;
  /** The service of one of the project's containers, by its id or name. */
  serviceOf: (container: string) => string | undefined;
  /** Values of the engine where a container has no own setting. */
  defaults: EngineDefaults;
}

export interface EngineDefaults {
  /** The engine's description of itself; without it, nothing of the host is checked. */
  info?: Partial<EngineInfo> | undefined;
  kind?: "docker" | "podman" | undefined;
  /** E.g. `1.41`; without it, every setting is compared. */
  apiVersion?: string | undefined;
  /** E.g. `json-file`. */
  logDriver?: string | undefined;
  /** E.g. `runc`. */
  runtime?: string | undefined;
}

export type Value = Setting | number | boolean | null | undefined;

export interface Comparison {
  wanted: (service: Service, context: Context) => Value;
  /** @param own The configuration without what comes from the image. */
  found: (
    own: ContainerConfig,
    host: HostConfig,
    inspect: ContainerInspect,
    context: Context,
  ) => Value;
}

/** The entries of a list that is compared without its order. */
export const entries = (list: readonly string[] | null | undefined) =>
  Object.fromEntries((list ?? []).map((entry) => [entry, ""]));

/** The engine knows the namespace of another container by its id. */
export function namespaceOf(mode: string | undefined, { service, serviceOf }: Context) {
  const [, container] = /^container:(.+)$/.exec(mode ?? "") ?? [];
  if (container === undefined) return mode;
  const found = serviceOf(container);
  if (found !== undefined) return `service:${found}`;
  // The file may have the name of a container of another project.
  const named = [service.network_mode, service.ipc, service.pid].find((each) =>
    each?.startsWith("container:")
  );
  return named ?? `container:${container.slice(0, 12)}`;
}
