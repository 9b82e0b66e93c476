import { deepEqual } from "node:assert/strict";
import { selectPreviousImages } from "../../../../db/updates/previous.ts";
import { keepImages } from "../../../../services/compose/deploy/kept_images.ts";
import { sweepPreviousImages } from "../../../../services/updates/run/previous.ts";
import { fakeEngine } from "../../../helpers/fake_engine.ts";
import { testApp } from "../../../helpers/test_app.ts";

const image = (digit: string) => `sha256:${digit.repeat(64)}`;

/** Images of the containers by their ids. */
const IMAGES: Record<string, string> = {
  ...{ old: image("1"), new: image("2"), removed: image("1"), same: image("3"), again: image("3") },
};

Deno.test("the images that a deploy has replaced are kept from prunes for keepPreviousDays", async () => {
  await using fake = fakeEngine({
    "GET /containers/*/json": ({ parts: [id] }) =>
      Response.json({ Id: id, Image: IMAGES[id!], Config: { Image: "web:1" } }),
    "POST /images/*/tag": () => new Response(null, { status: 201 }),
    "DELETE /images/*/*": () => Response.json([]),
  });
  using app = testApp({ engine: fake.engine });
  const writes = () =>
    fake.requests.filter((each) => !each.startsWith("GET")).map(decodeURIComponent);
  await keepImages(app.deps, "shop", [
    { oldId: "old", newId: "new" },
    { oldId: "removed", newId: "" },
    { oldId: "same", newId: "again" },
  ]);
  deepEqual(writes(), [
    `POST /images/${image("1")}/tag?repo=longshore-previous/stack-shop&tag=111111111111`,
  ]);
  deepEqual(selectPreviousImages(app.deps.db, "web"), []);

  app.clock.advance({ days: 8 });
  await sweepPreviousImages(app.deps);
  deepEqual(writes()[1], "DELETE /images/longshore-previous/stack-shop:111111111111");
});
