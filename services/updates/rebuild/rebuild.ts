/** Recreates a container from the current version of its image. @module */

import type { Deps } from "../../deps.ts";
import { assertNotSelf } from "../../containers/actions.ts";
import { asContainer, resolveContainer } from "../../containers/reads.ts";
import type { PullPolicy } from "../../images/pull_policy.ts";
import { waitForJob } from "../../jobs/wait.ts";
import { type Actor, startRun } from "../run/start.ts";
import { surveyUpdate } from "../run/survey.ts";
import { rebuildKind, type RebuildResult } from "./kind.ts";

export interface RebuildOptions {
  /** Default `always`. */
  pull?: PullPolicy | undefined;
  actor: Actor;
}

/**
 * Replaces a container by the steps of an update, and returns when the new one has started. It is
 * not observed, and neither a blocked image nor automatic removal stands in the way. A failure
 * restores the old container; one that the engine removes when it stops returns with a new id.
 *
 * @throws {AppError} `forbidden` for the service's own container, and if containers outside of the
 * actor's scope depend on this one; `not_found` for an unknown container or image; `bad_gateway` if
 * the registry is unreachable or refuses; `conflict` if the container is paused or a Swarm task, while
 * another action on it or its dependents is in progress, or if the engine cannot create or start the
 * new container (with the engine's message); `unavailable` if the engine is lost meanwhile.
 */
export async function rebuildContainer(
  deps: Deps,
  ref: string,
  { pull = "always", actor }: RebuildOptions,
): Promise<RebuildResult> {
  assertNotSelf(await resolveContainer(deps, ref), "rebuilt");
  const survey = await surveyUpdate(deps, ref, { isRebuild: true });
  const { container, dependents } = survey;
  // The snapshot may be older than what is known of the service's own container.
  assertNotSelf(container, "rebuilt");
  for (const dependent of dependents) {
    assertNotSelf(asContainer(deps, dependent), `rebuilt together with ${container.name}`);
  }
  const started = await startRun(deps, rebuildKind, survey, { actor }, {
    previousImageId: null,
    pull,
    force: true,
    expectedDigest: null,
    isRebuild: true,
  });
  return await waitForJob(deps, started);
}
