/**
 * Loads Compose files in the thread of the test. Starting a worker takes 200 ms of the processor.
 *
 * @module
 */

import { loadTexts } from "../../services/compose/load/texts.ts";
import type { ComposeLoader } from "../../services/compose/loader.ts";

export const directLoader: ComposeLoader = {
  load: loadTexts,
  check: (_, job) => loadTexts(job),
  close() {},
};
