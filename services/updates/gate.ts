/** The one gate of automatic updates, and the blocks of the fleet. `services/fleet/` provides it. @module */

import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import type { Pulled, UpdateJob } from "./run/job.ts";

/** An image that a container would run. */
export interface GatedImage {
  /** Of the manifest, or the image's id. */
  digest: string;
  /** E.g. `linux/amd64`. */
  platform: string;
}

/** An image has not reached this host, or the fleet has blocked it: an automatic update waits. */
export class NotReachedError extends AppError {
  constructor(reason: string) {
    super("conflict", reason);
  }
}

/** Without a fleet, it is open. */
export interface UpdateGate {
  /** Whether this installation is part of a fleet. */
  readonly isNeeded: boolean;
  /** Why a person has to force an update to the image; `undefined` if the fleet has not blocked it. */
  blockOf(image: GatedImage): string | undefined;
  /** Blocks of a digest, on all platforms. */
  platformsOf(digest: string): string[];
  /**
   * Why an automatic update to the image must not start now; `undefined` if it may.
   *
   * @param image.image The reference.
   */
  refusalOf(image: GatedImage & { image: string }): Promise<string | undefined>;
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
