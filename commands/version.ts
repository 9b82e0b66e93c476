/** `longshore version` @module */

import { VERSION } from "../services/version.ts";
import { assertNoArguments, EXIT, type Program } from "./program.ts";

export function version(program: Program): number {
  assertNoArguments("version", program);
  const shipped = Deno.build.standalone ? "standalone" : "bundled";
  const form = program.surroundings.packed ? shipped : "source";
  program.print(`longshore ${VERSION} (deno ${Deno.version.deno}, ${form}, ${Deno.build.target})`);
  return EXIT.ok;
}
