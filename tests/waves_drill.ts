/**
 * Lives through 200 random histories of a fleet with 20 members (`deno task waves-drill`): good, slow and
 * bad images, partitions, kills, lifted blocks, and restores of the hub from a backup.
 *
 *     deno task waves-drill [FIRST SEED] [LAST SEED]
 *
 * With `--engines`, some histories of real hosts, with their engines and a registry, instead:
 *
 *     LONGSHORE_EXECUTABLE=$PWD/dist/longshore deno task waves-drill --engines
 *
 * @module
 */

import { randomNumbers } from "./helpers/drill.ts";
import { liveThrough, type Outcome } from "./helpers/wave_world.ts";
import { liveThroughEngines } from "./waves_drill/engines.ts";

if (Deno.args[0] === "--engines") {
  Deno.exit(await liveThroughEngines() ? 0 : 1);
}

const [first = 1, last = 200] = Deno.args.map(Number);
const PROGRESS = 10;

const sums: Outcome = { starts: 0, blocked: 0, restores: 0, reached: 0 };
for (let seed = first; seed <= last; seed++) {
  try {
    const outcome = await liveThrough(randomNumbers(seed), { members: 20, steps: 60 });
    for (const [name, count] of Object.entries(outcome)) sums[name as keyof Outcome] += count;
  } catch (cause) {
    throw new Error(`History ${seed} failed`, { cause });
  }
  if (seed % PROGRESS === 0) console.log(`Histories ${first} to ${seed} have held`);
}
console.log(
  `| histories | images started | blocked | hub restored | containers with the newest image |
| --------- | -------------- | ------- | ------------ | -------------------------------- |
| ${first}–${last} | ${sums.starts} | ${sums.blocked} | ${sums.restores} | ${sums.reached} |`,
);
