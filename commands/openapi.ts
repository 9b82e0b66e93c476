/** `longshore openapi` @module */

import { everyRoute } from "../routes/editions.ts";
import { openApiDocument } from "../routes/contract/openapi/document.ts";
import type { Deps } from "../services/deps.ts";
import { VERSION } from "../services/version.ts";
import { assertNoArguments, EXIT, type Program } from "./program.ts";

export async function openapi(program: Program): Promise<number> {
  assertNoArguments("openapi", program);
  program.print(JSON.stringify(await currentDocument(), null, 2));
  return EXIT.ok;
}

export async function currentDocument() {
  // No handler runs, so that the dependencies are not used.
  return openApiDocument(await everyRoute({} as Deps), VERSION);
}
