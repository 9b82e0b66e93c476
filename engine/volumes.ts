/** Volume operations of the engine's API. @module */

import type { Engine } from "./client.ts";
import { noSuch, segment } from "./path.ts";
import { type Filters, filtersText, type Signal, withMargin } from "./query.ts";
import { LIST_LIMITS, type Shortened } from "./shortened_json.ts";

/** One entry of `GET /volumes`. */
export interface Volume extends Shortened {
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

export async function volumeList(
  engine: Engine,
  { filters, signal }: { filters?: Filters | undefined } & Signal = {},
): Promise<Volume[]> {
  const { Volumes } = await engine.json<{ Volumes: Volume[] | null }>("GET", "/volumes", {
    query: { filters: filtersText(filters) },
    signal,
    limits: LIST_LIMITS,
  });
  return Volumes ?? [];
}

/** Finds a volume by its exact name. */
export async function findVolume(
  engine: Engine,
  name: string,
  { signal }: Signal = {},
): Promise<Volume | undefined> {
  return (await volumeList(engine, { signal })).find(({ Name }) => Name === name);
}

/** Request body of `POST /volumes/create`. */
export interface VolumeCreateBody {
  Name: string;
  Driver: string;
  DriverOpts: Record<string, string>;
  Labels: Record<string, string>;
}

/**
 * Creates a volume. If one with this name and driver exists, the engine returns it unchanged. A
 * missing driver takes Docker 15 s.
 *
 * @throws {EngineError} 404 if the driver does not exist; 400 or 500 for values that it refuses.
 */
export function volumeCreate(
  engine: Engine,
  { body, signal }: { body: VolumeCreateBody } & Signal,
): Promise<Volume> {
  return engine.json("POST", "/volumes/create", {
    body,
    signal,
    long: true,
    headTimeoutMs: withMargin(60),
  });
}

/** @throws {EngineError} 404 if the volume does not exist; 409 when a container uses it. */
export async function volumeRemove(engine: Engine, name: string): Promise<void> {
  // Podman would remove a volume whose name only begins so.
  if (engine.kind === "podman" && !await findVolume(engine, name)) {
    throw noSuch("volume", name);
  }
  await engine.send("DELETE", `/volumes/${segment("volume", name)}`, {
    long: true,
    headTimeoutMs: withMargin(120),
  });
}
