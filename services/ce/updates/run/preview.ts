/**
 * What an update would do, without doing it.
 *
 * @module
 */

import { EVERY_DIGEST } from "../../../../db/ce/updates/blocked.ts";
import { parseReference } from "../../../../engine/image_reference.ts";
import type { Deps } from "../../../deps.ts";
import { asContainer, currentContainers } from "../../containers/reads.ts";
import { assertDependentsInScope } from "../../containers/share_group.ts";
import { parseImage } from "../../images/reference.ts";
import type { PullPolicy } from "../../rebuild/rebuild.ts";
import { fullImageId } from "../../storage/images.ts";
import { readUpdateSettings } from "../settings.ts";
import { blockOf } from "./blocked.ts";
import { planContainer, type ReplacedSetting } from "./plan.ts";
import type { UpdateRequest } from "./start.ts";
import { blockObstacle, digestsOf, type Obstacle, surveyUpdate } from "./survey.ts";
import { expectationOf } from "./verdict.ts";

export interface UpdatePreview {
  container: string;
  id: string;
  /** The reference of the new image. */
  image: string;
  currentImageId: string;
  /** Of the image that the reference names on this host; `null` before it is pulled. */
  newImageId: string | null;
  /** What the reference leads to on the registry; on this host without a pull. */
  newDigest: string | null;
  /** Containers that are recreated together with it, because they share its namespaces or links. */
  recreated: string[];
  /** Containers that must stay healthy. */
  watched: string[];
  /** Settings that come from the new image; `null` before it is pulled. */
  replaced: ReplacedSetting[] | null;
  warnings: string[];
  obstacles: Obstacle[];
  verification: {
    method: "health" | "stability";
    /** How long it must be healthy, or run without a restart. */
    holdSeconds: number;
    /** When it counts as failed. */
    deadlineSeconds: number;
  };
}

/** @throws {AppError} As `startUpdate()`, except for what stands in the way. */
export async function previewUpdate(
  deps: Deps,
  { containerId, image, pull, stableSeconds, verifyTimeoutSeconds, actor }: UpdateRequest,
): Promise<UpdatePreview> {
  if (image !== undefined) parseImage(image);
  const survey = await surveyUpdate(deps, containerId, { image });
  const { old, container, oldImage, local, reference, dependents, watched } = survey;
  assertDependentsInScope(actor.scope, container, await currentContainers(deps));
  const plan = local && planContainer(old, {
    oldImage,
    newImage: local,
    reference,
    apiVersion: deps.engine.apiVersion,
    defaultRuntime: survey.defaultRuntime,
  });
  const latest = await latestDigest(deps, { reference, pull, isLocal: local !== undefined });
  const digest = latest.digest ?? (local ? digestsOf(local, reference).at(-1)! : null);
  const block = digest === null ? undefined : blockOf(deps, container.name, digest);
  const expectation = expectationOf(old, {
    stableSeconds,
    defaultStableSeconds: readUpdateSettings(deps).stableSeconds,
    verifyTimeoutSeconds,
  });
  return {
    container: container.name,
    id: container.id,
    image: reference,
    currentImageId: container.imageId,
    newImageId: local ? fullImageId(local.Id) : null,
    newDigest: digest,
    recreated: dependents.map((each) => asContainer(deps, each).name),
    watched: watched.map(({ name }) => name),
    replaced: plan?.replaced ?? null,
    warnings: [...plan?.warnings ?? [], ...latest.warnings],
    obstacles: block && block.digest !== EVERY_DIGEST
      ? [...survey.obstacles, blockObstacle(block)]
      : survey.obstacles,
    verification: {
      method: expectation.hasHealthCheck ? "health" : "stability",
      holdSeconds: Math.round(expectation.holdMs / 1000),
      deadlineSeconds: Math.round(expectation.deadlineMs / 1000),
    },
  };
}

/** How long a registry may take to answer, in milliseconds. */
const REGISTRY_MS = 10_000;

/** What a pull would get. A registry that does not answer is a warning: the engine may reach it. */
async function latestDigest(
  deps: Deps,
  { reference, pull, isLocal }: { reference: string; pull: PullPolicy; isLocal: boolean },
): Promise<{ digest: string | null; warnings: string[] }> {
  if (pull === "never" || (pull === "missing" && isLocal)) return { digest: null, warnings: [] };
  const { headManifest, RegistryError } = await import("../../registries/client.ts");
  try {
    const options = { timeoutMs: REGISTRY_MS };
    const { digest } = await headManifest(deps, parseReference(reference), options);
    return { digest, warnings: [] };
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error;
    return { digest: null, warnings: [`The registry does not say what is new: ${error.message}`] };
  }
}
