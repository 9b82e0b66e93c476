/**
 * Swarm mode: services, their tasks, and the nodes that they run on. Everything here fails with
 * `EngineError` 503 on an engine that is no manager of a swarm.
 *
 * @module
 */

import type { Engine } from "./client.ts";
import { segment } from "./path.ts";
import { type Filters, filtersText } from "./query.ts";

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
    /** Counting it up makes the swarm recreate the tasks. */
    ForceUpdate?: number;
    [field: string]: unknown;
  };
  /** One of the four. */
  Mode?: {
    Replicated?: { Replicas?: number };
    Global?: Record<string, never>;
    ReplicatedJob?: Record<string, unknown>;
    GlobalJob?: Record<string, unknown>;
  };
  [field: string]: unknown;
}

export interface Service {
  ID: string;
  /** Must be given back with an update, so that none is lost. */
  Version: { Index: number };
  CreatedAt: string;
  UpdatedAt: string;
  Spec: ServiceSpec;
  PreviousSpec?: ServiceSpec | null;
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

export interface Node {
  ID: string;
  Version: { Index: number };
  Spec: { Role?: string; Availability?: string; Labels?: Record<string, string> | null };
  Description: { Hostname?: string; [field: string]: unknown };
  Status: { State?: string; Message?: string; Addr?: string };
  ManagerStatus?: { Leader?: boolean; Reachability?: string; Addr?: string } | null;
  [field: string]: unknown;
}

interface ListOptions {
  filters?: Filters | undefined;
  signal?: AbortSignal | undefined;
}

/** Services, with the number of their running and wanted tasks where the engine can tell. */
export function serviceList(
  engine: Engine,
  { filters, signal }: ListOptions = {},
): Promise<Service[]> {
  return engine.json("GET", "/services", {
    query: { status: true, filters: filtersText(filters) },
    signal,
  });
}

/** @throws {EngineError} 404 when there is no such service. */
export function serviceInspect(
  engine: Engine,
  id: string,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<Service> {
  return engine.json("GET", `/services/${segment("service", id)}`, { signal });
}

/**
 * Replaces the specification of a service; the swarm then works towards it by itself.
 *
 * @param version `Version.Index` of the service as it was read.
 * @throws {EngineError} 404 when there is no such service; 409 (500 on old engines) when it was
 * changed since.
 */
export async function serviceUpdate(
  engine: Engine,
  id: string,
  version: number,
  spec: ServiceSpec,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<{ warnings: string[] }> {
  const updated = await engine.json<{ Warnings?: string[] | null } | null>(
    "POST",
    `/services/${segment("service", id)}/update`,
    { query: { version }, body: spec, signal },
  );
  return { warnings: updated?.Warnings ?? [] };
}

/** Tasks, ended ones included. */
export function taskList(engine: Engine, { filters, signal }: ListOptions = {}): Promise<Task[]> {
  return engine.json("GET", "/tasks", { query: { filters: filtersText(filters) }, signal });
}

export function nodeList(engine: Engine, { filters, signal }: ListOptions = {}): Promise<Node[]> {
  return engine.json("GET", "/nodes", { query: { filters: filtersText(filters) }, signal });
}
