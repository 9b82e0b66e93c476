/**
 * Opens the repositories of backup targets in the thread of the test: a worker takes 200 ms of the
 * processor to start.
 *
 * @module
 */

import { openRepository } from "../../services/backup/restic/repository.ts";
import type { OpenRepository } from "../../services/backup/restic/worker_repository.ts";
import "./remembered_keys.ts";

export const directRepository: OpenRepository = async ({ now, ...options }, signal) => {
  // As in a worker, whose clock goes on.
  const offsetMs = now().getTime() - Date.now();
  const repository = await openRepository({
    ...options,
    now: () => new Date(Date.now() + offsetMs),
    settleMs: 0,
  }, signal);
  return { ...repository, close() {}, [Symbol.dispose]() {} };
};
