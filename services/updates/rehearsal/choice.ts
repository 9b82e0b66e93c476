/** Whether an update is rehearsed: as its request says, else the label of the container, else the setting. @module */

import type { Deps } from "../../deps.ts";
import { readUpdateSettings } from "../settings.ts";

/** A container with this label decides for itself; that of an image counts as well. */
const LABEL = "longshore.update.rehearse";

/** `before`: the update follows a rehearsal that succeeds. `only`: it does not. */
export type RehearsalChoice = "before" | "only" | null;

/** Fields of requests. */
export interface RehearsalRequest {
  /** Default: the label, else the setting. */
  rehearse?: boolean | undefined;
  /** Wins over `rehearse`. */
  rehearseOnly?: boolean | undefined;
}

/** @param labels Those of the containers that are updated. */
export function rehearsalChoice(
  deps: Pick<Deps, "config" | "db">,
  { rehearse, rehearseOnly = false }: RehearsalRequest,
  labels: readonly (Readonly<Record<string, string>> | null | undefined)[],
): RehearsalChoice {
  if (rehearseOnly) return "only";
  return rehearse ?? isChosenBy(deps, labels) ? "before" : null;
}

function isChosenBy(
  deps: Pick<Deps, "config" | "db">,
  labels: Parameters<typeof rehearsalChoice>[2],
): boolean {
  const texts = labels.map((each) => each?.[LABEL]?.trim().toLowerCase());
  const { rehearse } = readUpdateSettings(deps);
  return texts.some((text) => text === "true" || (text !== "false" && rehearse));
}
