/**
 * The table of contents of the service layer: what runs in the background, in every edition.
 *
 * @module
 */

import { ceWorkers } from "./ce/mod.ts";
import type { Worker } from "./lifecycle.ts";

export const workers: readonly Worker[] = [...ceWorkers];
