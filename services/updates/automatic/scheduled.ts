/** Updates that a schedule requests. @module */

import { selectCheckedImage } from "../../../db/updates/images.ts";
import type { AuditActor } from "../../access/audit/audit.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { Container } from "../../containers/inventory.ts";
import type { JobView } from "../../jobs/view.ts";
import { checkImages } from "../check/round.ts";
import { imagesInUse } from "../check/in_use.ts";
import { readKnown } from "../check/known.ts";
import { imageStatus } from "../check/status.ts";
import { updatePolicy } from "../labels.ts";
import { startUpdate } from "../run/start.ts";
import { NotReachedError } from "../run/allowed.ts";
import { refusalOf } from "./reached.ts";

/**
 * Asks the registry for the image of a container, and starts an update of the container unless it runs
 * that image. The policy, the minimum age and the windows do not matter, because a user chose the time;
 * blocks and waves of a fleet do.
 *
 * @returns The job of the update; `undefined` if the container runs that image already.
 * @throws {NotReachedError} If the image must not be installed automatically now.
 * @throws {AppError} `conflict` for an image without a registry; `bad_gateway` if the registry does
 * not answer.
 * @throws What `startUpdate()` throws.
 */
export async function startUpdateNow(
  deps: Deps,
  container: Container,
  actor: AuditActor,
): Promise<JobView | undefined> {
  const { id, name, labels, imageId } = container;
  const [image] = imagesInUse([container]);
  if (!image) throw new AppError("conflict", `An update of ${name} has not finished`);
  await checkImages(deps, [image]);
  const checked = selectCheckedImage(deps.db, image.image);
  const known = await readKnown(deps);
  const { status, reason } = imageStatus(image, checked, known);
  if (status === "up_to_date") return undefined;
  if (status === "pinned" || status === "local") {
    throw new AppError("conflict", `The image of ${name} has no tag in a registry`);
  }
  if (status === "unknown") {
    throw new AppError("bad_gateway", `The registry of ${image.image} failed: ${reason}`);
  }
  const digest = checked?.latestDigest ?? undefined;
  const refusal = digest && await refusalOf(deps, { imageId, image: image.image, digest });
  if (refusal) throw new NotReachedError(refusal);
  return await startUpdate(deps, {
    containerId: id,
    expectedDigest: digest,
    verifyTimeoutSeconds: updatePolicy(labels, known.local.labelsOf(imageId)).verifyTimeoutSeconds,
    isAutomatic: true,
    actor,
  });
}
