/**
 * Volume operations of the engine's API.
 *
 * @module
 */

import type { Engine } from "./client.ts";
import { segment } from "./path.ts";
import { type Filters, filtersText, withMargin } from "./query.ts";

/** One entry of `GET /volumes`. */
export interface Volume {
  Name: string;
  Driver: string;
  Mountpoint: string;
  Scope: string;
  /** RFC 3339; missing with some drivers. */
  CreatedAt?: string;
  Labels: Record<string, string> | null;
  Options: Record<string, string> | null;
  /** In `/system/df` only; both -1 if unknown. */
  UsageData?: { Size: number; RefCount: number } | null;
  [field: string]: unknown;
}

interface Signal {
  signal?: AbortSignal | undefined;
}

export async function volumeList(
  engine: Engine,
  { filters, signal }: { filters?: Filters | undefined } & Signal = {},
): Promise<Volume[]> {
  const { Volumes } = await engine.json<{ Volumes: Volume[] | null }>("GET", "/volumes", {
    query: { filters: filtersText(filters) },
    signal,
  });
  return Volumes ?? [];
}

/** @throws {EngineError} 404 if the volume does not exist; 409 when a container uses it. */
export async function volumeRemove(
  engine: Engine,
  name: string,
  { force, signal }: { force?: boolean | undefined } & Signal = {},
): Promise<void> {
  const response = await engine.request("DELETE", `/volumes/${segment("volume", name)}`, {
    query: { force },
    signal,
    long: true,
    headTimeoutMs: withMargin(120),
  });
  await response.bytes();
}
