/** Joins the repository at a location, or creates one, and stores its target. @module */

import { selectBackupTargets, type StoredTarget } from "../../../db/backup_targets.ts";
import { randomText } from "../../builtins.ts";
import { withTimeLimit } from "../../deadline.ts";
import type { Deps } from "../../deps.ts";
import { AppError, InputError } from "../../errors.ts";
import { assertOutboundUrl } from "../../outbound/url.ts";
import { createRepository, openRepository } from "../restic/repository.ts";
import type { StorageDeps } from "../storages/requests.ts";
import { checkCredentials, sealSecrets } from "./credentials.ts";
import { type Location, locationText, originOf } from "./location.ts";
import { asTargetError, hasRepository, repositoryOptions, targetStorage } from "./repository.ts";
import { checkLocation, type TargetSettings } from "./settings.ts";

/** Length of made passwords, in bytes. */
const PASSWORD_BYTES = 32;

/** Longest creation of a repository, or joining of one, in milliseconds. */
const SETUP_MS = 90_000;

export type TargetDeps =
  & StorageDeps
  & Pick<Deps, "db" | "limiters" | "log" | "openRepository" | "secrets" | "server">
  & Pick<Deps, "snapshotFiles" | "startedAt">;

/** Storage of a target in the database: before its repository is created, and taken back if that fails. */
interface Storing {
  store(target: StoredTarget): void;
  undo(): void;
}

/**
 * Checks the settings, joins or creates the repository, and stores the target.
 *
 * @param base The target without its settings. @returns The password that was made, if one was.
 */
export async function establish(
  deps: TargetDeps,
  base: Omit<StoredTarget, "name" | "location" | "updatedAt">,
  settings: TargetSettings,
  { store, undo }: Storing,
): Promise<string | null> {
  const location = checkLocation(deps, settings.location);
  const { secretAccessKey, userPassword, ...shown } = checkCredentials(location, settings);
  const target: StoredTarget = {
    ...base,
    ...shown,
    name: settings.name,
    location: locationText(location),
    updatedAt: deps.now().toISOString(),
  };
  assertUnused(deps.db, target);
  await assertReach(deps, location);
  const storage = await targetStorage(deps, target, { secretAccessKey, userPassword })
    .catch((error) => {
      if (!(error instanceof AppError) || error.code !== "conflict") throw error;
      throw new AppError("invalid", `body.location: ${error.message}`, { cause: error });
    });
  const save = (password: string) => {
    const secrets = { password, secretAccessKey, userPassword };
    store({ ...target, sealedSecrets: sealSecrets(deps.secrets, target, secrets) });
  };
  return await withTarget(async (signal) => {
    if (await hasRepository(storage, signal)) {
      if (settings.password === null) throw repositoryExists();
      await openRepository(repositoryOptions(deps, storage, settings.password), signal);
      save(settings.password);
      return null;
    }
    const password = settings.password ?? randomText(PASSWORD_BYTES);
    // Stored before, so that a crash does not leave a repository without its password.
    save(password);
    try {
      await createRepository(repositoryOptions(deps, storage, password), signal);
    } catch (error) {
      undo();
      throw error;
    }
    return settings.password === null ? password : null;
  });
}

/** Runs requests to a target within one time limit; its failures are for the caller. */
export async function withTarget<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const timeoutError = () =>
    new AppError("bad_gateway", "The target did not answer in time; check that it works");
  try {
    return await withTimeLimit({ timeoutMs: SETUP_MS, timeoutError }, work);
  } catch (error) {
    throw asTargetError(error);
  }
}

/** @throws {AppError} `invalid` for a server that the service may not connect to. */
async function assertReach(deps: StorageDeps, location: Location): Promise<void> {
  const origin = originOf(location);
  if (origin !== "") await assertOutboundUrl(deps, origin, "internal", "body.location");
}

/** @throws {AppError} `conflict`. */
export function assertUnused(
  db: Deps["db"],
  { id, name, location }: Pick<StoredTarget, "id" | "name" | "location">,
): void {
  for (const other of selectBackupTargets(db)) {
    if (other.id === id) continue;
    if (other.name === name) throw new AppError("conflict", `Backup target ${name} already exists`);
    if (other.location === location) {
      throw new AppError("conflict", `Backup target ${other.name} already has this location`);
    }
  }
}

const repositoryExists = () =>
  new InputError([{
    path: "body.password",
    message: "is required, because the location has a repository",
  }]);
