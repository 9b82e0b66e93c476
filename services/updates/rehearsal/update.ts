/** The rehearsal of a container's update, and of a stack's. @module */

import { ifThere } from "../../../engine/errors.ts";
import { fullImageId } from "../../../engine/image_id.ts";
import { imageInspect } from "../../../engine/images.ts";
import type { Deps } from "../../deps.ts";
import { JobEnd } from "../../jobs/kind.ts";
import { resolveContainer } from "../../containers/reads.ts";
import { block } from "../run/finish.ts";
import type { FailedUpdate, Planned, Pulled, UpdateJob } from "../run/job.ts";
import { gatePlatform } from "../run/platform.ts";
import { recordVerdict } from "../run/recorded_verdict.ts";
import { digestsOf } from "../run/survey.ts";
import { readUpdateSettings } from "../settings.ts";
import { type Criteria, RehearsalError, rehearse } from "./rehearse.ts";

/**
 * @returns Why the new container counts as well.
 * @throws {JobEnd} With evidence, for an image that fails; it is blocked then.
 * @throws {AppError} As `rehearse()`.
 */
export async function rehearseUpdate(
  deps: Deps,
  job: UpdateJob,
  { members: [target] }: Planned,
  { imageId, digest, digests, platform }: Pulled,
): Promise<string> {
  const { name, reference } = job.input;
  try {
    return await rehearse(deps, job, {
      targets: [name],
      images: new Map([[name, imageId]]),
      criteria: criteriaOf(deps, job),
    });
  } catch (error) {
    if (!(error instanceof RehearsalError)) throw error;
    const { evidence, message: reason } = error;
    deps.db.transaction(() => {
      block(deps, job, { digests, image: reference, reason });
      const outcome = "failure";
      recordVerdict(deps, job, { outcome, digests, platform, imageId, reason, evidence });
    });
    const result = {
      container: name,
      id: target!.oldId,
      image: reference,
      digest,
      reason,
      evidence,
      data: null,
    };
    throw new JobEnd("failed", reason, result satisfies FailedUpdate);
  }
}

/**
 * Rehearses the new images of a stack together, because its containers need each other.
 *
 * @param parts The part of the job of each container.
 * @returns Why the new containers count as well; `null` if none gets a new image.
 * @throws {RehearsalError} For images that fail; they are blocked then.
 * @throws {AppError} As `rehearse()`.
 */
export async function rehearseStack(
  deps: Deps,
  parts: readonly UpdateJob[],
): Promise<string | null> {
  const changed: { part: UpdateJob; imageId: string; digests: string[]; platform: string }[] = [];
  for (const part of parts) {
    const { name, reference, force } = part.input;
    const image = await ifThere(imageInspect(deps.engine, reference));
    if (!image) continue;
    const imageId = fullImageId(image.Id);
    const current = await resolveContainer(deps, name);
    if (!force && current.imageId === imageId) continue;
    const digests = digestsOf(image, reference);
    changed.push({ part, imageId, digests, platform: gatePlatform(image) });
  }
  const [first] = changed;
  if (!first) return null;
  try {
    return await rehearse(deps, first.part, {
      targets: changed.map(({ part }) => part.input.name),
      images: new Map(changed.map(({ part, imageId }) => [part.input.name, imageId])),
      criteria: criteriaOf(deps, first.part),
    });
  } catch (error) {
    if (!(error instanceof RehearsalError)) throw error;
    const { message: reason, evidence } = error;
    const failed = changed.filter(({ part }) => part.input.name === error.container);
    deps.db.transaction(() => {
      for (const { part, digests } of failed.length > 0 ? failed : changed) {
        block(deps, part, { digests, image: part.input.reference, reason });
      }
      // If none of them is to blame, the other hosts learn of none.
      for (const { part, ...image } of failed) {
        recordVerdict(deps, part, { ...image, outcome: "failure", reason, evidence });
      }
    });
    throw error;
  }
}

const criteriaOf = (
  deps: Pick<Deps, "config" | "db">,
  { input: { logPattern, stableSeconds, verifyTimeoutSeconds } }: UpdateJob,
): Criteria => ({
  stableSeconds: stableSeconds ?? undefined,
  defaultStableSeconds: readUpdateSettings(deps).stableSeconds,
  verifyTimeoutSeconds: verifyTimeoutSeconds ?? undefined,
  logPattern: logPattern ?? undefined,
});
