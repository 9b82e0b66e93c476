/** The one gate of automatic updates, and the blocks of the fleet. `services/fleet/` provides it. @module */

/** An image that a container would run. */
export interface GatedImage {
  /** Of the manifest, or the image's id. */
  digest: string;
  /** E.g. `linux/amd64`. */
  platform: string;
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
