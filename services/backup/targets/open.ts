/** Repositories of targets, and the target that a new snapshot goes to. @module */

import { selectBackupTargets, type StoredTarget } from "../../../db/backup_targets.ts";
import { AppError, InputError } from "../../errors.ts";
import type { WorkerRepository } from "../restic/worker_repository.ts";
import { repositoryOptions, translated } from "./repository.ts";
import { createTarget, findTarget, openTarget, type TargetDeps } from "./targets.ts";

/** A target with its repository, which works in a worker until it is disposed. */
export interface OpenedTarget extends Disposable {
  target: StoredTarget;
  repository: WorkerRepository;
}

/**
 * Opens the repository of a target.
 *
 * @param ref Id or name; default: the default target.
 * @throws {AppError} `not_found`; `conflict` without a default target and for a repository that cannot
 * be used; `bad_gateway` if the target fails.
 */
export async function openTargetRepository(
  deps: TargetDeps,
  ref: string | undefined,
  signal: AbortSignal,
): Promise<OpenedTarget> {
  const { target, storage, password } = await openTarget(deps, ref && findTarget(deps, ref).id);
  return await translated(async () => {
    const cached = deps.snapshotFiles.cached(storage);
    const options = repositoryOptions(deps, cached, password);
    const repository = await deps.openRepository(options, signal);
    return { target, repository, [Symbol.dispose]: () => repository.close() };
  });
}

/**
 * The target for a new snapshot. Without any target, one in `DATA_DIR/snapshots` is created.
 *
 * @param ref Id or name; default: the default target.
 * @returns The target, and whether it was created.
 * @throws {AppError} `not_found`; `conflict` without a default target.
 */
export async function targetForSnapshot(
  deps: TargetDeps,
  ref: string | undefined,
): Promise<Pick<StoredTarget, "id" | "name"> & { isNew: boolean }> {
  if (ref === undefined && selectBackupTargets(deps.db).length === 0) {
    return { ...await createDefaultTarget(deps), isNew: true };
  }
  const { target: { id, name } } = await openTarget(deps, ref && findTarget(deps, ref).id);
  return { id, name, isNew: false };
}

/** A repository that is there is that of an earlier installation, which only its password opens. */
async function createDefaultTarget(
  deps: TargetDeps,
): Promise<Pick<StoredTarget, "id" | "name">> {
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
