import { deepEqual, equal } from "node:assert/strict";
import { volumeInspect, volumeList, volumePrune, volumeRemove } from "../../engine/volumes.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";

const anonymous = "0123456789abcdef".repeat(4);
const other = "f".repeat(64);
const pruned = () => Response.json({ VolumesDeleted: ["named", anonymous], SpaceReclaimed: 9 });

Deno.test("volumeList() answers a list, also when there are none", async () => {
  await using fake = fakeEngine({
    "GET /volumes": () => Response.json({ Volumes: [{ Name: "data" }], Warnings: null }),
  });
  equal((await volumeList(fake.engine))[0]!.Name, "data");
  fake.answers["GET /volumes"] = () => Response.json({ Volumes: null, Warnings: null });
  deepEqual(await volumeList(fake.engine), []);
});

Deno.test("volumes are described and removed by name", async () => {
  await using fake = fakeEngine({
    "GET /volumes/data": () => Response.json({ Name: "data" }),
    "DELETE /volumes/data": () => new Response(null, { status: 204 }),
  });
  equal((await volumeInspect(fake.engine, "data")).Name, "data");
  await volumeRemove(fake.engine, "data", { force: true });
  deepEqual(fake.requests, ["GET /volumes/data", "DELETE /volumes/data?force=true"]);
});

Deno.test("volumePrune() tells an engine of API 1.42 whether named ones go, too", async () => {
  await using fake = fakeEngine({ "POST /volumes/prune": pruned }, { apiVersion: "1.42" });
  const expected = { deleted: ["named", anonymous], spaceReclaimed: 9 };
  deepEqual(await volumePrune(fake.engine, { all: true }), expected);
  deepEqual(await volumePrune(fake.engine), expected);
  deepEqual(fake.requests, [
    "POST /volumes/prune?filters=%7B%22all%22%3A%5B%22true%22%5D%7D",
    "POST /volumes/prune",
  ]);
});

Deno.test("volumePrune() of all on an older engine leaves the unknown filter out", async () => {
  await using fake = fakeEngine({ "POST /volumes/prune": pruned }, { apiVersion: "1.41" });
  await volumePrune(fake.engine, { all: true });
  deepEqual(fake.requests, ["POST /volumes/prune"]);
});

Deno.test("volumePrune() spares named volumes on an older engine, which would not", async () => {
  await using fake = fakeEngine({
    "GET /volumes": () =>
      Response.json({ Volumes: [{ Name: "named" }, { Name: anonymous }, { Name: other }] }),
    [`DELETE /volumes/${anonymous}`]: () => new Response(null, { status: 204 }),
    [`DELETE /volumes/${other}`]: () => Response.json({ message: "in use" }, { status: 409 }),
  }, { apiVersion: "1.41" });
  deepEqual(await volumePrune(fake.engine), { deleted: [anonymous], spaceReclaimed: 0 });
  deepEqual(fake.requests, [
    "GET /volumes?filters=%7B%22dangling%22%3A%5B%22true%22%5D%7D",
    `DELETE /volumes/${anonymous}`,
    `DELETE /volumes/${other}`,
  ]);
});
