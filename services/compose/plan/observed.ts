/** Objects of a project on the engine. @module */

import type { ContainerConfig, ContainerInspect } from "../../../engine/containers.ts";
import type { Network } from "../../../engine/networks.ts";
import type { Volume } from "../../../engine/volumes.ts";
import type { Container } from "../../containers/inventory.ts";
import type { Platform } from "../../updates/run/platform.ts";
import type { FileHashes } from "../deploy/files.ts";
import type { EngineDefaults } from "./comparison.ts";

export interface Observed {
  /** The containers of the project, without one-off ones. */
  containers: readonly ContainerInspect[];
  /** The configurations of their images, and of those of the file, by id. */
  images: ReadonlyMap<string, ContainerConfig>;
  /** The platforms of these images by id. */
  platforms?: ReadonlyMap<string, Platform>;
  /** The ids of the project's images by `imageKey()`; missing for those that have to be pulled. */
  imageIds: ReadonlyMap<string, string>;
  /** Names of all networks. */
  networks: ReadonlySet<string>;
  /** Names of all volumes. */
  volumes: ReadonlySet<string>;
  /** Hashes of the configs and secrets that are copied, by service. */
  fileHashes?: ReadonlyMap<string, FileHashes>;
  /** The networks and volumes themselves by name, to find differences. */
  networkDetails?: ReadonlyMap<string, Network>;
  volumeDetails?: ReadonlyMap<string, Volume>;
  /** The containers on networks that differ from the file, by the network's name. */
  attached?: ReadonlyMap<string, readonly AttachedContainer[]>;
  /** All containers of the engine, to find those that depend on the project's. */
  all?: readonly Container[];
  defaults?: EngineDefaults;
}

/** A container that a network has, also if it is stopped. */
export interface AttachedContainer {
  id: string;
  name: string;
  /** Its service, if the container belongs to the project. */
  service: string | undefined;
}
