/**
 * `longshore openapi`
 *
 * @module
 */

import { everyRoute } from "../routes/editions.ts";
import { openApiDocument } from "../routes/openapi/document.ts";
import type { Deps } from "../services/deps.ts";
import { VERSION } from "../services/version.ts";
import { assertNoArguments, EXIT, type Program } from "./program.ts";

export async function openapi(program: Program): Promise<number> {
  assertNoArguments("openapi", program);
  program.print(JSON.stringify(await currentDocument(), null, 2));
  return EXIT.ok;
}

/** The API document of this build. */
export async function currentDocument() {
  // Contracts are values: no handler runs, so none of the parts is ever looked at.
  return openApiDocument(await everyRoute({} as Deps), VERSION);
}
