/** Starts backups of Longshore itself. @module */

import type { Holder } from "../../access/shares.ts";
import { findTarget, openTarget } from "../../backup/targets/targets.ts";
import type { Reason } from "../../backup/trees/tags.ts";
import type { Deps } from "../../deps.ts";
import { startJob } from "../../jobs/runner.ts";
import type { JobView } from "../../jobs/view.ts";
import { OWN_NAME } from "./content.ts";
import { ownBackupKind } from "./kind.ts";

/**
 * Unlike a snapshot, it creates no target on the disk of the data.
 *
 * @param request.target Id or name. It has no default, which others could change.
 * @throws {AppError} `not_found`; `conflict` while another one is made.
 */
export async function startOwnBackup(
  deps: Deps,
  caller: Holder,
  { target: ref, note = null }: { target: string; note?: string | null | undefined },
  reason: Reason = "manual",
): Promise<JobView> {
  const { target } = await openTarget(deps, findTarget(deps, ref).id);
  return startJob(deps, ownBackupKind, {
    target: OWN_NAME,
    input: { targetId: target.id, place: target.name, reason, note },
    caller,
  }).job;
}
