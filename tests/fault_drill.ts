/**
 * Backups, restores, updates and rollbacks with data, each hit by faults: the engine crashes, the target
 * is gone, a disk is full, at each of its calls, requests and writes. Prints a table for the README.
 *
 *     deno task fault-drill [STEP[:FIRST] [WORD ...]]
 *
 * STEP is the number of calls from one fault to the next (default: 1, which takes hours), FIRST the
 * number of the first call (default: 0), to go on after an interruption: `2:0` and `2:1` together, each
 * with an engine of its own, are `1`. With words, only the rows run whose name contains all of them. Needs root, `dockerd`, `restic` and `rclone`; with
 * `LONGSHORE_EXECUTABLE` that program is tried.
 *
 * @module
 */

import { parseNumbers } from "./helpers/drill.ts";
import { startDockerd } from "./helpers/real_engine.ts";
import { FAULTS } from "./fault_drill/faults.ts";
import { OPERATIONS } from "./fault_drill/operations.ts";
import { strikeAll } from "./fault_drill/strike.ts";
import { openWorld } from "./fault_drill/world.ts";

const [text = "1", ...words] = Deno.args;
const numbers = parseNumbers(text);
if (!numbers?.step) {
  console.error("STEP and FIRST are numbers of calls");
  Deno.exit(2);
}
const rows: string[] = [];
for (const fault of FAULTS) {
  for (const operation of OPERATIONS) {
    const name = `${fault.name}: ${operation.name}`;
    if (!words.every((word) => name.includes(word))) continue;
    // A row that fails must not leave anything to the next one.
    await using engine = await startDockerd();
    await using world = await openWorld(engine);
    const result = await strikeAll(world, { operation, fault, numbers })
      .catch((error) => {
        Deno.exitCode = 1;
        console.error(error);
        return `failed: ${String(error.message).split("\n")[0]}`;
      });
    rows.push(`| ${name} | ${result} |`);
    console.log(rows.at(-1));
  }
}
console.log(["", "| fault | result |", "| --- | --- |", ...rows].join("\n"));
