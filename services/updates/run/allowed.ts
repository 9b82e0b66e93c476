/** The gate of automatic updates, as jobs ask it. @module */

import type { Deps } from "../../deps.ts";
import { JobEnd } from "../../jobs/kind.ts";
import type { Pulled, UpdateJob } from "./job.ts";

/** An image has not reached this host, or the fleet has blocked it: an automatic update waits. */
export class NotReachedError extends JobEnd {
  constructor(reason: string) {
    super("failed", reason, { isWaiting: true });
  }
}

/** Whether a job ended with a {@linkcode NotReachedError}. @param result Of the job. */
export const hasNotReached = (result: unknown): boolean =>
  (result as { isWaiting?: boolean } | null)?.isWaiting === true;

/**
 * Ends an automatic update before its image runs. It is asked again shortly before, because the image
 * may have failed elsewhere since the update was planned.
 *
 * @throws {NotReachedError}
 */
export async function assertAllowed(
  { updateGate }: Pick<Deps, "updateGate">,
  { input: { isAutomatic, reference } }: Pick<UpdateJob, "input">,
  { digest, platform }: Pulled,
): Promise<void> {
  if (!isAutomatic || platform === undefined) return;
  const refusal = await updateGate.refusalOf({ digest, platform, image: reference });
  if (refusal !== undefined) throw new NotReachedError(refusal);
}

/**
 * Ends an automatic update to an image that is known to be blocked by now. Nothing is asked for.
 *
 * @throws {NotReachedError}
 */
export function assertNotBlocked(
  { updateGate }: Pick<Deps, "updateGate">,
  { input: { isAutomatic } }: Pick<UpdateJob, "input">,
  { digest, platform }: Pulled,
): void {
  if (!isAutomatic || platform === undefined) return;
  const reason = updateGate.blockOf({ digest, platform });
  if (reason !== undefined) throw new NotReachedError(reason);
}
