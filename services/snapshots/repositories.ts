/** Opened repositories of targets, so that a password is tried once and not for each request. @module */

import type { StoredTarget } from "../../db/backup_targets.ts";
import { selectBackupTargets } from "../../db/backup_targets.ts";
import { asTargetError, lockHolder } from "../backup/targets/repository.ts";
import { createTarget, openTarget } from "../backup/targets/targets.ts";
import { openRepository, type Repository } from "../backup/restic/repository.ts";
import type { Storage } from "../backup/restic/storage.ts";
import type { Deps } from "../deps.ts";
import { AppError, InputError, requireFound } from "../errors.ts";

export interface OpenedTarget {
  target: StoredTarget;
  repository: Repository;
  storage: Storage;
}

/** Repositories by target, of each database; an entry counts until the target is changed. */
const caches = new WeakMap<Deps["db"], Map<string, { updatedAt: string; opened: OpenedTarget }>>();

/**
 * Opens the repository of a target.
 *
 * @param ref Id or name; default: the default target.
 * @throws {AppError} `not_found`; `conflict` without a default target and for a repository that cannot
 * be used; `bad_gateway` if the target fails.
 */
export async function openTargetRepository(
  deps: Deps,
  ref: string | undefined,
  signal: AbortSignal,
): Promise<OpenedTarget> {
  const { target, storage, password } = openTarget(deps, ref && targetId(deps, ref));
  const cache = caches.get(deps.db) ?? new Map();
  caches.set(deps.db, cache);
  const known = cache.get(target.id);
  if (known?.updatedAt === target.updatedAt) return known.opened;
  return await translated(async () => {
    const options = { storage, password, holder: lockHolder(deps), now: deps.now };
    const opened = { target, storage, repository: await openRepository(options, signal) };
    cache.set(target.id, { updatedAt: target.updatedAt, opened });
    return opened;
  });
}

/**
 * The target for a new snapshot. Without any target, one in `DATA_DIR/snapshots` is created.
 *
 * @param ref Id or name; default: the default target.
 * @throws {AppError} `not_found`; `conflict` without a default target.
 */
export async function targetForSnapshot(
  deps: Deps,
  ref: string | undefined,
): Promise<Pick<StoredTarget, "id" | "name">> {
  if (ref === undefined && selectBackupTargets(deps.db).length === 0) {
    return await createDefaultTarget(deps);
  }
  return openTarget(deps, ref && targetId(deps, ref)).target;
}

/** A repository that is there is that of an earlier installation, which only its password opens. */
async function createDefaultTarget(deps: Deps): Promise<Pick<StoredTarget, "id" | "name">> {
  try {
    return await createTarget(deps, { ...DEFAULT_TARGET, isDefault: true });
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new AppError(
      "conflict",
      "DATA_DIR/snapshots has a repository; add it as a backup target with its password",
      { cause: error },
    );
  }
}

const DEFAULT_TARGET = {
  name: "This host",
  location: "",
  password: null,
  accessKeyId: null,
  secretAccessKey: null,
  region: null,
  username: null,
  userPassword: null,
  caCertificate: null,
};

/** @throws {AppError} `not_found` */
function targetId({ db }: Pick<Deps, "db">, ref: string): string {
  const targets = selectBackupTargets(db);
  const found = targets.find(({ id }) => id === ref) ?? targets.find(({ name }) => name === ref);
  return requireFound(found, "Backup target", ref).id;
}

/** Runs work on a repository; its failures become errors that the caller can act on. */
export async function translated<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw asTargetError(error);
  }
}
