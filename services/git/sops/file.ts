/** The form of files that SOPS has encrypted, however they are written. @module */

import type { SopsOpener } from "./values.ts";

/** A file with its metadata. */
export interface SopsFile {
  /** The data key, encrypted for each recipient (armored). */
  age: readonly { recipient: string; enc: string }[];
  lastModified: string;
  /** Encrypted code over all values. */
  mac: string;
  isOnlyEncrypted: boolean;
  /** The text without metadata, each value opened in its order. */
  open(opener: Pick<SopsOpener, "open">): string;
}
