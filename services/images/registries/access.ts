/** Access to the registry of each image: with or without TLS, and the credentials. @module */

import { selectRegistriesOfHost, type StoredRegistry } from "../../../db/registries.ts";
import type { ImageReference } from "../../../engine/image_reference.ts";
import type { RegistryAuth } from "../../../engine/registry_auth.ts";
import type { Deps } from "../../deps.ts";
import { openOrConflict, type Secrets } from "../../secrets/secrets.ts";
import { assertOutboundHost, type OutboundDeps, type OutboundReach } from "../../outbound/url.ts";
import { type FileEntry, readAuthFile } from "./auth_file.ts";

export type RegistryAccessDeps = Pick<Deps, "config" | "db" | "secrets" | "log">;

/** Part of a registry. */
type Place = Pick<ImageReference, "registry" | "repository">;

export interface Credentials {
  /** Either a user name with a password or an identity token. */
  username: string | null;
  password: string | null;
  identityToken: string | null;
}

/** Reach of requests to a registry: any user names one in the reference of an image. */
export const reachOf = ({ isListed }: Pick<RegistryAccess, "isListed">): OutboundReach =>
  isListed ? "loopback" : "internal";

/** Access to a registry. */
export interface RegistryAccess {
  /** Whether an entry names the registry. Only those may be on this host. */
  isListed: boolean;
  /** Whether the registry speaks plain HTTP. */
  insecure: boolean;
  /** PEM: trusted besides the public authorities. */
  caCertificate: string | null;
  /** `undefined` for anonymous access. */
  credentials: Credentials | undefined;
}

const ANONYMOUS: RegistryAccess = {
  isListed: false,
  insecure: false,
  caCertificate: null,
  credentials: undefined,
};

/** The engine's name of Docker Hub in credentials. */
const DOCKER_HUB_ADDRESS = "https://index.docker.io/v1/";

/**
 * Returns the access for an image: that of the entry with its host and the longest path that its
 * repository begins with. An entry without credentials means anonymous access. A stored entry
 * precedes one of REGISTRY_AUTH_FILE with the same path.
 *
 * @throws {AppError} `conflict` if a stored password cannot be decrypted.
 */
export function accessFor(deps: RegistryAccessDeps, place: Place): RegistryAccess {
  const host = place.registry.toLowerCase();
  const file = readAuthFile(deps);
  if (file?.problems.length) {
    deps.log.debug("registry credentials not usable", { problems: file.problems });
  }
  const stored = mostSpecific(selectRegistriesOfHost(deps.db, host), place);
  const inFile = mostSpecific((file?.entries ?? []).filter((entry) => entry.host === host), place);
  if (stored && stored.pathPrefix.length >= (inFile?.pathPrefix.length ?? 0)) {
    return storedAccess(deps, stored);
  }
  return inFile ? fileAccess(inFile) : ANONYMOUS;
}

/**
 * Checks an image that the engine is about to ask a registry for, as direct requests are checked.
 *
 * @param field The name of the field in the error message.
 * @throws {AppError} `invalid` for a registry on this host without an entry.
 */
export async function assertRegistryReach(
  deps: RegistryAccessDeps & OutboundDeps,
  place: Place,
  field: string,
): Promise<void> {
  const access = accessFor(deps, place);
  if (access.isListed) return;
  const host = place.registry.replace(/:\d+$/, "");
  await assertOutboundHost(deps, host, reachOf(access), field);
}

/** @throws {AppError} `conflict` if the password cannot be decrypted. */
export function storedAccess(
  { secrets }: Pick<Deps, "secrets">,
  registry: StoredRegistry,
): RegistryAccess {
  const { username, insecure, caCertificate } = registry;
  const password = openOrConflict(
    () => openPassword(secrets, registry),
    `enter the password of ${registry.host} again`,
  );
  const credentials = password === null ? undefined : { username, password, identityToken: null };
  return { isListed: true, insecure, caCertificate, credentials };
}

export const fileAccess = (entry: FileEntry): RegistryAccess => ({
  ...ANONYMOUS,
  isListed: true,
  credentials: entry,
});

/**
 * Returns what the engine sends to the registry of an image; `undefined` for anonymous access.
 *
 * @throws {AppError} `conflict` if a stored password cannot be decrypted.
 */
export function credentialsFor(deps: RegistryAccessDeps, place: Place): RegistryAuth | undefined {
  const { credentials } = accessFor(deps, place);
  if (!credentials) return undefined;
  const serveraddress = place.registry === "docker.io" ? DOCKER_HUB_ADDRESS : place.registry;
  const { username, password, identityToken } = credentials;
  return identityToken !== null
    ? { identitytoken: identityToken, serveraddress }
    : { username: username!, password: password!, serveraddress };
}

function mostSpecific<Entry extends { pathPrefix: string }>(
  entries: readonly Entry[],
  { repository }: Place,
): Entry | undefined {
  return entries
    .filter(({ pathPrefix }) => pathPrefix === "" || `${repository}/`.startsWith(`${pathPrefix}/`))
    .sort((a, b) => b.pathPrefix.length - a.pathPrefix.length)[0];
}

/** The host is part of the purpose, so that the password cannot be moved to another host. */
export function sealPassword(
  secrets: Secrets,
  registry: Pick<StoredRegistry, "id" | "host">,
  password: string,
): string {
  return secrets.seal(password, purposeOf(registry));
}

/** @throws {SealError} */
function openPassword(secrets: Secrets, registry: StoredRegistry): string | null {
  const { sealedPassword } = registry;
  return sealedPassword === null ? null : secrets.open(sealedPassword, purposeOf(registry));
}

const purposeOf = ({ id, host }: Pick<StoredRegistry, "id" | "host">) =>
  `registry ${id} ${host} password`;
