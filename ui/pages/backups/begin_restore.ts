/** Starts restores, and says what they stop. @module */

import { api } from "../../api/client.ts";
import type { BackupRestoreRequest } from "../../api/types.ts";
import { plain } from "../../base/text.ts";
import { reportJob } from "../../state/jobs.ts";
import { showStatus } from "../../state/toasts.ts";

/**
 * Starts a restore; its end is reported wherever the user is by then.
 *
 * @param name Of what is restored.
 * @throws {ApiError} If it has not begun.
 */
export async function beginRestore(
  id: string,
  name: string,
  body: BackupRestoreRequest,
): Promise<void> {
  const job = await api("POST /api/backup/snapshots/{id}/restore", { path: { id }, body });
  showStatus(`The restore of ${name} has begun`);
  void reportJob(
    () => Promise.resolve(job),
    `Restored ${name}`,
    `The restore of ${name} has failed`,
  );
}

/** Sentences about the containers that use what is replaced. */
export const stops = (users: readonly string[]): string =>
  users.length === 0
    ? "No container uses it."
    : `${users.map(plain).join(", ")} ${
      users.length === 1 ? "is" : "are"
    } stopped meanwhile if running, then started and watched; if that fails, what was there comes ` +
      "back.";
