/**
 * Loads Compose files in the thread of the test. Starting a worker takes 200 ms of the processor.
 *
 * @module
 */

import { loadTexts } from "../../services/ce/compose/load/texts.ts";
import type { ComposeLoader } from "../../services/state/compose_loader.ts";

export const directLoader: ComposeLoader = { load: loadTexts, check: loadTexts, close() {} };
