/**
 * References of images: `[registry/]repository[:tag][@digest]`.
 *
 * @see https://github.com/distribution/reference
 * @module
 */

import { EngineError } from "./errors.ts";

export interface ImageReference {
  /** As given, without tag and digest, e.g. `nginx` or `registry.example:5000/team/app`. */
  name: string;
  /** Host and optional port; `docker.io` unless the name has one. */
  registry: string;
  /** Path on the registry, e.g. `library/nginx`. */
  repository: string;
  tag: string | undefined;
  /** `sha256:...` */
  digest: string | undefined;
}

const DEFAULT_REGISTRY = "docker.io";

/** Names of the same registry. */
const ALIASES: Record<string, string> = {
  "index.docker.io": DEFAULT_REGISTRY,
  "registry-1.docker.io": DEFAULT_REGISTRY,
};

/** Maximum length of registry and repository together. */
const NAME_MAX = 255;

const PORT_MAX = 65_535;

const REGISTRY =
  /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*|\[[0-9A-Fa-f:]+\])(?::\d{1,5})?$/;
const REPOSITORY =
  /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^[A-Za-z][A-Za-z0-9]*(?:[+._-][A-Za-z][A-Za-z0-9]*)*:[0-9A-Fa-f]{32,}$/;

/** The engine takes 64 hexadecimal digits for an id. */
const ID = /^[0-9a-f]{64}$/;

/**
 * Splits a reference. A colon before the last slash belongs to the registry's port. The part before
 * the first slash is a registry if it has a dot, a colon or an upper-case letter, or is `localhost`.
 *
 * @throws {EngineError} 400 for an invalid reference.
 */
export function parseReference(reference: string): ImageReference {
  const at = reference.indexOf("@");
  const digest = at < 0 ? undefined : reference.slice(at + 1);
  const named = at < 0 ? reference : reference.slice(0, at);
  const colon = named.indexOf(":", named.lastIndexOf("/") + 1);
  const tag = colon < 0 ? undefined : named.slice(colon + 1);
  const name = colon < 0 ? named : named.slice(0, colon);
  const { registry, repository } = splitName(name);

  if (
    name.length > NAME_MAX || ID.test(name) || !REGISTRY.test(registry) ||
    !REPOSITORY.test(repository) || (tag !== undefined && !TAG.test(tag)) ||
    (digest !== undefined && !DIGEST.test(digest))
  ) throw new EngineError(400, `Invalid image reference: ${reference.slice(0, 300)}`);
  return { name, registry, repository, tag, digest };
}

/** Splits a reference; `undefined` for text that is not one, e.g. the id of an image. */
export function findReference(text: string): ImageReference | undefined {
  try {
    return parseReference(text);
  } catch {
    return undefined;
  }
}

/** Whether a text can name an image: a reference, an id or the beginning of one. */
export const isImageName = (text: string): boolean =>
  ID.test(text) || findReference(text) !== undefined;

/**
 * The one spelling of a registry's host and port: in lower case, and `docker.io` for its other names.
 *
 * @returns `undefined` if the text is not a host with an optional port from 1 to 65535.
 */
export function canonicalRegistry(host: string): string | undefined {
  if (host.length > NAME_MAX || !REGISTRY.test(host)) return undefined;
  const [, port] = /:(\d+)$/.exec(host) ?? [];
  if (port !== undefined && (Number(port) < 1 || Number(port) > PORT_MAX)) return undefined;
  const name = host.toLowerCase();
  return ALIASES[name] ?? name;
}

/** Whether a text is a path on a registry, e.g. `library/nginx`. */
export const isRepository = (path: string) => path.length <= NAME_MAX && REPOSITORY.test(path);

function splitName(name: string): { registry: string; repository: string } {
  const slash = name.indexOf("/");
  const first = name.slice(0, Math.max(0, slash));
  const hasRegistry = /[.:A-Z]/.test(first) || first === "localhost";
  const registry = hasRegistry ? ALIASES[first] ?? first : DEFAULT_REGISTRY;
  const repository = hasRegistry ? name.slice(slash + 1) : name;
  const isOfficial = registry === DEFAULT_REGISTRY && !repository.includes("/");
  return { registry, repository: isOfficial ? `library/${repository}` : repository };
}

/**
 * The one spelling of a reference, e.g. `docker.io/library/nginx:latest` for `nginx`. A digest
 * decides alone which image is meant, so the tag is left out next to it.
 */
export function canonicalReference(
  { registry, repository, tag = "latest", digest }: ImageReference,
): string {
  return `${registry}/${repository}${digest === undefined ? `:${tag}` : `@${digest}`}`;
}

/** Shorter than the ids that users copy; longer ones are taken for ids. */
const LIKE_SHORT_ID = /^[0-9a-f]{1,11}$/;

/**
 * The reference of an image's name: without a tag, the engine would also find an image whose id begins
 * so.
 */
export const nameReference = (reference: string): string =>
  LIKE_SHORT_ID.test(reference) ? `${reference}:latest` : reference;
