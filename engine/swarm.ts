/**
 * Swarm mode: services and their tasks. All functions fail with `EngineError` 503 on an engine that
 * is not a swarm manager.
 *
 * @module
 */

import type { Engine } from "./client.ts";
import { type RegistryAuth, registryAuthHeader } from "./registry_auth.ts";
import { segment } from "./path.ts";
import { type Filters, filtersText, type Signal } from "./query.ts";
import { LIST_LIMITS, type Shortened } from "./shortened_json.ts";

export interface ServiceSpec {
  Name?: string;
  /** `com.docker.stack.namespace` names the stack. */
  Labels?: Record<string, string> | null;
  TaskTemplate?: {
    ContainerSpec?: {
      Image?: string;
      Labels?: Record<string, string> | null;
      [f: string]: unknown;
    };
    /** Incrementing it makes the swarm recreate the tasks. */
    ForceUpdate?: number;
    [field: string]: unknown;
  };
  /** Exactly one of the fields. */
  Mode?: {
    Replicated?: { Replicas?: number };
    Global?: Record<string, never>;
    ReplicatedJob?: Record<string, unknown>;
    GlobalJob?: Record<string, unknown>;
  };
  [field: string]: unknown;
}

export interface Service extends Shortened {
  ID: string;
  /** Must be sent with an update, which fails if the service has changed since. */
  Version: { Index: number };
  CreatedAt: string;
  UpdatedAt: string;
  Spec: ServiceSpec;
  Endpoint?: { Ports?: unknown[] | null; [field: string]: unknown };
  UpdateStatus?: { State?: string; Message?: string; [field: string]: unknown };
  /** Since API 1.41, in lists. */
  ServiceStatus?: { RunningTasks: number; DesiredTasks: number; CompletedTasks?: number } | null;
  [field: string]: unknown;
}

export interface Task {
  ID: string;
  ServiceID: string;
  NodeID?: string;
  /** E.g. `running`, `shutdown`. */
  DesiredState: string;
  Status: {
    Timestamp?: string;
    State: string;
    Message?: string;
    Err?: string;
    ContainerStatus?: { ContainerID?: string; PID?: number; ExitCode?: number } | null;
  };
  CreatedAt: string;
  UpdatedAt: string;
  Labels?: Record<string, string> | null;
  Spec?: { ContainerSpec?: { Image?: string; [f: string]: unknown }; [field: string]: unknown };
  [field: string]: unknown;
}

interface ListOptions {
  filters?: Filters | undefined;
  signal?: AbortSignal | undefined;
}

/** Services, with the number of their running and desired tasks if the engine reports it. */
export function serviceList(
  engine: Engine,
  { filters, signal }: ListOptions = {},
): Promise<Service[]> {
  return engine.json("GET", "/services", {
    query: { status: true, filters: filtersText(filters) },
    signal,
    limits: LIST_LIMITS,
  });
}

/** @throws {EngineError} 404 if the service does not exist. */
export const serviceInspect = (engine: Engine, id: string): Promise<Service> =>
  engine.json("GET", `/services/${segment("service", id)}`);

/**
 * Replaces the specification of a service; the swarm then updates its tasks in the background.
 *
 * @param version `Version.Index` of the service as it was read.
 * @throws {EngineError} 404 if the service does not exist; 409 (500 on old engines) if it has
 * changed since.
 */
export async function serviceUpdate(
  engine: Engine,
  id: string,
  version: number,
  spec: ServiceSpec,
  { auth, signal }: {
    /** Stored by the swarm for its nodes; without it, they use what the service had before. */
    auth?: RegistryAuth | undefined;
  } & Signal = {},
): Promise<{ warnings: string[] }> {
  const updated = await engine.json<{ Warnings?: string[] | null } | null>(
    "POST",
    `/services/${segment("service", id)}/update`,
    { query: { version }, headers: registryAuthHeader(auth), body: spec, signal },
  );
  return { warnings: updated?.Warnings ?? [] };
}

/** Tasks, including ended ones. */
export function taskList(engine: Engine, { filters, signal }: ListOptions = {}): Promise<Task[]> {
  return engine.json("GET", "/tasks", {
    query: { filters: filtersText(filters) },
    signal,
    limits: LIST_LIMITS,
  });
}
