/**
 * Secrets and configs of a swarm. All functions fail with `EngineError` 503 on an engine that is not
 * a swarm manager.
 *
 * @module
 */

import type { Engine } from "./client.ts";
import { segment } from "./path.ts";
import { type Filters, filtersText, type Signal } from "./query.ts";
import { LIST_LIMITS, type Shortened } from "./shortened_json.ts";

/** A secret or config, which never changes except for its labels. */
export interface SwarmValue extends Shortened {
  ID: string;
  Version: { Index: number };
  CreatedAt: string;
  UpdatedAt: string;
  Spec: {
    Name: string;
    Labels?: Record<string, string> | null;
    /** Base64. The engine returns it for configs only. */
    Data?: string;
    /** Of a secret from another store, which has no data. */
    Driver?: { Name?: string } | null;
    /** The program that fills the value in for each task. */
    Templating?: { Name?: string } | null;
    [field: string]: unknown;
  };
}

/** Request body of both. */
export interface NewSwarmValue {
  Name: string;
  Labels: Record<string, string>;
  /** Base64. */
  Data: string;
  Templating?: SwarmValue["Spec"]["Templating"];
}

interface ListOptions extends Signal {
  filters?: Filters | undefined;
}

export function secretList(
  engine: Engine,
  { filters, signal }: ListOptions = {},
): Promise<SwarmValue[]> {
  const query = { filters: filtersText(filters) };
  return engine.json("GET", "/secrets", { query, signal, limits: LIST_LIMITS });
}

/** @throws {EngineError} 409 if the name is in use. */
export function secretCreate(engine: Engine, secret: NewSwarmValue): Promise<{ ID: string }> {
  return engine.json("POST", "/secrets/create", { body: secret });
}

/** @throws {EngineError} 404; 400 if a service uses it. */
export async function secretRemove(engine: Engine, id: string): Promise<void> {
  await engine.send("DELETE", `/secrets/${segment("secret", id)}`);
}

export function configList(
  engine: Engine,
  { filters, signal }: ListOptions = {},
): Promise<SwarmValue[]> {
  const query = { filters: filtersText(filters) };
  return engine.json("GET", "/configs", { query, signal, limits: LIST_LIMITS });
}

/** @throws {EngineError} 409 if the name is in use. */
export function configCreate(engine: Engine, config: NewSwarmValue): Promise<{ ID: string }> {
  return engine.json("POST", "/configs/create", { body: config });
}

/** @throws {EngineError} 404; 400 if a service uses it. */
export async function configRemove(engine: Engine, id: string): Promise<void> {
  await engine.send("DELETE", `/configs/${segment("config", id)}`);
}
