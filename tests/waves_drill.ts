/**
 * Lives through 200 random histories of a fleet with 20 members (`deno task waves-drill`): good, slow and
 * bad images, partitions, kills, lifted blocks, and restores of the hub from a backup.
 *
 * @module
 */

import { randomNumbers } from "./helpers/drill.ts";
import { liveThrough, type Outcome } from "./helpers/wave_world.ts";

const HISTORIES = 200;

const sums: Outcome = { starts: 0, blocked: 0, restores: 0, reached: 0 };
for (let seed = 1; seed <= HISTORIES; seed++) {
  try {
    const outcome = await liveThrough(randomNumbers(seed), { members: 20, steps: 60 });
    for (const [name, count] of Object.entries(outcome)) sums[name as keyof Outcome] += count;
  } catch (cause) {
    throw new Error(`History ${seed} failed`, { cause });
  }
}
console.log(
  `| histories | images started | blocked | hub restored | containers with the newest image |
| --------- | -------------- | ------- | ------------ | -------------------------------- |
| ${HISTORIES} | ${sums.starts} | ${sums.blocked} | ${sums.restores} | ${sums.reached} |`,
);
