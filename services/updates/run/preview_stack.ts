/** Preview of a stack's update: its effects, without any change. @module */

import type { Deps } from "../../deps.ts";
import { type DataPlan, pickData, planUndo } from "../data/plan.ts";
import { rehearsalChoice } from "../rehearsal/choice.ts";
import { previewRehearsal, type RehearsalPreview } from "../rehearsal/preview.ts";
import { isFromNoRegistry, readLatest } from "./latest.ts";
import {
  type StackUpdateRequest,
  surveyAll,
  undoneGroups,
  updatedContainers,
} from "./start_stack.ts";
import type { Obstacle } from "./survey.ts";

interface StackUpdatePreview {
  stack: string;
  /** In the order in which they are updated, with the references of their new images. */
  containers: { container: string; image: string }[];
  /** `null` if the update is not rehearsed. */
  rehearsal: RehearsalPreview | null;
  warnings: string[];
  obstacles: Obstacle[];
  data: DataPlan;
}

/** @throws {AppError} As `startStackUpdate()`, except for what stands in the way. */
export async function previewStackUpdate(
  deps: Deps,
  { name, data, actor: { scope }, ...request }: Omit<StackUpdateRequest, "atomic" | "pull">,
): Promise<StackUpdatePreview> {
  const containers = await updatedContainers(deps, name, scope);
  const surveys = await surveyAll(deps, containers);
  const groups = undoneGroups(deps, surveys, data);
  const undo = await planUndo(deps, [...groups.values()]);
  const names = containers.map((each) => each.name);
  const local = surveys.filter(({ local }) => isFromNoRegistry(local));
  const latest = await Promise.all(local.map((each) => readLatest(deps, each, { pull: "never" })));
  const isRehearsed = await rehearsalChoice(deps, request, containers) !== null;
  return {
    stack: name,
    containers: surveys.map(({ container, reference }) => ({
      container: container.name,
      image: reference,
    })),
    rehearsal: isRehearsed ? await previewRehearsal(deps, names, scope) : null,
    warnings: undo.warnings,
    // Registries are asked by the update itself, before it changes anything.
    obstacles: [...surveys, ...latest, undo].flatMap(({ obstacles }) => obstacles),
    data: { choice: data ?? (groups.size > 0 ? "undo" : "keep"), ...pickData(undo) },
  };
}
