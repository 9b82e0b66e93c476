/**
 * Image registries: credentials and connection settings, stored or from REGISTRY_AUTH_FILE.
 *
 * @module
 */

import {
  countRegistries,
  deleteRegistry,
  insertRegistry,
  selectRegistries,
  selectRegistriesOfHost,
  selectRegistry,
  type StoredRegistry,
  updateRegistry,
} from "../../../db/registries.ts";
import { canonicalRegistry, isRepository } from "../../../engine/image_reference.ts";
import type { Change } from "../../change.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound, tooMany } from "../../errors.ts";
import { GIVE_AGAIN, NOTHING_STORED, REDACTED } from "../../text/redact.ts";
import { fileAccess, sealPassword, storedAccess } from "./access.ts";
import { type FileEntry, readAuthFile } from "./auth_file.ts";
import { assertCertificates } from "../../outbound/certificates.ts";
import { checkRegistry } from "./client.ts";
import { RegistryError, type RegistryErrorReason } from "./error.ts";
import type { RequestDeps } from "./requests.ts";

/** Limit of stored registries. */
const REGISTRIES_MAX = 100;

/** The settings of a registry in requests. */
interface RegistrySettings {
  host: string;
  pathPrefix: string | null;
  username: string | null;
  password: string | null;
  insecure: boolean;
  caCertificate: string | null;
}

/** A registry as the API returns it, without its password. */
interface Registry extends Omit<RegistrySettings, "password"> {
  id: string;
  hasPassword: boolean;
  source: "stored" | "file";
  /** ISO 8601, UTC; `null` for an entry of the file. */
  createdAt: string | null;
  updatedAt: string | null;
}

interface RegistryList {
  registries: Registry[];
  /** Problems of REGISTRY_AUTH_FILE; `null` if the variable is not set. */
  authFile: { problems: string[] } | null;
}

type ReadDeps = Pick<Deps, "config" | "db">;
type WriteDeps = Pick<Deps, "config" | "db" | "secrets" | "now" | "log">;

/** Stored registries by host and path, then the entries of REGISTRY_AUTH_FILE. */
export function listRegistries(deps: ReadDeps): RegistryList {
  const file = readAuthFile(deps);
  return {
    registries: [
      ...selectRegistries(deps.db).map(toRegistry),
      ...(file?.entries ?? []).map(toFileRegistry),
    ],
    authFile: file ? { problems: file.problems } : null,
  };
}

/** @throws {AppError} `not_found`. */
export function getRegistry(deps: ReadDeps, id: string): Registry {
  const found = findRegistry(deps, id);
  return "sealedPassword" in found ? toRegistry(found) : toFileRegistry(found);
}

/**
 * @returns A stored registry or an entry of REGISTRY_AUTH_FILE.
 * @throws {AppError} `not_found`.
 */
function findRegistry(deps: ReadDeps, id: string): StoredRegistry | FileEntry {
  const found = selectRegistry(deps.db, id) ??
    readAuthFile(deps)?.entries.find((entry) => fileId(entry) === id);
  if (!found) throw notFound("Registry", id);
  return found;
}

/**
 * Stores a registry.
 *
 * @throws {AppError} `invalid` for a host, path or certificate that is not valid, and for a password
 * without a user name; `conflict` for a host and path that are in use, and when the limit is reached.
 */
export function createRegistry(deps: WriteDeps, settings: RegistrySettings): Registry {
  const { db, secrets, now, log } = deps;
  const id = crypto.randomUUID();
  const at = now().toISOString();
  const checked = checkSettings(settings);
  if (settings.password === REDACTED) throw nothingStored();
  if (countRegistries(db) >= REGISTRIES_MAX) throw tooMany("registries", REGISTRIES_MAX);
  const registry: StoredRegistry = {
    ...checked,
    id,
    sealedPassword: settings.password === null
      ? null
      : sealPassword(secrets, { id, host: checked.host }, settings.password),
    createdAt: at,
    updatedAt: at,
  };
  assertUnused(db, registry);
  insertRegistry(db, registry);
  log.info("registry created", { registryId: id, host: registry.host });
  return toRegistry(registry);
}

/**
 * Changes the given fields of a stored registry. A password that is omitted or redacted is kept,
 * unless it would be sent to another host or without TLS.
 *
 * @throws {AppError} `not_found`; `invalid` as for a new registry, and if the password must be given
 * again; `conflict` for a host and path that are in use, and for an entry of REGISTRY_AUTH_FILE.
 */
export function changeRegistry(
  deps: WriteDeps,
  id: string,
  change: Change<RegistrySettings>,
): Registry {
  const { db, secrets, now, log } = deps;
  const before = findStored(deps, id);
  const { password: sent, ...others } = change;
  const given = sent === REDACTED ? undefined : sent;
  if (sent === REDACTED && before.sealedPassword === null) throw nothingStored();
  const password = change.username === null ? given ?? null : given;
  const checked = checkSettings({
    host: others.host ?? before.host,
    pathPrefix: others.pathPrefix === undefined ? before.pathPrefix : others.pathPrefix,
    username: others.username === undefined ? before.username : others.username,
    insecure: others.insecure ?? before.insecure,
    caCertificate: others.caCertificate === undefined ? before.caCertificate : others.caCertificate,
    password: password ?? null,
  });
  const isElsewhere = checked.host !== before.host || (checked.insecure && !before.insecure);
  if (password === undefined && before.sealedPassword !== null && isElsewhere) {
    throw new AppError("invalid", `body.password: ${GIVE_AGAIN}`);
  }
  const registry: StoredRegistry = {
    ...before,
    ...checked,
    sealedPassword: password === undefined
      ? before.sealedPassword
      : password === null
      ? null
      : sealPassword(secrets, { id, host: checked.host }, password),
    updatedAt: now().toISOString(),
  };
  assertUnused(db, registry);
  updateRegistry(db, registry);
  log.info("registry changed", { registryId: id, host: registry.host });
  return toRegistry(registry);
}

/** @throws {AppError} `not_found`; `conflict` for an entry of REGISTRY_AUTH_FILE. */
export function removeRegistry(deps: Pick<Deps, "config" | "db" | "log">, id: string): void {
  const { host } = findStored(deps, id);
  deleteRegistry(deps.db, id);
  deps.log.info("registry deleted", { registryId: id, host });
}

/** Result of a test of a registry. */
interface RegistryTest {
  ok: boolean;
  reason: RegistryErrorReason | null;
  /** A sentence for the user. */
  error: string | null;
  durationMs: number;
}

/**
 * Checks that the registry answers Longshore and accepts the credentials.
 *
 * @throws {AppError} `not_found`; `conflict` if the stored password cannot be decrypted.
 */
export async function testRegistry(
  deps: ReadDeps & RequestDeps,
  id: string,
): Promise<RegistryTest> {
  const found = findRegistry(deps, id);
  const access = "sealedPassword" in found ? storedAccess(deps, found) : fileAccess(found);
  const startMs = performance.now();
  const result = (error: RegistryError | null): RegistryTest => ({
    ok: error === null,
    reason: error?.reason ?? null,
    error: error?.message ?? null,
    durationMs: Math.round(performance.now() - startMs),
  });
  try {
    await checkRegistry(deps, found.host, access);
    return result(null);
  } catch (error) {
    if (error instanceof RegistryError) return result(error);
    throw error;
  }
}

function findStored(deps: ReadDeps, id: string): StoredRegistry {
  const found = findRegistry(deps, id);
  if ("sealedPassword" in found) return found;
  throw new AppError(
    "conflict",
    `Registry ${found.host} is in REGISTRY_AUTH_FILE; change the file`,
  );
}

const nothingStored = () => new AppError("invalid", `body.password: ${NOTHING_STORED}`);

/** @throws {AppError} `invalid`. */
function checkSettings(
  { host, pathPrefix, username, password, insecure, caCertificate }: RegistrySettings,
): Omit<StoredRegistry, "id" | "sealedPassword" | "createdAt" | "updatedAt"> {
  const name = canonicalRegistry(host);
  if (name === undefined) {
    throw new AppError(
      "invalid",
      "body.host: must be a host with an optional port, such as registry.example.com:5000",
    );
  }
  if (pathPrefix && !isRepository(pathPrefix)) {
    throw new AppError("invalid", "body.pathPrefix: must be a path such as team/project");
  }
  if (username === null && password !== null) {
    throw new AppError("invalid", "body.username: is required with a password");
  }
  if (insecure && caCertificate !== null) {
    throw new AppError("invalid", "body.caCertificate: has no effect on an insecure registry");
  }
  if (caCertificate !== null) assertCertificates(caCertificate, "body.caCertificate");
  return { host: name, pathPrefix: pathPrefix ?? "", username, insecure, caCertificate };
}

/** @throws {AppError} `conflict`. */
function assertUnused(db: Deps["db"], { id, host, pathPrefix }: StoredRegistry): void {
  const isUsed = selectRegistriesOfHost(db, host)
    .some((other) => other.id !== id && other.pathPrefix === pathPrefix);
  if (!isUsed) return;
  const place = pathPrefix === "" ? host : `${host}/${pathPrefix}`;
  throw new AppError("conflict", `Registry ${place} already exists`);
}

function toRegistry({ sealedPassword, pathPrefix, ...registry }: StoredRegistry): Registry {
  return {
    ...registry,
    pathPrefix: pathPrefix || null,
    hasPassword: sealedPassword !== null,
    source: "stored",
  };
}

function toFileRegistry(entry: FileEntry): Registry {
  return {
    id: fileId(entry),
    host: entry.host,
    pathPrefix: entry.pathPrefix || null,
    username: entry.username,
    hasPassword: true,
    insecure: false,
    caCertificate: null,
    source: "file",
    createdAt: null,
    updatedAt: null,
  };
}

/** The same after each read of the file, and safe in a path. */
const fileId = ({ host, pathPrefix }: FileEntry) =>
  `file-${
    new TextEncoder().encode(`${host}/${pathPrefix}`)
      .toBase64({ alphabet: "base64url", omitPadding: true })
  }`;
