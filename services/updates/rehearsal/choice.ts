/** Whether an update is rehearsed: as its request says, else the label of the container, else the setting. @module */

import { ifThere } from "../../../engine/errors.ts";
import { imageInspect } from "../../../engine/images.ts";
import type { Container } from "../../containers/inventory.ts";
import type { Deps } from "../../deps.ts";
import { labelsOfImage, REHEARSE_LABEL, updatePolicy } from "../labels.ts";
import { readUpdateSettings } from "../settings.ts";

type Labelled = Pick<Container, "labels" | "imageId">;

/** `before`: the update follows a rehearsal that succeeds. `only`: it does not. */
export type RehearsalChoice = "before" | "only" | null;

/** Fields of requests. */
export interface RehearsalRequest {
  /** Default: the label, else the setting. */
  rehearse?: boolean | undefined;
  /** Wins over `rehearse`. */
  rehearseOnly?: boolean | undefined;
}

/** @param containers Those that are updated. */
export async function rehearsalChoice(
  deps: Pick<Deps, "config" | "db" | "engine">,
  { rehearse, rehearseOnly = false }: RehearsalRequest,
  containers: readonly Labelled[],
): Promise<RehearsalChoice> {
  if (rehearseOnly) return "only";
  return rehearse ?? await isChosenBy(deps, containers) ? "before" : null;
}

async function isChosenBy(
  deps: Pick<Deps, "config" | "db" | "engine">,
  containers: readonly Labelled[],
): Promise<boolean> {
  const { rehearse } = readUpdateSettings(deps);
  const choices = await Promise.all(containers.map(async ({ labels, imageId }) => {
    if (labels[REHEARSE_LABEL] === undefined) return rehearse;
    const image = await ifThere(imageInspect(deps.engine, imageId));
    return updatePolicy(labels, labelsOfImage(image)).rehearse ?? rehearse;
  }));
  return choices.includes(true);
}
