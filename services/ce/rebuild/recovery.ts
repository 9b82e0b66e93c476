/**
 * Finishes rebuilds that were interrupted by a stop of this process or of the engine. A rebuild is
 * completed if the new container was started, or if the old one has lost the namespace that it
 * shared; otherwise it is rolled back.
 *
 * @module
 */

import { deleteRebuild, type Rebuild, selectRebuilds } from "../../../db/ce/rebuilds.ts";
import {
  type ContainerInspect,
  containerInspect,
  containerRemove,
  containerRename,
  containerStart,
} from "../../../engine/containers.ts";
import { EngineError, ifThere } from "../../../engine/errors.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { asContainer, listAll, type ReadDeps } from "../containers/reads.ts";
import { isUp, nameOf, putInPlace, removeOld } from "./replace.ts";
import { dependentsOf, sharesNamespaceOf } from "../containers/share_group.ts";
import { rejoinDependents } from "./dependents.ts";
import { readMark } from "./marks.ts";
import { hasStarted, isFinished, readRemains, type Remains } from "./remains.ts";
import { startOrder } from "../stacks/order.ts";

type RecoveryDeps = ReadDeps & Pick<Deps, "db" | "log" | "reservations">;

/** How an interrupted rebuild was finished. */
export interface Recovery {
  container: string;
  outcome: "rolled back" | "completed" | "failed";
  error: string | null;
}

/**
 * Finishes interrupted rebuilds. Called before the service accepts requests, after a reconnect to the
 * engine, and periodically; rebuilds in progress are skipped.
 *
 * @returns The finished rebuilds, usually none.
 * @throws {EngineUnreachableError}
 */
export async function recoverRebuilds(deps: RecoveryDeps): Promise<Recovery[]> {
  const recoveries: Recovery[] = [];
  const interrupted = selectRebuilds(deps.db).filter((rebuild) => !isInProgress(deps, rebuild));
  for (const rebuild of await sortSharedFirst(deps, interrupted)) {
    // An action on its container may have reserved it meanwhile.
    if (isInProgress(deps, rebuild)) continue;
    using reservation = deps.reservations.reserve(identityOf(rebuild), "recovered");
    if (rebuild.newId) reservation.add([{ id: rebuild.newId, name: rebuild.name }]);
    const recovery = await recoverRebuild(deps, rebuild);
    if (!recovery) continue;
    recoveries.push(recovery);
    deps.log.warn("interrupted rebuild found", { ...recovery });
  }
  return recoveries;
}

const identityOf = ({ oldId, name }: Rebuild) => ({ id: oldId, name });

const isInProgress = ({ reservations }: RecoveryDeps, rebuild: Rebuild) =>
  reservations.find(identityOf(rebuild)) !== undefined;

/** Sorts a container before those that share its namespaces. */
async function sortSharedFirst(
  deps: RecoveryDeps,
  rebuilds: readonly Rebuild[],
): Promise<Rebuild[]> {
  const members = await Promise.all(rebuilds.map(async (rebuild) => {
    const remains = await readRemains(deps, rebuild.oldId);
    const containers = [remains?.old, remains?.new].filter((each) => each !== undefined);
    return { rebuild, containers: containers.map((each) => asContainer(deps, each)) };
  }));
  const byId = new Map(members.map((member) => [member.rebuild.oldId, member]));
  const order = startOrder(
    new Map(members.map(({ rebuild, containers }) => [
      rebuild.oldId,
      members.filter((other) =>
        containers.some((sharer) =>
          other.containers.some((shared) => sharesNamespaceOf(sharer, shared))
        )
      ).map((other) => other.rebuild.oldId),
    ])),
  );
  return order.flat().map((id) => byId.get(id)!.rebuild);
}

async function recoverRebuild(
  deps: RecoveryDeps,
  { oldId, name }: Rebuild,
): Promise<Recovery | undefined> {
  try {
    const remains = await readRemains(deps, oldId);
    if (!remains) return undefined;
    const outcome = isFinished(remains) ? undefined : await finish(deps, remains);
    deleteRebuild(deps.db, oldId);
    return outcome && { container: name, outcome, error: null };
  } catch (error) {
    if (!(error instanceof EngineError || error instanceof AppError)) throw error;
    return { container: name, outcome: "failed", error: error.message };
  }
}

async function finish(deps: RecoveryDeps, remains: Remains): Promise<Recovery["outcome"]> {
  const { rebuild: { name, ran }, old, new: fresh } = remains;
  const holder = await ifThere(containerInspect(deps.engine, name));
  if (holder && holder.Id !== old?.Id && holder.Id !== fresh?.Id) {
    throw new AppError("conflict", `The name ${name} is in use by another container`);
  }
  if (fresh && await canComplete(deps, remains)) {
    await complete(deps, { ...remains, new: fresh });
    return "completed";
  }
  if (fresh) await containerRemove(deps.engine, fresh.Id);
  if (old) await rollBack(deps, old, { name, ran });
  return "rolled back";
}

async function canComplete(deps: RecoveryDeps, { rebuild, old, new: fresh }: Remains) {
  if (!fresh) return false;
  if (!old || hasStarted(fresh)) return true;
  if (!rebuild.ran && nameOf(fresh) === rebuild.name) return true;
  return !await canStart(deps, old) && await canStart(deps, fresh);
}

/** Whether every container whose namespaces it shares exists and is not being replaced. */
async function canStart(deps: RecoveryDeps, container: ContainerInspect): Promise<boolean> {
  for (const ref of asContainer(deps, container).shares) {
    const shared = await ifThere(containerInspect(deps.engine, ref));
    if (!shared || readMark(nameOf(shared))) return false;
  }
  return true;
}

async function complete(
  deps: RecoveryDeps,
  { rebuild: { name, ran }, old, new: fresh }: Remains & { new: ContainerInspect },
): Promise<void> {
  const { engine } = deps;
  if (!old) {
    if (nameOf(fresh) !== name) await containerRename(engine, fresh.Id, { name });
    if (ran && !hasStarted(fresh)) await containerStart(engine, fresh.Id);
    return;
  }
  const replacement = {
    old,
    name,
    newId: fresh.Id,
    ran,
    isStopped: false,
    isRenamed: nameOf(old) !== name,
    hasName: nameOf(fresh) === name,
  };
  if (!hasStarted(fresh)) await putInPlace(engine, replacement);
  if (!await removeOld(deps, replacement)) {
    throw new AppError("conflict", "The old container could not be removed");
  }
}

async function rollBack(
  deps: RecoveryDeps,
  old: ContainerInspect,
  { name, ran }: Pick<Rebuild, "name" | "ran">,
): Promise<void> {
  const { engine } = deps;
  if (nameOf(old) !== name) await containerRename(engine, old.Id, { name });
  if (!ran || isUp(old)) return;
  await containerStart(engine, old.Id);
  const sharers = dependentsOf(asContainer(deps, old), await listAll(deps));
  const inspected = await Promise.all(
    sharers.map(({ id }) => ifThere(containerInspect(engine, id))),
  );
  await rejoinDependents(deps, inspected.filter((each) => each !== undefined));
}
