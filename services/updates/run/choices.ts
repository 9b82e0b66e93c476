/** Choices of an update's caller beyond the permission to update. @module */

import { fullImageId } from "../../../engine/image_id.ts";
import { canonicalReference, findReference } from "../../../engine/image_reference.ts";
import type { ImageInspect } from "../../../engine/images.ts";
import { assertMayDo, type Caller, mayDo } from "../../access/caller.ts";
import { includesContainer, isLimited, type Scope } from "../../access/scope.ts";
import { AppError, notFound } from "../../errors.ts";
import { type ReadDeps, resolveContainer } from "../../containers/reads.ts";
import { isSameRepository, parseImage } from "../../images/reference.ts";
import type { PullPolicy } from "../../images/pull_policy.ts";
import type { Survey } from "./survey.ts";

/**
 * Checks the choices of a request. Another image runs with the environment and the mounts of the
 * container, so that operators choose only a tag or a digest; a pattern is a question to the log.
 *
 * @param ref Id, name or unambiguous prefix of an id of the container.
 * @throws {AppError} `invalid` for an invalid reference; `forbidden`.
 */
export async function assertChoices(
  deps: ReadDeps,
  caller: Caller,
  ref: string,
  { image, logPatternMustNotAppear }: {
    image?: string | undefined;
    logPatternMustNotAppear?: string | undefined;
  },
): Promise<void> {
  if (logPatternMustNotAppear !== undefined) assertMayDo(caller, "viewer", "containers:logs");
  if (image === undefined) return;
  parseImage(image);
  if (mayDo(caller, "admin", "containers:rebuild")) return;
  const { image: current } = await resolveContainer(deps, ref);
  if (isSameRepository(image, current)) return;
  throw new AppError(
    "forbidden",
    "body.image: the role admin or containers:rebuild is required for another repository than that " +
      "of the container; choose a tag or a digest of it",
  );
}

/**
 * Returns the survey as an API token may see and use it: one that is limited to stacks or containers
 * knows only images of its containers, so that other images of this host count as missing.
 */
export function withVisibleImage(survey: Survey, scope: Scope | undefined): Survey {
  const { local, old, reference, all } = survey;
  if (!local || !isLimited(scope) || isSameReference(reference, old.Config.Image)) return survey;
  const imageId = fullImageId(local.Id);
  const isOwn = all.some((each) => each.imageId === imageId && includesContainer(scope, each));
  return isOwn ? survey : { ...survey, local: undefined };
}

function isSameReference(one: string, other: string | undefined): boolean {
  const [first, second] = [one, other ?? ""].map(findReference);
  return first !== undefined && second !== undefined &&
    canonicalReference(first) === canonicalReference(second);
}

/**
 * Pull policy for an image that this host has, but the caller does not know.
 *
 * @param found What the reference names on this host.
 * @throws {AppError} `not_found` if it must not be pulled.
 */
export function pullOfVisible(
  pull: PullPolicy,
  { reference, local }: Pick<Survey, "reference" | "local">,
  found: ImageInspect | undefined,
): PullPolicy {
  if (local || !found) return pull;
  if (pull === "never") throw notFound("Image", reference);
  return "always";
}
