/** Preview of an update: its effects, without any change. @module */

import { isEqualDigest } from "../../../db/updates/equal_digests.ts";
import { fullImageId } from "../../../engine/image_id.ts";
import type { ImageInspect } from "../../../engine/images.ts";
import type { Deps } from "../../deps.ts";
import { asContainer } from "../../containers/reads.ts";
import { assertDependentsInScope } from "../../containers/share_group.ts";
import { dataChoice, type DataPlan, groupOf, pickData, planUndo, updatedOf } from "../data/plan.ts";
import { readUpdateSettings } from "../settings.ts";
import { rehearsalChoice } from "../rehearsal/choice.ts";
import { previewRehearsal, type RehearsalPreview } from "../rehearsal/preview.ts";
import { withVisibleImage } from "./choices.ts";
import { defaultPull, readLatest } from "./latest.ts";
import { logObstacles } from "./log_pattern.ts";
import { planContainer, type ReplacedSetting, warningsOf } from "./plan.ts";
import type { UpdateRequest } from "./start.ts";
import { digestsOf, type Obstacle, surveyUpdate } from "./survey.ts";
import { expectationOf } from "./verdict.ts";

interface UpdatePreview {
  container: string;
  id: string;
  /** The reference of the new image. */
  image: string;
  currentImageId: string;
  /** `null` before the image is pulled. */
  newImageId: string | null;
  /**
   * Digest of the reference on the registry, `null` if that does not answer; on this host without a
   * pull.
   */
  newDigest: string | null;
  /** Containers that are recreated together with it, because they share its namespaces or links. */
  recreated: string[];
  /** Containers that must stay healthy. */
  watched: string[];
  /** Settings that come from the new image; `null` before it is pulled. */
  replaced: ReplacedSetting[] | null;
  /** `null` if the update is not rehearsed. */
  rehearsal: RehearsalPreview | null;
  warnings: string[];
  obstacles: Obstacle[];
  data: DataPlan;
  verification: {
    method: "health" | "stability";
    /** Time for which it must be healthy, or run without a restart. */
    holdSeconds: number;
    /** When it counts as failed. */
    deadlineSeconds: number;
  };
}

/** @throws {AppError} As `startUpdate()`, except for what stands in the way. */
export async function previewUpdate(
  deps: Deps,
  request: UpdateRequest,
): Promise<UpdatePreview> {
  const { containerId, image, pull, expectedDigest, stableSeconds, verifyTimeoutSeconds, actor } =
    request;
  const found = await surveyUpdate(deps, containerId, { image });
  const survey = withVisibleImage(found, actor.scope);
  const { old, container, all, oldImage, local, reference, dependents, watched } = survey;
  assertDependentsInScope(actor.scope, container, all);
  const latest = await readLatest(deps, survey, {
    pull: pull ?? defaultPull(local),
    digest: expectedDigest,
  });
  const newImage = local && isLatest(deps, local, reference, latest) ? local : undefined;
  const plan = newImage && planContainer(old, {
    oldImage,
    newImage,
    reference,
    apiVersion: deps.engine.apiVersion,
    defaultRuntime: survey.defaultRuntime,
  });
  const choice = dataChoice(deps, survey, request.data);
  const groups = choice === "undo" ? [groupOf(updatedOf(deps, survey))] : [];
  const undo = await planUndo(deps, groups);
  const expectation = expectationOf(old, {
    stableSeconds,
    defaultStableSeconds: readUpdateSettings(deps).stableSeconds,
    verifyTimeoutSeconds,
  });
  const isRehearsed = await rehearsalChoice(deps, request, [container]) !== null;
  const rehearsal = isRehearsed
    ? await previewRehearsal(deps, [container.name], actor.scope)
    : null;
  return {
    container: container.name,
    id: container.id,
    image: reference,
    currentImageId: container.imageId,
    newImageId: newImage ? fullImageId(newImage.Id) : null,
    newDigest: latest.digest,
    recreated: dependents.map((each) => asContainer(deps, each).name),
    watched: watched.map(({ name }) => name),
    replaced: plan?.replaced ?? null,
    rehearsal,
    warnings: [...warningsOf(old, oldImage, newImage), ...latest.warnings, ...undo.warnings],
    obstacles: [
      ...survey.obstacles,
      ...latest.obstacles,
      ...logObstacles(deps.engine, old, request.logPatternMustNotAppear),
      ...undo.obstacles,
    ],
    data: { choice, ...pickData(undo) },
    verification: {
      method: expectation.hasHealthCheck ? "health" : "stability",
      holdSeconds: Math.round(expectation.holdMs / 1000),
      deadlineSeconds: Math.round(expectation.deadlineMs / 1000),
    },
  };
}

/** Whether an image of this host is what the registry has, as far as that is known. */
function isLatest(
  { db }: Pick<Deps, "db">,
  image: ImageInspect,
  reference: string,
  { digest }: { digest: string | null },
): boolean {
  return digest === null || digestsOf(image, reference).includes(digest) ||
    isEqualDigest(db, { imageId: fullImageId(image.Id), digest });
}
