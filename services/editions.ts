/**
 * The table of contents of the service layer: what runs in the background and where events are
 * written down, in every edition.
 *
 * @module
 */

import { ceRecorders, ceWorkers } from "./ce/mod.ts";
import type { Worker } from "./lifecycle.ts";
import type { Recorder } from "./recorder.ts";

export const workers: readonly Worker[] = [...ceWorkers];

export const recorders: readonly Recorder[] = [...ceRecorders];
