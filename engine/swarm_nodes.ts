/**
 * The swarm itself and its nodes. All functions fail with `EngineError` 503 on an engine that is not
 * a swarm manager, and with 500 or 503 while the swarm has no leader.
 *
 * @module
 */

import type { Engine } from "./client.ts";
import { segment } from "./path.ts";
import type { Signal } from "./query.ts";
import { LIST_LIMITS, type Shortened } from "./shortened_json.ts";

export interface Swarm {
  ID: string;
  Version: { Index: number };
  CreatedAt: string;
  UpdatedAt: string;
  /** Must be sent whole with an update. */
  Spec: Record<string, unknown>;
  /** `TrustRoot` is the PEM text of the certificate authority. */
  TLSInfo?: { TrustRoot?: string; [field: string]: unknown } | null;
  RootRotationInProgress?: boolean;
  JoinTokens?: { Worker?: string; Manager?: string };
  [field: string]: unknown;
}

export const NODE_ROLES = ["manager", "worker"] as const;
export type NodeRole = (typeof NODE_ROLES)[number];
export const AVAILABILITIES = ["active", "pause", "drain"] as const;
export type Availability = (typeof AVAILABILITIES)[number];

export interface NodeSpec {
  Name?: string;
  Labels?: Record<string, string> | null;
  Role: NodeRole;
  Availability: Availability;
}

export interface Node extends Shortened {
  ID: string;
  Version: { Index: number };
  CreatedAt: string;
  UpdatedAt: string;
  Spec: NodeSpec;
  Description?: {
    Hostname?: string;
    Platform?: { Architecture?: string; OS?: string };
    Resources?: { NanoCPUs?: number; MemoryBytes?: number };
    Engine?: { EngineVersion?: string; [field: string]: unknown };
    [field: string]: unknown;
  };
  /** `State` is `ready`, `down`, `disconnected` or `unknown`. */
  Status: { State: string; Message?: string; Addr?: string };
  /** Of managers only. */
  ManagerStatus?: {
    Leader?: boolean;
    /** `reachable`, `unreachable` or `unknown`. */
    Reachability?: string;
    Addr?: string;
  } | null;
  [field: string]: unknown;
}

export function swarmInspect(engine: Engine, { signal }: Signal = {}): Promise<Swarm> {
  return engine.json("GET", "/swarm", { signal });
}

/** Replaces the join token of a role. @throws {EngineError} 409 or 500 if the swarm has changed. */
export async function rotateJoinToken(
  engine: Engine,
  { Version: { Index }, Spec }: Pick<Swarm, "Version" | "Spec">,
  role: NodeRole,
): Promise<void> {
  const rotation = role === "worker" ? { rotateWorkerToken: true } : { rotateManagerToken: true };
  await engine.send("POST", "/swarm/update", {
    query: { version: Index, ...rotation },
    body: Spec,
  });
}

export function nodeList(engine: Engine, { signal }: Signal = {}): Promise<Node[]> {
  return engine.json("GET", "/nodes", { signal, limits: LIST_LIMITS });
}

/**
 * @param id Id, host name, or unambiguous prefix of an id.
 * @throws {EngineError} 404 if the node does not exist.
 */
export function nodeInspect(engine: Engine, id: string, { signal }: Signal = {}): Promise<Node> {
  return engine.json("GET", `/nodes/${segment("node", id)}`, { signal });
}

/**
 * @param version `Version.Index` of the node as it was read.
 * @throws {EngineError} 404 if the node does not exist; 409 (500 on old engines) if it has changed
 * since; 400 for the demotion of the last manager.
 */
export async function nodeUpdate(
  engine: Engine,
  id: string,
  version: number,
  spec: NodeSpec,
): Promise<void> {
  const query = { version };
  await engine.send("POST", `/nodes/${segment("node", id)}/update`, { query, body: spec });
}
