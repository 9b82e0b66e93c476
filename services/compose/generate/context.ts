/** Context of a service's description, besides its container. @module */

import type { ContainerConfig } from "../../../engine/containers.ts";
import { sharedContainer } from "../../../engine/containers.ts";
import type { EngineDefaults } from "../plan/comparison.ts";

export interface ServiceContext {
  /** The service's key in the file. */
  key: string;
  /** The project of the file; `undefined` if it describes containers of several projects. */
  project: string | undefined;
  /** The configuration of the container's image; `undefined` if it was removed. */
  image: ContainerConfig | undefined;
  /** The image's reference in the file. */
  reference: string;
  defaults: EngineDefaults;
  /** The service in the file of a container, by its id or name. */
  serviceOf: (container: string) => string | undefined;
  /** The name of any container, by its id. */
  nameOf: (id: string) => string;
  /** Returns what the file has instead of a value that may be a password. */
  secretText: (name: string, value: string) => string;
  networkKey: (name: string) => string;
  volumeKey: (name: string) => string;
  warn: (message: string) => void;
}

/** `container:ID` as the service of that container, or by its name. */
export function namespaceOf(
  mode: string | undefined,
  { serviceOf, nameOf, warn, key }: ServiceContext,
): string | undefined {
  const container = sharedContainer(mode);
  if (container === undefined) return mode;
  const service = serviceOf(container);
  if (service !== undefined) return `service:${service}`;
  const name = nameOf(container);
  warn(`${key} shares a namespace of the container ${name}, which is not in the file`);
  return `container:${name}`;
}
