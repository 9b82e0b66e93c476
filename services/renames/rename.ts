/** Renames containers. @module */

import { renameAlertProgress } from "../../db/alert_progress.ts";
import { renameContainerSeries } from "../../db/container_samples.ts";
import { renameCrashLoop } from "../../db/crash_loops.ts";
import { updateScheduledName } from "../../db/schedules.ts";
import { renameBlockedUpdates } from "../../db/updates/blocked.ts";
import { renameHealthTime } from "../../db/updates/health_times.ts";
import { renamePreviousImages } from "../../db/updates/previous.ts";
import { containerRename } from "../../engine/containers.ts";
import { EngineError } from "../../engine/errors.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import type { EmitDeps } from "../events/emit.ts";
import { LOCAL_HOST } from "../../db/host_id.ts";
import type { Container } from "../containers/inventory.ts";
import { endAlertsAbout } from "../alerts/events.ts";
import { forgetRules } from "../alerts/watched_rules.ts";
import { renameProblems } from "../messages/rename.ts";
import { readMark } from "../containers/marks.ts";
import { type ActionDeps, type ActionResult, readResult } from "../containers/actions.ts";
import { assertNotOwn } from "../containers/own_container.ts";
import { resolveContainer } from "../containers/reads.ts";
import { reserveContainer } from "../containers/reserve.ts";

/** The engine's short and full ids: such a name would hide the container with that id. */
const LIKE_ID = /^([0-9a-f]{12}|[0-9a-f]{64})$/;

type RenameDeps = ActionDeps & EmitDeps & Pick<Deps, "alerts" | "metrics">;

/**
 * Gives a container another name. Its metrics history, its open alerts and problems, its blocked and
 * previous images, and the schedules that refer to it by id follow; schedules that refer to it by name keep the name.
 *
 * @throws {AppError} `not_found`; `invalid` for a reserved name; `conflict` for the service's own
 * container, for a name in use, and while another action is in progress.
 */
export async function renameContainer(
  deps: RenameDeps,
  ref: string,
  name: string,
): Promise<ActionResult> {
  assertUsable(name);
  const container = await resolveContainer(deps, ref);
  assertNotOwn(container, "renamed");
  using reservation = reserveContainer(deps, container, "renamed");
  // A rebuild of the container that has the name leaves it free for a moment.
  reservation.add([{ id: container.id, name }]);
  if (container.name === name) return await readResult(deps, container, false);
  const { renaming } = deps.alerts;
  renaming.add(container.id);
  try {
    await renameOrConflict(deps, container.id, name);
    moveState(deps, container, name);
    return await readResult(deps, { ...container, name }, true);
  } finally {
    renaming.delete(container.id);
  }
}

/** Moves what is stored under the name of a container. */
function moveState(
  deps: RenameDeps,
  { id, name: from }: Pick<Container, "id" | "name">,
  to: string,
): void {
  const { alerts, db, inventory, metrics } = deps;
  const names = { from, to };
  // The name was free: they are about an earlier container.
  endAlertsAbout(deps, to);
  db.transaction(() => {
    updateScheduledName(db, { containerId: id, name: to });
    renameAlertProgress(db, names);
    renameCrashLoop(db, names);
    renameProblems(deps, names);
    renameBlockedUpdates(db, names);
    renamePreviousImages(db, names);
    renameHealthTime(db, names);
  });
  renameContainerSeries(metrics, { hostId: LOCAL_HOST, ...names });
  forgetRules(alerts);
  // The state and the snapshot change at once: a problem of an unknown container counts as over.
  const known = inventory.get(id);
  if (known) inventory.put({ ...known, name: to, originalName: to }, inventory.readNumber());
}

function assertUsable(name: string): void {
  if (LIKE_ID.test(name)) {
    throw new AppError("invalid", "body.name: must not have the form of a container id");
  }
  if (readMark(name)) {
    throw new AppError("invalid", "body.name: names of this form are reserved for rebuilds");
  }
}

async function renameOrConflict(
  { engine }: Pick<Deps, "engine">,
  id: string,
  name: string,
): Promise<void> {
  try {
    await containerRename(engine, id, { name });
  } catch (error) {
    if (!(error instanceof EngineError) || !/in use/i.test(error.message)) throw error;
    const message = `The name ${name} is already in use by another container`;
    throw new AppError("conflict", message, { cause: error });
  }
}
