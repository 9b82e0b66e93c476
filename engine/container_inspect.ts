/** The full description of one container. @module */

import type { Engine } from "./client.ts";
import type {
  ContainerConfig,
  EndpointSettings,
  HostConfig,
  MountPoint,
  PortMap,
} from "./container_config.ts";
import { segment } from "./path.ts";
import type { Signal } from "./query.ts";
import { type JsonLimits, OBJECT_LIMITS, type Shortened } from "./shortened_json.ts";

export interface HealthLogEntry {
  /** RFC 3339 with nanoseconds and the engine's time zone. */
  Start: string;
  End: string;
  ExitCode: number;
  Output: string;
}

export interface Health {
  /** `none`, `starting`, `healthy` or `unhealthy`; Podman may return "". */
  Status: string;
  FailingStreak: number;
  /** The last five probes, oldest first. */
  Log: HealthLogEntry[] | null;
}

export interface ContainerState {
  /** created, running, paused, restarting, removing, exited or dead; Podman has more. */
  Status: string;
  Running: boolean;
  Paused: boolean;
  Restarting: boolean;
  OOMKilled: boolean;
  Dead: boolean;
  /** 0 while it is not running. */
  Pid: number;
  ExitCode: number;
  Error: string;
  /** RFC 3339; `0001-01-01T00:00:00Z` for never. */
  StartedAt: string;
  FinishedAt: string;
  /** Only with a health check. Podman 4 calls it `Healthcheck` in its own API only. */
  Health?: Health | null;
  [field: string]: unknown;
}

export interface NetworkSettings {
  Ports?: PortMap | null;
  /** By the network's name. */
  Networks?: Record<string, EndpointSettings> | null;
  [field: string]: unknown;
}

/** Response of `GET /containers/{id}/json`. */
export interface ContainerInspect extends Shortened {
  Id: string;
  /** RFC 3339 with nanoseconds. */
  Created: string;
  /** The program and its arguments (entrypoint and command resolved). */
  Path: string;
  Args: string[] | null;
  State: ContainerState;
  /** Id of the image, `sha256:...`; Podman omits the prefix. */
  Image: string;
  /** With a leading slash. */
  Name: string;
  /** At the top level, not in `State`. */
  RestartCount: number;
  Driver?: string;
  Platform?: string;
  ExecIDs?: string[] | null;
  HostConfig: HostConfig;
  Mounts: MountPoint[] | null;
  Config: ContainerConfig;
  NetworkSettings: NetworkSettings;
  /** Only with `size`. */
  SizeRw?: number;
  SizeRootFs?: number;
  [field: string]: unknown;
}

/**
 * Describes one container.
 *
 * @param id Full id, unambiguous prefix or name.
 * @throws {EngineError} 404 if the container does not exist.
 */
export function containerInspect(
  engine: Engine,
  id: string,
  { size, limits = OBJECT_LIMITS, signal }:
    & { size?: boolean | undefined; limits?: JsonLimits | undefined }
    & Signal = {},
): Promise<ContainerInspect> {
  return engine.json("GET", `/containers/${segment("container", id)}/json`, {
    query: { size },
    signal,
    limits,
  });
}
