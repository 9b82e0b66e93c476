/** Platforms of images. @module */

import type { ImageInspect } from "../../../engine/images.ts";

/** Of an image. */
export type Platform = Pick<ImageInspect, "Os" | "Architecture"> & { Variant?: string | undefined };

/** E.g. `linux/arm64/v8`. */
export const platformOf = ({ Os, Architecture, Variant }: Platform): string =>
  [Os, Architecture, Variant].filter(Boolean).join("/");

/** Platform for which a verdict about an image counts, e.g. `linux/arm64`. */
export const gatePlatform = ({ Os, Architecture }: Platform): string =>
  [Os, Architecture].filter(Boolean).join("/");

/** Whether both run on the same hosts; variants are compatible or refused by the kernel. */
export const isSamePlatform = (a: Platform, b: Platform): boolean =>
  a.Os === b.Os && a.Architecture === b.Architecture;
