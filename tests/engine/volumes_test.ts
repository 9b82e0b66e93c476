import { deepEqual, equal } from "node:assert/strict";
import { volumeList, volumeRemove } from "../../engine/volumes.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";

Deno.test("volumeList() returns a list, also without volumes", async () => {
  await using fake = fakeEngine({
    "GET /volumes": () => Response.json({ Volumes: [{ Name: "data" }], Warnings: null }),
  });
  equal((await volumeList(fake.engine))[0]!.Name, "data");
  fake.answers["GET /volumes"] = () => Response.json({ Volumes: null, Warnings: null });
  deepEqual(await volumeList(fake.engine), []);
});

Deno.test("volumeRemove() removes a volume by name", async () => {
  await using fake = fakeEngine({
    "DELETE /volumes/data": () => new Response(null, { status: 204 }),
  });
  await volumeRemove(fake.engine, "data");
  deepEqual(fake.requests, ["DELETE /volumes/data"]);
});
