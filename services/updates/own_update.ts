/**
 * Records updates of this service itself, which happen while it is stopped, as jobs that have ended.
 *
 * @module
 */

import { insertJob } from "../../db/jobs.ts";
import { selectSetting, upsertSetting } from "../../db/settings.ts";
import type { Deps } from "../deps.ts";
import { failInterrupted, type NamedJobKind } from "../jobs/kind.ts";
import { VERSION } from "../version.ts";

/** The jobs have ended before they are stored: none is started or recovered. */
export const ownUpdateKind: NamedJobKind = {
  id: "service.update",
  group: "Updates",
  title: "Service update",
  running: "Updating {target}",
  isListed: true,
  targetType: "host",
  role: "admin",
  permission: "settings:write",
  run: failInterrupted,
  recover: failInterrupted,
};

/** The version of the last start. */
const SETTING = "last_version";

/**
 * Records that this start has another version than the one before it.
 *
 * @param options.hasReturned Whether `deploy/update_trial.sh` has put this version back, together with its
 * data, because the newer one did not get ready.
 */
export function recordOwnUpdate(
  { db, now }: Pick<Deps, "db" | "now">,
  { version = VERSION, hasReturned }: { version?: string; hasReturned: boolean },
): void {
  const previousVersion = selectSetting(db, SETTING) ?? null;
  const isSame = previousVersion === null || previousVersion === version;
  if (isSame && !hasReturned) {
    if (previousVersion === null) upsertSetting(db, SETTING, version);
    return;
  }
  const at = now().toISOString();
  db.transaction(() => {
    upsertSetting(db, SETTING, version);
    insertJob(db, {
      id: crypto.randomUUID(),
      kind: ownUpdateKind.id,
      targetType: ownUpdateKind.targetType,
      target: "longshore",
      stack: null,
      status: hasReturned ? "rolled_back" : "succeeded",
      progress: null,
      steps: [],
      input: {},
      error: hasReturned ? "The newer version was not ready in two starts" : null,
      result: { version, previousVersion: hasReturned ? null : previousVersion },
      createdBy: "host",
      tokenId: null,
      createdAt: at,
      startedAt: at,
      endedAt: at,
    });
  });
}
