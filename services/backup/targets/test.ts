/** Tests of targets. @module */

import { updateBackupTargetFields } from "../../../db/backup_targets.ts";
import { AppError } from "../../errors.ts";
import { loadConfig } from "../restic/config.ts";
import { openKeys } from "../restic/key.ts";
import { acquireLock } from "../restic/lock.ts";
import { RepositoryError } from "../restic/repository_error.ts";
import { hasRepository, repositoryOptions } from "./repository.ts";
import { type TargetDeps, withTarget } from "./establish.ts";
import { openTarget } from "./targets.ts";

interface TargetTest {
  ok: boolean;
  /** A sentence for the user. */
  error: string | null;
  durationMs: number;
}

/**
 * Opens the repository, and writes and removes a lock as each backup does. Stores the outcome.
 *
 * @throws {AppError} `not_found`.
 */
export async function testTarget(deps: TargetDeps, id: string): Promise<TargetTest> {
  const startMs = performance.now();
  const error = await findProblem(deps, id);
  const at = deps.now().toISOString();
  updateBackupTargetFields(deps.db, id, { lastTestAt: at, lastTestError: error });
  return { ok: error === null, error, durationMs: Math.round(performance.now() - startMs) };
}

async function findProblem(deps: TargetDeps, id: string): Promise<string | null> {
  try {
    await withTarget(async (signal) => {
      const { storage, password } = await openTarget(deps, id);
      if (!await hasRepository(storage, signal)) throw missing();
      const options = repositoryOptions(deps, storage, password);
      const keys = await openKeys(storage, password, signal);
      const { version } = await loadConfig({ storage, keys, version: 2 }, signal);
      const files = { storage, keys, version };
      const lock = await acquireLock(files, { ...options, exclusive: false }, signal);
      await lock.release();
    });
    return null;
  } catch (error) {
    if (!(error instanceof AppError) || error.code === "not_found") throw error;
    return error.message;
  }
}

const missing = () =>
  new RepositoryError(
    "absent",
    "The location has no repository; add the target again to create one",
  );
