/**
 * Volume operations of the engine's API.
 *
 * @module
 */

import type { Engine } from "./client.ts";
import { EngineError } from "./errors.ts";
import { segment } from "./path.ts";
import { type Filters, filtersText, isAtLeast, withMargin } from "./query.ts";
import { systemPing } from "./system.ts";

/** One volume, in the list and by itself. */
export interface Volume {
  Name: string;
  Driver: string;
  Mountpoint: string;
  Scope: string;
  /** RFC 3339; some drivers do not tell. */
  CreatedAt?: string;
  Labels: Record<string, string> | null;
  Options: Record<string, string> | null;
  /** In `/system/df` only; both -1 where unknown. */
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

/** @throws {EngineError} 404 when there is no such volume. */
export function volumeInspect(
  engine: Engine,
  name: string,
  { signal }: Signal = {},
): Promise<Volume> {
  return engine.json("GET", `/volumes/${segment("volume", name)}`, { signal });
}

/** @throws {EngineError} 404 when there is no such volume; 409 when a container uses it. */
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

/** How an anonymous volume's name looks: 32 random bytes. */
const ANONYMOUS = /^[0-9a-f]{64}$/;

/**
 * Removes the volumes that no container uses.
 *
 * @param options.all Named ones, too; otherwise only anonymous ones. Since API 1.42 the engine
 * itself tells them apart by the filter `all`; before, it knows no such filter and prunes both
 * kinds, so that anonymous ones alone are removed one by one.
 * @returns Names of what went; bytes that they had occupied (0 where they went one by one).
 */
export async function volumePrune(
  engine: Engine,
  { all = false, filters = {}, signal }: {
    all?: boolean | undefined;
    filters?: Filters | undefined;
  } & Signal = {},
): Promise<{ deleted: string[]; spaceReclaimed: number }> {
  if (engine.apiVersion === undefined) await systemPing(engine, { signal });
  const knowsAll = isAtLeast(engine.apiVersion, "1.42");
  if (!all && !knowsAll) return await removeAnonymous(engine, filters, signal);

  const pruned = await engine.json<
    { VolumesDeleted?: string[] | null; SpaceReclaimed?: number } | null
  >("POST", "/volumes/prune", {
    query: { filters: filtersText(all && knowsAll ? { ...filters, all: ["true"] } : filters) },
    signal,
    long: true,
    headTimeoutMs: withMargin(600),
  });
  return { deleted: pruned?.VolumesDeleted ?? [], spaceReclaimed: pruned?.SpaceReclaimed ?? 0 };
}

async function removeAnonymous(
  engine: Engine,
  filters: Filters,
  signal: AbortSignal | undefined,
): Promise<{ deleted: string[]; spaceReclaimed: number }> {
  const unused = await volumeList(engine, { filters: { ...filters, dangling: ["true"] }, signal });
  const deleted: string[] = [];
  for (const { Name } of unused) {
    if (!ANONYMOUS.test(Name)) continue;
    try {
      await volumeRemove(engine, Name, { signal });
      deleted.push(Name);
    } catch (error) {
      // It was taken into use or removed since the list was made.
      if (!(error instanceof EngineError && [404, 409].includes(error.status))) throw error;
    }
  }
  return { deleted, spaceReclaimed: 0 };
}
