/**
 * Reads manifests of images from their registries. Requests do not count as pulls, except reads with
 * GET and those that the engine makes.
 *
 * @module
 */

import type { ManifestKind } from "../../../db/updates/digests.ts";
import { nodeCrypto } from "../../builtins.ts";
import type { ImageReference } from "../../../engine/image_reference.ts";
import type { Deps } from "../../deps.ts";
import { OutboundError, type OutboundErrorCode } from "../../outbound/error.ts";
import type { OutboundResponse } from "../../outbound/http.ts";
import { accessFor, type RegistryAccess, type RegistryAccessDeps } from "./access.ts";
import { invalidAnswer, parseContent, rateLimitRemaining } from "./answers.ts";
import { RegistryError } from "./error.ts";
import { type RegistryRequest, registryRequest, type RequestDeps } from "./requests.ts";
import { inspectViaEngine } from "./via_engine.ts";

export { RegistryError };

interface Manifest {
  /** Of the index, for an image of several platforms. */
  digest: string;
  /** Missing if the registry does not say. */
  kind?: ManifestKind;
  /** Whether the digest is the hash of the content; otherwise the registry states it. */
  isHash?: true;
  /** Pulls that the registry's rate limit still allows, if it says. */
  rateLimitRemaining?: number;
}

export type RegistryDeps = RegistryAccessDeps & RequestDeps & Pick<Deps, "engine">;

export type Options = Pick<RegistryRequest, "signal" | "timeoutMs">;

export const INDEX_TYPES = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
];

const MANIFEST_TYPES = [
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
];

const ACCEPT = [...INDEX_TYPES, ...MANIFEST_TYPES].join(", ");

/** Limit of a manifest (OCI distribution specification), in bytes. */
export const MANIFEST_MAX = 4 * 1024 * 1024;

/** Statuses with which registries and proxies answer that do not know the method HEAD. */
const HEAD_UNKNOWN: ReadonlySet<number | undefined> = new Set([400, 404, 405, 406, 501]);

export const DIGEST = /^(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/;

/** Failures of the way to the registry, which the engine may know better. */
const WAY_FAILURES: ReadonlySet<OutboundErrorCode> = new Set([
  "network",
  "timeout",
  "tls",
  "unresolvable",
]);

/**
 * Reads the digest that a tag has now: with HEAD, which is not a pull, or with GET from registries
 * that do not know HEAD. If the registry cannot be reached, the engine is asked.
 *
 * @throws {RegistryError}
 */
export async function headManifest(
  deps: RegistryDeps,
  reference: ImageReference,
  options: Options = {},
): Promise<Manifest> {
  return await orViaEngine(deps, async () => {
    const access = accessFor(deps, reference);
    const head = await registryRequest(deps, reference.registry, access, {
      ...requestFor(reference),
      ...options,
      method: "HEAD",
      bodyMax: 0,
    }).catch((error) => {
      if (HEAD_UNKNOWN.has(Object(error).status)) return undefined;
      throw error;
    });
    if (head) assertNoPage(reference.registry, head);
    const stated = head?.headers["docker-content-digest"];
    const manifest = head && stated !== undefined
      ? { digest: stated, ...kindOf(head.headers["content-type"]), ...limitOf(head) }
      : await hashManifest(deps, access, reference, options);
    assertDigest(reference, manifest.digest);
    return manifest;
  }, async () => {
    const { Descriptor: { digest, mediaType } } = await inspectViaEngine(deps, reference, options);
    return { digest, ...kindOf(mediaType) };
  });
}

async function hashManifest(
  deps: RegistryDeps,
  access: RegistryAccess,
  reference: ImageReference,
  options: Options,
): Promise<Manifest> {
  const { digest, content, response } = await getManifest(deps, access, reference, options);
  return {
    digest,
    kind: content.manifests ? "index" : "image",
    isHash: true,
    ...limitOf(response),
  };
}

function kindOf(mediaType: string | undefined): Pick<Manifest, "kind"> {
  const type = (mediaType ?? "").split(";", 1)[0]!.trim().toLowerCase();
  if (INDEX_TYPES.includes(type)) return { kind: "index" };
  return MANIFEST_TYPES.includes(type) ? { kind: "image" } : {};
}

function limitOf({ headers }: OutboundResponse): Pick<Manifest, "rateLimitRemaining"> {
  const remaining = rateLimitRemaining(headers);
  return remaining === undefined ? {} : { rateLimitRemaining: remaining };
}

/**
 * Checks that a registry answers and accepts the credentials.
 *
 * @param host Host and port as in names of images.
 * @throws {RegistryError}
 */
export async function checkRegistry(
  deps: RequestDeps,
  host: string,
  access: RegistryAccess,
): Promise<void> {
  // Docker Hub and others grant anonymous tokens, so a success without credentials says little.
  const response = await registryRequest(deps, host, access, {
    method: "GET",
    path: "/v2/",
    bodyMax: MANIFEST_MAX,
  }).catch((error) => {
    // Every registry has this path, so that the host is something else.
    throw error.reason === "not_found" ? invalidAnswer(host, "the API of a registry") : error;
  });
  assertNoPage(host, response);
}

/**
 * Asks the registry, and the engine if the registry cannot be reached; with REGISTRY_VIA=engine only
 * the engine. If that fails as well, the error is that of the direct way.
 */
export async function orViaEngine<Result>(
  { config, log }: Pick<RegistryDeps, "config" | "log">,
  direct: () => Promise<Result>,
  viaEngine: () => Promise<Result>,
): Promise<Result> {
  if (config.registryVia === "engine") return await viaEngine();
  try {
    return await direct();
  } catch (error) {
    const { cause } = Object(error);
    if (!(cause instanceof OutboundError) || !WAY_FAILURES.has(cause.code)) throw error;
    try {
      return await viaEngine();
    } catch (engineError) {
      log.debug("registry not reachable through the engine", { reason: String(engineError) });
      throw error;
    }
  }
}

const requestFor = ({ repository, tag = "latest", digest }: ImageReference) => ({
  path: `/v2/${repository}/manifests/${digest ?? tag}`,
  repository,
  accept: ACCEPT,
});

export type Content = Record<string, unknown>;

/** @throws {RegistryError} `invalid` if the content does not have the digest that is stated. */
export async function getManifest(
  deps: RegistryDeps,
  access: RegistryAccess,
  reference: ImageReference,
  options: Options,
): Promise<{ digest: string; content: Content; response: OutboundResponse }> {
  const response = await registryRequest(deps, reference.registry, access, {
    ...requestFor(reference),
    method: "GET",
    bodyMax: MANIFEST_MAX,
    ...options,
  });
  const content = parseContent(response, reference.registry);
  if (typeof content.schemaVersion !== "number") {
    throw invalidAnswer(reference.registry, "a manifest");
  }
  const stated = reference.digest ?? response.headers["docker-content-digest"];
  const algorithm = stated?.startsWith("sha512:") ? "sha512" : "sha256";
  const digest = `${algorithm}:${
    nodeCrypto().createHash(algorithm).update(response.body).digest("hex")
  }`;
  if (stated !== undefined && stated !== digest) {
    throw new RegistryError(
      "invalid",
      `${reference.registry} sent a manifest that does not have its digest`,
    );
  }
  return { digest, content, response };
}

/** A proxy may answer with a page of its own. */
function assertNoPage(host: string, { headers }: OutboundResponse): void {
  if (/^text\/html/i.test(headers["content-type"] ?? "")) {
    throw invalidAnswer(host, "the API of a registry");
  }
}

function assertDigest({ registry, digest }: ImageReference, found: string): void {
  if (!DIGEST.test(found)) throw invalidAnswer(registry, "a digest");
  if (digest !== undefined && digest !== found) {
    throw new RegistryError("invalid", `${registry} answered with another digest`);
  }
}
