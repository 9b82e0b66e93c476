/**
 * How the container engine is doing, from memory.
 *
 * @module
 */

import type { Engine } from "../../../engine/client.ts";
import { systemVersion } from "../../../engine/system.ts";
import { withDeadline } from "../../deadline.ts";
import type { Deps } from "../../deps.ts";

/** What can be said of the engine at once; the versions are unknown (`null`) while it is away. */
export interface EngineStatus {
  reachable: boolean;
  version: string | null;
  apiVersion: string | null;
}

/** An engine is seldom replaced by another one; its version is asked for again after this long. */
const VERSION_FRESH_MS = 60_000;

/** Longest wait for a version that is not known yet, in milliseconds. */
const VERSION_WAIT_MS = 500;

interface KnownVersion {
  version: string | null;
  readAt: number;
  reading: Promise<void> | undefined;
}

const versions = new WeakMap<Engine, KnownVersion>();

/** Waits for the engine only as long as its version was never known, and then not for long. */
export async function engineStatus(
  { engine, now }: Pick<Deps, "engine" | "now">,
): Promise<EngineStatus> {
  if (!engine.reachable) return { reachable: false, version: null, apiVersion: null };
  let known = versions.get(engine);
  if (!known) versions.set(engine, known = { version: null, readAt: 0, reading: undefined });
  if (now().getTime() - known.readAt >= VERSION_FRESH_MS) {
    known.reading ??= readVersion(engine, known, now).finally(() => known.reading = undefined);
    if (known.version === null) await withDeadline(known.reading, VERSION_WAIT_MS);
  }
  return { reachable: true, version: known.version, apiVersion: engine.apiVersion ?? null };
}

/** Never fails: an engine that does not tell its version has just been lost. */
async function readVersion(engine: Engine, known: KnownVersion, now: () => Date): Promise<void> {
  try {
    known.version = (await systemVersion(engine)).Version;
    known.readAt = now().getTime();
  } catch { /* the next reader finds out that it is away */ }
}
