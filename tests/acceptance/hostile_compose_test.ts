import { deepEqual, equal, ok } from "node:assert/strict";
import { startLongshore } from "../helpers/longshore.ts";
import { until } from "../helpers/until.ts";
import { HOSTILE_PROJECTS } from "./hostile_projects.ts";

/** Limit of an answer in characters: 100 errors, none of which repeats much of the text. */
const ANSWER_MAX = 100_000;

Deno.test("Compose files that are made to take time or memory stop neither the service nor other requests", async () => {
  await using longshore = await startLongshore();
  for (const [what, sources] of Object.entries(HOSTILE_PROJECTS)) {
    let isPending = true;
    const others = new Set<number>();
    const answer = longshore.call("POST", "/api/stacks/validate", sources)
      .finally(() => isPending = false);
    await until(`${what} is answered`, async () => {
      others.add((await longshore.call("GET", "/livez", undefined, { token: null })).status);
      return !isPending;
    });
    deepEqual([...others], [200], what);
    const { status, body } = await answer;
    ok(status === 200 || status === 400, `${what}: ${status}`);
    ok(JSON.stringify(body).length < ANSWER_MAX, `${what}: ${JSON.stringify(body).length}`);
  }
  const { body } = await longshore.call("POST", "/api/stacks/validate", {
    compose: "services: {web: {image: nginx}}",
  });
  equal(body.valid, true);
});
