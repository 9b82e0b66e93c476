import { deepEqual, equal } from "node:assert/strict";
import { parseReference } from "../../../../engine/image_reference.ts";
import { recordPrevious, sweepPreviousImages } from "../../../../services/updates/run/previous.ts";
import { selectPreviousImages } from "../../../../db/updates/previous.ts";
import { isPreviousTag, previousTag } from "../../../../services/images/previous_tag.ts";
import { fakeEngine } from "../../../helpers/fake_engine.ts";
import { testApp } from "../../../helpers/test_app.ts";

const IMAGE = `sha256:${"0123456789abcdef".repeat(4)}`;

for (
  const [name, tag] of [
    ["web", "longshore-previous/web:0123456789ab"],
    ["Shop_App.1-", "longshore-previous/shop-app-1:0123456789ab"],
    ["__", "longshore-previous/container:0123456789ab"],
  ] as const
) {
  Deno.test(`the image of ${name} before an update is kept as ${tag}`, () => {
    const previous = previousTag(name, IMAGE);
    equal(`${previous.name}:${previous.tag}`, tag);
    equal(parseReference(tag).name, previous.name);
    deepEqual([isPreviousTag(tag), isPreviousTag(`localhost/${tag}`)], [true, true]);
  });
}

Deno.test("a previous image is removed after keepPreviousDays", async () => {
  await using fake = fakeEngine({
    "DELETE /images/longshore-previous/web:0123456789ab": () => Response.json([]),
  });
  using app = testApp({ engine: fake.engine });
  recordPrevious(app.deps, {
    data: null,
    containerName: "web",
    imageId: IMAGE,
    reference: "nginx:1",
    currentId: "sha256:new",
  });

  app.clock.advance({ days: 6 });
  await sweepPreviousImages(app.deps);
  deepEqual(fake.requests, []);

  app.clock.advance({ days: 2 });
  await sweepPreviousImages(app.deps);
  deepEqual(fake.requests, ["DELETE /images/longshore-previous/web%3A0123456789ab"]);
  deepEqual(selectPreviousImages(app.deps.db, "web"), []);
});
