/**
 * Questions to registries that the engine asks, with its mirrors, proxy and certificates.
 *
 * @module
 */

import { EngineError, EngineUnreachableError, RefusedCallError } from "../../../engine/errors.ts";
import { canonicalReference, type ImageReference } from "../../../engine/image_reference.ts";
import { type Distribution, distributionInspect } from "../../../engine/distribution.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { assertRegistryReach, credentialsFor, type RegistryAccessDeps } from "./access.ts";
import { RegistryError } from "./error.ts";

/** Only the engine may know the names, e.g. through its proxy. */
const resolve = () => Promise.resolve([]);

/**
 * Reads the digest and platforms of an image. This counts as a pull at Docker Hub.
 *
 * @throws {RegistryError} Also on Podman, which does not have this.
 */
export async function inspectViaEngine(
  deps: RegistryAccessDeps & Pick<Deps, "engine">,
  reference: ImageReference,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<Distribution> {
  const auth = credentialsFor(deps, reference);
  try {
    await assertRegistryReach({ ...deps, resolve }, reference, reference.registry);
    return await distributionInspect(deps.engine, canonicalReference(reference), { auth, signal });
  } catch (error) {
    const isSentence = [EngineUnreachableError, RefusedCallError, AppError]
      .some((kind) => error instanceof kind);
    if (error instanceof EngineError && !isSentence) throw asRegistryError(error);
    if (error instanceof Error && isSentence) {
      throw new RegistryError("unreachable", error.message, { cause: error });
    }
    throw error;
  }
}

/** The engine's statuses differ by version, its texts do not. */
function asRegistryError(cause: EngineError): RegistryError {
  const { status, message } = cause;
  const reason = /toomanyrequests|too many requests/i.test(message)
    ? "rate_limited"
    : /manifest unknown|name unknown|not found/i.test(message)
    ? "not_found"
    : status === 401 || status === 403 || /unauthorized|denied|basic auth/i.test(message)
    ? "unauthorized"
    : "unreachable";
  return new RegistryError(reason, `The engine could not ask the registry: ${message}`, { cause });
}
