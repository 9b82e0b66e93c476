/**
 * Ends rebuilds that were cut short by the end of this process or of the engine: forward where the
 * new container had been started, back where it had not.
 *
 * @module
 */

import {
  type ContainerInspect,
  containerInspect,
  containerList,
  containerRemove,
  containerRename,
  containerStart,
} from "../../engine/containers.ts";
import { EngineError, ifThere } from "../../engine/errors.ts";
import type { Deps } from "../deps.ts";
import { isUp } from "./container_replace.ts";
import { isBeingRebuilt, readMark, type RebuildMark } from "./rebuild_marks.ts";

type RecoveryDeps = Pick<Deps, "engine" | "log">;

/** How a cut-short rebuild was ended. */
export interface Recovery {
  container: string;
  outcome: "went back" | "completed" | "failed";
  error: string | null;
}

/** The containers of one cut-short rebuild. */
interface Remains {
  mark: RebuildMark;
  new?: ContainerInspect;
  old?: ContainerInspect;
  /** Who has the name now. */
  holder?: ContainerInspect;
}

/**
 * Looks for what cut-short rebuilds left, and ends them. To be called before the service takes
 * requests, and whenever the engine came back; rebuilds that this process is at are left alone.
 *
 * @returns What was found, usually nothing.
 * @throws {EngineUnreachableError}
 */
export async function recoverRebuilds(deps: RecoveryDeps): Promise<Recovery[]> {
  const recoveries: Recovery[] = [];
  for (const remains of await findRemains(deps)) {
    const { mark: { name } } = remains;
    try {
      recoveries.push({ container: name, outcome: await recover(deps, remains), error: null });
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      recoveries.push({ container: name, outcome: "failed", error: error.message });
    }
    deps.log.warn("a rebuild had been cut short", { ...recoveries.at(-1) });
  }
  return recoveries;
}

async function findRemains({ engine }: RecoveryDeps): Promise<Remains[]> {
  const containers = await containerList(engine, { all: true });
  const idByName = new Map(
    containers.flatMap(({ Id, Names }) => Names.map((name) => [name.replace(/^\//, ""), Id])),
  );
  const inspect = async (id: string | undefined) =>
    id === undefined ? undefined : await ifThere(containerInspect(engine, id));

  const found = new Map<string, Remains>();
  for (const [containerName, id] of idByName) {
    const mark = readMark(containerName);
    if (!mark || isBeingRebuilt(engine, mark.name)) continue;
    // A name can be given by anyone; the old container's own id cannot.
    if (mark.role === "old" && !id.startsWith(mark.oldId)) continue;
    const container = await inspect(id);
    // What has run holds data; only what never did is ours to throw away.
    if (!container || (mark.role === "new" && container.State.Status !== "created")) continue;
    const key = `${mark.name} ${mark.oldId}`;
    const holder = await inspect(idByName.get(mark.name));
    found.set(key, { ...found.get(key), mark, ...(holder && { holder }), [mark.role]: container });
  }
  return [...found.values()];
}

async function recover(
  { engine }: RecoveryDeps,
  { mark: { name, ran, oldId }, new: fresh, old, holder }: Remains,
): Promise<Recovery["outcome"]> {
  if (fresh && (old || holder)) {
    // Nothing was done to the old one yet, or no more than stopping it and setting it aside.
    await containerRemove(engine, fresh.Id);
    if (old && !holder) await containerRename(engine, old.Id, { name });
    const original = old ?? (holder?.Id.startsWith(oldId) ? holder : undefined);
    if (ran && original && !isUp(original)) await containerStart(engine, original.Id);
    return "went back";
  }
  if (fresh) {
    // The old one removed itself when it was stopped.
    await containerRename(engine, fresh.Id, { name });
    if (ran) await containerStart(engine, fresh.Id);
    return "completed";
  }
  if (!old) return "failed";
  if (holder && (!ran || holder.State.Status !== "created")) {
    await ifThere(containerRemove(engine, old.Id));
    return "completed";
  }
  // The new one has the name, but was never started; or it is gone already.
  if (holder) await containerRemove(engine, holder.Id);
  await containerRename(engine, old.Id, { name });
  if (ran) await containerStart(engine, old.Id);
  return "went back";
}
