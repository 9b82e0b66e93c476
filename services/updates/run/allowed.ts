/** The gate of automatic updates, as jobs ask it. @module */

import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { Pulled, UpdateJob } from "./job.ts";

/** An image has not reached this host, or the fleet has blocked it: an automatic update waits. */
export class NotReachedError extends AppError {
  constructor(reason: string) {
    super("conflict", reason);
  }
}

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
