/** Snapshots and jobs, as the pages read them. @module */

import type { BackupSnapshotList } from "../../api/types.ts";
import { type Reading, useRead, useReloadAfter } from "../../components/reading.ts";
import { useKinds } from "../../parts/kinds.tsx";
import { useJobs } from "../../state/jobs.ts";
import { jobKinds } from "../../state/kinds.ts";

/** Snapshots that are listed. */
export const READ_MAX = 1_000;

/**
 * Reads again when a job of the group has begun or ended.
 *
 * @param target Its name; default: all.
 */
export function useSnapshots(target?: string): Reading<BackupSnapshotList> {
  const reading = useRead("GET /api/backup/snapshots", {
    query: { ...target === undefined ? { allTargets: true } : { target }, limit: READ_MAX },
  }, ["/api/backup/targets"]);
  useReloadAfter(useBackupJobs().length, reading.reload);
  return reading;
}

/** Kinds of jobs of the group. */
export const useBackupKinds = () => useKinds(jobKinds).filter(({ group }) => group === "Backups");

/** Those in progress. */
export const useBackupJobs = () => useJobs(useBackupKinds().map(({ id }) => id));
