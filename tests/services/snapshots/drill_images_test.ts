/** Images of drills: found by id or digest, pulled by any digest, and removed again. @module */

import { deepEqual, equal, rejects } from "node:assert/strict";
import type { Repository } from "../../../services/backup/restic/repository.ts";
import type { DescribedContainer } from "../../../services/snapshots/description.ts";
import {
  bringMissing,
  findMissing,
  removeBrought,
} from "../../../services/snapshots/drills/images.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { testApp } from "../../helpers/test_app.ts";

const ID = `sha256:${"1".repeat(64)}`;
// Public addresses, which only the fake engine is told.
const GONE = `9.9.9.9:5000/gone/db@sha256:${"2".repeat(64)}`;
const KEPT = `9.9.9.9:5000/kept/db@sha256:${"3".repeat(64)}`;

const container = (digests: string[]) =>
  ({ name: "shop-db-1", image: "db:1", imageId: ID, digests }) as unknown as DescribedContainer;

/** An engine with images, whose registry has those below `kept`. */
function engineWith(...images: string[]) {
  const here = new Set(images);
  const fake = fakeEngine({
    "GET /images/*/*/*/json": ({ parts }) =>
      here.has(decodeURIComponent(parts.join("/")))
        ? Response.json({ Id: `sha256:${"4".repeat(64)}` })
        : Response.json({ message: "No such image" }, { status: 404 }),
    "POST /images/create": ({ query }) => {
      const name = query.get("fromImage") ?? "";
      if (!name.includes("/kept/")) {
        return Response.json({ message: "manifest unknown" }, { status: 404 });
      }
      here.add(KEPT);
      return new Response('{"status":"Pull complete"}\n');
    },
    "DELETE /images/*/*/*": ({ parts }) =>
      here.delete(decodeURIComponent(parts.join("/")))
        ? Response.json([])
        : Response.json({ message: "No such image" }, { status: 404 }),
  });
  return { fake, here };
}

const source = { repository: {} as Repository, snapshot: "1" };

const job = { progress() {}, signal: new AbortController().signal };

Deno.test("an image that the engine knows by any digest is not missing", async () => {
  const { fake, here } = engineWith(KEPT);
  await using _fake = fake;
  using app = testApp({ engine: fake.engine });
  const missing = await findMissing(app.deps, [container([GONE, KEPT])], new Set());
  deepEqual(missing, {});
  await removeBrought(app.deps, missing);
  equal(here.has(KEPT), true);
});

Deno.test("a missing image is pulled by the first digest that a registry has, and removed", async () => {
  const { fake, here } = engineWith();
  await using _fake = fake;
  using app = testApp({ engine: fake.engine });
  const missing = await findMissing(app.deps, [container([GONE, KEPT])], new Set());
  await bringMissing(app.deps, source, missing, job);
  equal(here.has(KEPT), true);
  await removeBrought(app.deps, missing);
  deepEqual([...here], []);
});

Deno.test("an image that is neither here nor on a registry ends the drill", async () => {
  const { fake } = engineWith();
  await using _fake = fake;
  using app = testApp({ engine: fake.engine });
  await rejects(
    findMissing(app.deps, [container([])], new Set()),
    /does not have image db:1 of shop-db-1/,
  );
  const missing = await findMissing(app.deps, [container([GONE])], new Set());
  await rejects(bringMissing(app.deps, source, missing, job), /manifest unknown/);
});

Deno.test("an image that a snapshot names is not pulled from a registry on this host", async () => {
  const { fake } = engineWith();
  await using _fake = fake;
  using app = testApp({ engine: fake.engine });
  const own = `127.0.0.1:5000/kept/db@sha256:${"2".repeat(64)}`;
  const missing = await findMissing(app.deps, [container([own])], new Set());
  await rejects(bringMissing(app.deps, source, missing, job), { code: "invalid" });
});
