/** The place of a backup of Longshore itself in a snapshot. @module */

import type { Snapshot } from "../../backup/restic/snapshot.ts";

/** The path of such a snapshot: a directory with the file alone. */
export const OWN_PATH = "/longshore";

/** The archive that `longshore backup` writes, without a leading slash. */
export const OWN_FILE = "longshore/longshore.backup";

/** Identifies it among the last backups. */
export const OWN_SUBJECT = "longshore";

/** Name in jobs, events and lists. */
export const OWN_NAME = "Longshore";

/** Whether Longshore has stored it as a backup of itself, and nothing else. */
export const isOwnBackup = ({ paths }: Pick<Snapshot, "paths">): boolean =>
  paths.length === 1 && paths[0] === OWN_PATH;
