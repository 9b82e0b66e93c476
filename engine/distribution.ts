/** Registry requests made through the engine. @module */

import type { Engine } from "./client.ts";
import { segments } from "./path.ts";
import { type RegistryAuth, registryAuthHeader } from "./registry_auth.ts";
import type { Signal } from "./query.ts";

/** The engine tries its mirrors one after another. */
const DISTRIBUTION_HEAD_TIMEOUT_MS = 60_000;

/** Description of a reference in a registry. */
export interface Distribution {
  Descriptor: { digest: string; mediaType?: string; size?: number };
  /** Empty for engines that do not know; a plain image has one. */
  Platforms?: { os?: string; architecture?: string; variant?: string }[] | null;
}

/**
 * Lets the engine ask the registry for an image. Podman does not have this.
 *
 * @throws {EngineError} 401, 403 or 404 from the registry, or 500, with the engine's text.
 */
export function distributionInspect(
  engine: Engine,
  reference: string,
  { auth, signal }: { auth?: RegistryAuth | undefined } & Signal = {},
): Promise<Distribution> {
  return engine.json("GET", `/distribution/${segments("image", reference)}/json`, {
    headers: registryAuthHeader(auth),
    signal,
    long: true,
    headTimeoutMs: DISTRIBUTION_HEAD_TIMEOUT_MS,
  });
}
