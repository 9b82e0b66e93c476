import { ok } from "node:assert/strict";
import { randomNumbers } from "../../../helpers/drill.ts";
import { liveThrough } from "../../../helpers/wave_world.ts";

Deno.test("no host starts an image that failed or that its wave has not reached; good ones reach all", async () => {
  let starts = 0;
  let blocked = 0;
  for (let seed = 1; seed <= 20; seed++) {
    try {
      const outcome = await liveThrough(randomNumbers(seed), { members: 6, steps: 20 });
      starts += outcome.starts;
      blocked += outcome.blocked;
    } catch (cause) {
      throw new Error(`History ${seed} failed`, { cause });
    }
  }
  ok(starts > 100 && blocked > 5, `${starts} starts, ${blocked} blocked`);
});
