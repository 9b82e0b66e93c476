/**
 * Updates of real applications that migrate their data and then fail, and `kill -9` of Longshore at each
 * call of an update and of a deploy with `data: "undo"`. Prints a table for docs/updates.md.
 *
 *     deno task undo-drill [STEP[:FIRST] [WORD ...]]
 *
 * STEP is the number of calls from one kill to the next (default: 1, which takes hours); 0 leaves the
 * kills out. FIRST is the number of the first call (default: 0): `2:0` and `2:1` together, each with an
 * engine of its own, are `1`. With words, only the applications and kills run whose name contains one of
 * them. Needs root,
 * `dockerd`, `debootstrap` and `npm`; with `LONGSHORE_EXECUTABLE` that program is tried.
 *
 * @module
 */

import { parseNumbers } from "./helpers/drill.ts";
import { startDockerd } from "./helpers/real_engine.ts";
import { APPLICATIONS } from "./undo_drill/applications.ts";
import { drillApplication } from "./undo_drill/drill.ts";
import { importBase } from "./undo_drill/image.ts";
import { killAtCalls, KILLED } from "./undo_drill/kills.ts";

const [text = "1", ...words] = Deno.args;
const numbers = parseNumbers(text);
if (!numbers) {
  console.error("STEP and FIRST are numbers of calls");
  Deno.exit(2);
}
const isChosen = (name: string) =>
  words.length === 0 || words.some((word) => name.toLowerCase().includes(word.toLowerCase()));
const chosen = APPLICATIONS.filter(({ name }) => isChosen(name));

await using engine = await startDockerd();
const rows: string[] = [];
const add = async (drill: string, run: () => Promise<string>) => {
  const result = await run().catch((error) => {
    Deno.exitCode = 1;
    console.error(error);
    return `failed: ${String(error.message).split("\n")[0]}`;
  });
  rows.push(`| ${drill} | ${result} |`);
  console.log(rows.at(-1));
};
if (chosen.length > 0) await importBase(engine);
for (const application of chosen) {
  await add(application.name, () => drillApplication(engine, application));
}
const { step } = numbers;
const which = step === 1 ? "each call" : `each ${step}th call`;
for (const kind of KILLED) {
  const drill = `\`kill -9\` of Longshore at ${which} of ${kind.what}`;
  if (step > 0 && isChosen(drill)) await add(drill, () => killAtCalls(engine, kind, numbers));
}
console.log(["", "| drill | result |", "| --- | --- |", ...rows].join("\n"));
