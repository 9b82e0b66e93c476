/**
 * Swarm mode: services and their tasks. All functions fail with `EngineError` 503 on an engine that
 * is not a swarm manager.
 *
 * @module
 */

import type { Engine } from "./client.ts";
import { type RegistryAuth, registryAuthHeader } from "./registry_auth.ts";
import { type Frame, frames, rawFrames } from "./frames.ts";
import { segment } from "./path.ts";
import { type Filters, filtersText, type Signal } from "./query.ts";
import { type JsonLimits, LIST_LIMITS, type Shortened } from "./shortened_json.ts";

/** Of a service: a secret or config as a file of its containers. */
export interface Grant {
  File?: { Name: string; UID?: string; GID?: string; Mode?: number } | undefined;
  SecretID?: string;
  SecretName?: string;
  ConfigID?: string;
  ConfigName?: string;
  [field: string]: unknown;
}

export interface ServiceSpec {
  Name?: string;
  /** `com.docker.stack.namespace` names the stack. */
  Labels?: Record<string, string> | null;
  TaskTemplate?: {
    ContainerSpec?: {
      Image?: string;
      Labels?: Record<string, string> | null;
      Secrets?: Grant[] | null;
      Configs?: Grant[] | null;
      [f: string]: unknown;
    };
    Placement?: {
      Constraints?: string[] | null;
      Preferences?: { Spread?: { SpreadDescriptor?: string } }[] | null;
      /** Tasks on one node; 0 for no limit. */
      MaxReplicas?: number;
      [field: string]: unknown;
    } | null;
    Networks?: { Target?: string; Aliases?: string[] | null; [field: string]: unknown }[] | null;
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
  UpdateConfig?: UpdateConfig | null;
  RollbackConfig?: UpdateConfig | null;
  [field: string]: unknown;
}

/** How the swarm replaces tasks. Durations are nanoseconds. */
export interface UpdateConfig {
  /** Tasks at a time; 0 for all. */
  Parallelism?: number;
  Delay?: number;
  /** `pause`, `continue` or `rollback`. */
  FailureAction?: string;
  /** A task that fails within this time after its start counts as failed. */
  Monitor?: number;
  /** From 0 to 1. */
  MaxFailureRatio?: number;
  /** `stop-first` or `start-first`. */
  Order?: string;
}

export interface PublishedPort {
  Protocol?: string;
  TargetPort?: number;
  PublishedPort?: number;
  /** `ingress` on every node, `host` on those with a task. */
  PublishMode?: string;
  [field: string]: unknown;
}

export interface Service extends Shortened {
  ID: string;
  /** Must be sent with an update, which fails if the service has changed since. */
  Version: { Index: number };
  CreatedAt: string;
  UpdatedAt: string;
  Spec: ServiceSpec;
  /** The specification to which a rollback returns. */
  PreviousSpec?: ServiceSpec | null;
  Endpoint?: { Ports?: PublishedPort[] | null; [field: string]: unknown };
  UpdateStatus?: {
    /** `updating`, `paused`, `completed`, or `rollback_` with `started`, `paused`, `completed`. */
    State?: string;
    Message?: string;
    StartedAt?: string;
    CompletedAt?: string;
    [field: string]: unknown;
  } | null;
  /** Since API 1.41, in lists. */
  ServiceStatus?: { RunningTasks: number; DesiredTasks: number; CompletedTasks?: number } | null;
  [field: string]: unknown;
}

export interface Task {
  ID: string;
  ServiceID: string;
  NodeID?: string;
  /** From 1 for a replica, 0 for a global service. */
  Slot?: number;
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
export function serviceInspect(engine: Engine, id: string, { signal }: Signal = {}) {
  return engine.json<Service>("GET", `/services/${segment("service", id)}`, { signal });
}

/** @throws {EngineError} 409 if the name is in use. */
export function serviceCreate(
  engine: Engine,
  spec: ServiceSpec,
  { auth, signal }: { auth?: RegistryAuth | undefined } & Signal = {},
): Promise<{ ID: string; Warning?: string; Warnings?: string[] | null }> {
  const headers = registryAuthHeader(auth);
  return engine.json("POST", "/services/create", { headers, body: spec, signal });
}

/** Removes a service; its tasks end in the background. @throws {EngineError} 404. */
export async function serviceRemove(engine: Engine, id: string): Promise<void> {
  await engine.send("DELETE", `/services/${segment("service", id)}`);
}

/**
 * The output of all tasks of a service, from every node. Each line begins with its time, a space, the
 * details `com.docker.swarm.node.id=…,com.docker.swarm.service.id=…,com.docker.swarm.task.id=…` and
 * a space.
 *
 * @throws {EngineError} 404 if the service does not exist.
 */
export async function serviceLogs(
  engine: Engine,
  { ID, Spec }: Pick<Service, "ID" | "Spec">,
  { tail, since, follow, signal }: {
    /** Number of last lines of each task, or all. */
    tail?: number | "all" | undefined;
    /** Unix seconds, fractions allowed. */
    since?: string | undefined;
    follow?: boolean | undefined;
  } & Signal = {},
): Promise<AsyncIterable<Frame>> {
  const query = {
    stdout: true,
    stderr: true,
    timestamps: true,
    details: true,
    tail,
    since,
    follow,
  };
  const path = `/services/${segment("service", ID)}/logs` as const;
  const { body } = await engine.request("GET", path, { query, signal, long: true });
  return Spec.TaskTemplate?.ContainerSpec?.TTY ? rawFrames(body) : frames(body);
}

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
  { auth, rollback, signal }: {
    /** Stored by the swarm for its nodes; without it, they use what the service had before. */
    auth?: RegistryAuth | undefined;
    /** `previous` returns to the specification before the last update; `spec` is ignored then. */
    rollback?: "previous" | undefined;
  } & Signal = {},
): Promise<{ warnings: string[] }> {
  const updated = await engine.json<{ Warnings?: string[] | null } | null>(
    "POST",
    `/services/${segment("service", id)}/update`,
    { query: { version, rollback }, headers: registryAuthHeader(auth), body: spec, signal },
  );
  return { warnings: updated?.Warnings ?? [] };
}

/**
 * Limits of the tasks of one service, of which each has its whole specification: thousands of tasks are
 * kept as they are.
 */
export const TASKS_LIMITS: JsonLimits = { ...LIST_LIMITS, whole: 32 * 1024 * 1024 };

/** Tasks, including ended ones. */
export function taskList(
  engine: Engine,
  { filters, signal, limits = LIST_LIMITS }: ListOptions & { limits?: JsonLimits } = {},
): Promise<Task[]> {
  return engine.json("GET", "/tasks", {
    query: { filters: filtersText(filters) },
    signal,
    limits,
  });
}
