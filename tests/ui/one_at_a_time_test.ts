import { equal } from "node:assert/strict";
import { oneAtATime } from "../../ui/base/one_at_a_time.ts";
import { until } from "../helpers/until.ts";

Deno.test("oneAtATime() finishes a run, and then does all that was requested meanwhile by one more", async () => {
  const runs: PromiseWithResolvers<void>[] = [];
  const request = oneAtATime(() => {
    runs.push(Promise.withResolvers());
    return runs.at(-1)!.promise;
  });
  for (let count = 0; count < 3; count++) request();
  equal(runs.length, 1);
  runs[0]!.resolve();
  await until("one more run", () => runs.length === 2);
  runs[1]!.resolve();
  // The run ends in a later turn.
  await until("a new run", () => {
    request();
    return runs.length === 3;
  });
});
