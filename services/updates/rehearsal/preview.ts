/** Preview of a rehearsal: its copies, and the obstacles to it. @module */

import { includesContainer, type Scope } from "../../access/scope.ts";
import type { ReadDeps } from "../../containers/reads.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { assertHarmless } from "../trial/members.ts";
import type { Obstacle } from "../run/survey.ts";
import type { RehearsalChoice } from "./choice.ts";
import { planRehearsal } from "./plan.ts";

export interface RehearsalPreview {
  /** Names of the containers that run as copies. */
  containers: string[];
  /** Volumes, and files and directories of the host, that are copied. */
  copied: string[];
  /** Files and directories of the host that the copies do not have. */
  leftOut: string[];
  /** Why it cannot be rehearsed; `null` if it can. */
  obstacle: string | null;
}

/**
 * @param targets Names of the containers that are updated.
 * @throws {AppError} `forbidden` if the scope does not include all that is copied.
 */
export async function previewRehearsal(
  deps: ReadDeps & Pick<Deps, "config" | "db">,
  targets: readonly string[],
  scope: Scope | undefined,
): Promise<RehearsalPreview> {
  const { containers, members, copied, leftOut } = await planRehearsal(deps, targets, new Map());
  if (!containers.every((each) => includesContainer(scope, each))) {
    throw new AppError(
      "forbidden",
      "Containers that this token cannot access are part of the rehearsal",
    );
  }
  return {
    containers: members.map(({ name }) => name),
    copied: copied.map(({ source }) => source),
    leftOut,
    obstacle: obstacleOf(members),
  };
}

function obstacleOf(members: Parameters<typeof assertHarmless>[0]): string | null {
  try {
    assertHarmless(members);
    return null;
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
}

/** Obstacles to the rehearsal of an update; `force` does not ignore them. */
export async function rehearsalObstacles(
  deps: ReadDeps & Pick<Deps, "config" | "db">,
  choice: RehearsalChoice,
  targets: readonly string[],
  scope: Scope | undefined,
): Promise<Obstacle[]> {
  if (choice === null) return [];
  const { obstacle } = await previewRehearsal(deps, targets, scope);
  return obstacle === null ? [] : [{ message: obstacle, canForce: false }];
}
