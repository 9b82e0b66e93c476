/**
 * Loads Compose files in the thread of the test. Starting a worker takes 200 ms of the processor.
 *
 * @module
 */

import { loadTexts } from "../../services/ce/compose/load/texts.ts";
import type { ComposeLoader } from "../../services/ce/compose/loader.ts";

const load: ComposeLoader["load"] = async (sources) =>
  JSON.parse(await loadTexts(JSON.stringify(sources)));

export const directLoader: ComposeLoader = { load, check: load, close() {} };
