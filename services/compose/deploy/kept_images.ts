/**
 * Images that a deploy has replaced. A name of their own keeps them from being pruned, so that the deploy
 * can be taken back until `keepPreviousDays` are over.
 *
 * @module
 */

import { EngineError } from "../../../engine/errors.ts";
import { fullImageId } from "../../../engine/image_id.ts";
import { imageTag } from "../../../engine/images.ts";
import { upsertPreviousImage } from "../../../db/updates/previous.ts";
import type { Deps } from "../../deps.ts";
import { previousTag } from "../../images/previous_tag.ts";
import { errorFields } from "../../log.ts";
import { inspectIfThere, type Pair } from "../../updates/run/members.ts";

type KeepDeps = Pick<Deps, "db" | "engine" | "log" | "now">;

/**
 * Names the images of containers that are about to be removed.
 *
 * @param stack Its name.
 * @param pairs Without `newId` if nothing replaces the old one.
 */
export async function keepImages(
  deps: KeepDeps,
  stack: string,
  pairs: readonly Pick<Pair, "oldId" | "newId">[],
): Promise<void> {
  const old = new Map<string, string>();
  const used = new Set<string>();
  for (const { oldId, newId } of pairs) {
    const before = await inspectIfThere(deps.engine, oldId);
    if (before) old.set(fullImageId(before.Image), before.Config.Image || before.Image);
    const after = newId === "" ? undefined : await inspectIfThere(deps.engine, newId);
    if (after) used.add(fullImageId(after.Image));
  }
  for (const [imageId, reference] of old) {
    if (!used.has(imageId)) await keepImage(deps, stack, { imageId, reference });
  }
}

async function keepImage(
  { db, engine, log, now }: KeepDeps,
  stack: string,
  { imageId, reference }: { imageId: string; reference: string },
): Promise<void> {
  const { name, tag } = previousTag(`stack-${stack}`, imageId);
  try {
    await imageTag(engine, imageId, { name, tag });
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    log.warn("failed to keep an image of a stack", { stack, imageId, ...errorFields(error) });
    return;
  }
  upsertPreviousImage(db, {
    id: crypto.randomUUID(),
    // No container has a name with a slash: those go back by themselves after updates only.
    containerName: `stack/${stack}`,
    imageId,
    reference,
    tag: `${name}:${tag}`,
    data: null,
    createdAt: now().toISOString(),
  });
}
