import { deepEqual } from "node:assert/strict";
import { runHere } from "../helpers/command.ts";

const REPORT = { stacks: [], directories: [], unlisted: [], containers: [], managers: [] };

/** Runs `longshore takeover` with the report of a service. */
async function takeoverOf(stacks: object[]) {
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => Response.json({ ...REPORT, stacks }),
  );
  const { code, stdout, stderr } = await runHere(["takeover"], {
    env: { LONGSHORE_URL: `http://127.0.0.1:${server.addr.port}`, LONGSHORE_TOKEN: "t" },
  });
  return [code, stdout, stderr];
}

Deno.test("takeover says in one sentence why it takes nothing", async () => {
  deepEqual(await takeoverOf([]), [0, "No stack of another program was found.\n", ""]);
  const plan = { changesNothing: false, recreates: ["web"], creates: [], reasons: [] };
  const source = { kind: "host", path: "/s/a/compose.yaml" };
  const [, , noted] = await takeoverOf([{ name: "a", containers: ["a"], source, plan, notes: [] }]);
  deepEqual(noted, "A deploy would change every stack; name those to take over with --stack.\n");
});
