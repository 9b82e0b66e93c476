import { equal, rejects } from "node:assert/strict";
import { untilGone } from "../../../../services/updates/recreate/replace.ts";
import { fakeEngine } from "../../../helpers/fake_engine.ts";

const MINUTE_MS = 60_000;

/** Waits for the end of a removal that takes so long. @returns The time that it waited. */
async function waitedFor(removalMs: number): Promise<number> {
  let atMs = 0;
  await using fake = fakeEngine({
    "GET /containers/c1/json": () =>
      atMs < removalMs
        ? Response.json({ Id: "c1" })
        : Response.json({ message: "No such container: c1" }, { status: 404 }),
  });
  await untilGone(fake.engine, "c1", {
    now: () => atMs,
    pause: (ms) => Promise.resolve(void (atMs += ms)),
  });
  return atMs;
}

Deno.test("the removal of a container by a slow engine may take nine minutes", async () => {
  const waitedMs = await waitedFor(9 * MINUTE_MS);
  equal(Math.floor(waitedMs / MINUTE_MS), 9);
});

Deno.test("a container that is still there after ten minutes of its removal is a conflict", async () => {
  await rejects(waitedFor(11 * MINUTE_MS), {
    code: "conflict",
    message: "Timeout while removing container c1",
  });
});
