/**
 * Tests that start the program start what `LONGSHORE_EXECUTABLE` names: only one helper knows how to
 * run the sources.
 *
 * @module
 */

import { deepEqual, match } from "node:assert/strict";
import { listFiles } from "../run.ts";

/** The entry point or the flags of the sources, outside of comments. */
const SOURCES = /^(?!\s*(?:\/\/|\*)).*(?:\bmain\.ts["'`]|\bRUN_FLAGS\b|["'`]run_flags\.ts)/m;

/** They start the sources or look at them as text. */
const EXCEPTIONS = [
  "tests/deploy/bundle_test.ts", // Bundles programs of its own.
  "tests/helpers/program.ts",
  "tests/structure/imports_test.ts",
  "tests/structure/program_test.ts",
];

const root = new URL("../../", import.meta.url);

Deno.test("no test starts the sources around the helper for the program", async () => {
  for (const text of ['run("main.ts")', "[...RUN_FLAGS]"]) match(text, SOURCES);
  const found: string[] = [];
  for (const path of await listFiles("tests", /\.tsx?$/)) {
    if (SOURCES.test(await Deno.readTextFile(new URL(path, root)))) found.push(path);
  }
  deepEqual(found.sort(), EXCEPTIONS);
});
