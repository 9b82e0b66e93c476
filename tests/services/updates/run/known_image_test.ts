import { equal, rejects } from "node:assert/strict";
import { upsertPreviousImage } from "../../../../db/updates/previous.ts";
import type { ImageInspect } from "../../../../engine/images.ts";
import { assertKnownImage } from "../../../../services/updates/run/known_image.ts";
import { obtainImage } from "../../../../services/updates/run/prepare.ts";
import type { Planned, UpdateJob } from "../../../../services/updates/run/job.ts";
import { fakeEngine } from "../../../helpers/fake_engine.ts";
import { LOOPBACK_ALLOWED } from "../../../helpers/fake_system.ts";
import { testApp } from "../../../helpers/test_app.ts";
import { digestOf, manifest, startTagServer } from "../../../helpers/updates.ts";

const [RUNNING, LOCAL, PREVIOUS] = ["a", "b", "c"].map(digestOf) as [string, string, string];

const CONTAINERD = { DriverStatus: [["driver-type", "io.containerd.snapshotter.v1"]] };

const imageOf = (id: string, digests: string[]) =>
  ({ Id: id, RepoTags: [], RepoDigests: digests, Os: "linux" }) as unknown as ImageInspect;

/** An engine and a registry that has one image of the repository. */
function host(info: object) {
  const registry = startTagServer();
  const fake = fakeEngine({ "GET /info": () => Response.json(info) });
  const app = testApp({ engine: fake.engine, config: LOOPBACK_ALLOWED });
  const repository = `${registry.address}/app`;
  registry.tags.set("app:1", manifest("real"));
  upsertPreviousImage(app.deps.db, {
    ...{ id: "p1", containerName: "web", imageId: PREVIOUS, tag: "t", createdAt: "2026-01-01" },
    reference: `${repository}:1`,
  });
  return {
    repository,
    check: (id: string, digests: string[]) =>
      assertKnownImage(app.deps, imageOf(id, digests), {
        ...{ reference: `${repository}:2`, name: "web", currentId: RUNNING },
      }),
    async [Symbol.asyncDispose]() {
      app[Symbol.dispose]();
      await fake[Symbol.asyncDispose]();
      await registry[Symbol.asyncDispose]();
    },
  };
}

const refused = { code: "forbidden", message: /containers:rebuild is required/ };

for (const [store, info] of Object.entries({ classic: {}, containerd: CONTAINERD })) {
  Deno.test(`with the ${store} store, an image is known by its repository or the container`, async () => {
    await using made = host(info);
    const { check, repository } = made;

    await check(RUNNING, []);
    await check(PREVIOUS, []);
    await check(LOCAL, [`${repository}@${manifest("real")}`]);
    await rejects(check(LOCAL, []), refused);
    await rejects(check(LOCAL, [`${repository}2@${manifest("real")}`]), refused);
  });
}

Deno.test("a digest that a name on this host gave to an image is none of the repository", async () => {
  await using made = host(CONTAINERD);

  await rejects(made.check(LOCAL, [`${made.repository}@${digestOf("e")}`]), refused);
});

Deno.test("an image that a name leads to since the request is checked by the job", async () => {
  await using fake = fakeEngine({
    "GET /info": () => Response.json({}),
    [`GET /images/${encodeURIComponent("app:1")}/json`]: () => Response.json(imageOf(LOCAL, [])),
    [`GET /images/${encodeURIComponent(RUNNING)}/json`]: () => Response.json(imageOf(RUNNING, [])),
  });
  using app = testApp({ engine: fake.engine });
  const obtain = (mustBeKnown: boolean) =>
    obtainImage(
      app.deps,
      {
        input: {
          ...{ reference: "app:1", name: "web", pull: "never", force: false },
          ...{ previousImageId: null, expectedDigest: null, mustBeKnown },
        },
        signal: new AbortController().signal,
      } as unknown as UpdateJob,
      { oldImageId: RUNNING, namedId: RUNNING } as Planned,
    );

  await rejects(obtain(true), refused);
  equal((await obtain(false)).imageId, LOCAL);
});
