import { deepEqual, equal, match } from "node:assert/strict";
import { liveApp } from "../helpers/live_app.ts";
import { long } from "../helpers/long.ts";
import { BUSYBOX, engineTest, podmanTest, type RealEngine } from "../helpers/real_engine.ts";

/** An image of its own: the test image with a label. @returns Its id. */
async function makeImage(engine: RealEngine, tag: string): Promise<string> {
  await using container = await engine.runContainer();
  return await engine.docker("commit", "--change", `LABEL test=${tag}`, container.id, tag);
}

engineTest(
  "images are listed with their containers, and deleted if no container uses them",
  async (engine) => {
    const [name, other] = [0, 1].map(() =>
      `registry.example:5000/team/app-${crypto.randomUUID().slice(0, 8)}:1`
    ) as [string, string];
    const id = await makeImage(engine, name);
    await engine.docker("tag", name, other);
    const container = await engine.docker("create", name, "true");
    await using app = await liveApp(engine.socketPath);
    const remove = (ref: string) => app.call("DELETE", `/api/images/${encodeURIComponent(ref)}`);

    const { status, body } = await app.call("GET", "/api/images");
    equal(status, 200);
    const image = body.images.find((image: typeof body) => image.id === id);
    deepEqual(image.repoTags.sort(), [name, other].sort());
    equal(image.containers, 1);
    equal(image.dangling, false);
    match(image.createdAt, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    equal(body.images.some(({ repoTags }: typeof body) => repoTags.includes(BUSYBOX)), true);

    equal((await remove(id)).status, 409, "an id that several names stand for");
    deepEqual((await remove(other)).body, { ok: true, deleted: [], untagged: [other] });
    const inUse = await remove(name);
    equal(inUse.status, 409);
    match(inUse.body.error, /container/);

    await engine.docker("rm", container);
    const removed = await remove(name);
    equal(removed.status, 200, JSON.stringify(removed.body));
    equal(removed.body.untagged.includes(name), true);
    equal(removed.body.deleted.includes(id), true);
    equal((await remove(name)).status, 404);
  },
);

engineTest(
  "a dangling image is listed as such and deleted by a prefix of its id",
  async (engine) => {
    const tag = `app-${crypto.randomUUID().slice(0, 8)}`;
    const id = await makeImage(engine, tag);
    await makeImage(engine, tag);
    await using app = await liveApp(engine.socketPath);
    const find = async () =>
      (await app.call("GET", "/api/images")).body.images
        .find((image: { id: string }) => image.id === id);

    const { repoTags, repoDigests, dangling } = await find();
    deepEqual({ repoTags, repoDigests, dangling }, {
      repoTags: [],
      repoDigests: [],
      dangling: true,
    });
    equal((await app.call("DELETE", `/api/images/${id.slice(7, 19)}`)).status, 200);
    equal(await find(), undefined);
    await engine.docker("rmi", tag);
  },
);

engineTest("a name with dots does not lead to the engine's containers", async (engine) => {
  await using container = await engine.runContainer();
  await using app = await liveApp(engine.socketPath);

  for (const path of [`../containers/${container.id}`, `x/../../containers/${container.id}`]) {
    const { status } = await app.call("DELETE", `/api/images/${encodeURIComponent(path)}?force=1`);
    equal(status, 404);
  }
  equal(await engine.docker("inspect", "--format={{.State.Running}}", container.id), "true");
});

long(podmanTest)("with force, Podman keeps the containers of an image", async (engine) => {
  await using container = await engine.runContainer();
  await using app = await liveApp(engine.socketPath);
  const { images } = (await app.call("GET", "/api/images")).body;
  const image = images.find(({ repoTags }: { repoTags: string[] }) =>
    repoTags.some((tag) => tag.endsWith(BUSYBOX))
  );
  equal(image.containers, 1);

  const { status, body } = await app.call("DELETE", `/api/images/${image.id}?force=true`);

  equal(status, 409);
  match(body.error, new RegExp(`in use by ${container.name}`));
  equal(await engine.docker("inspect", "--format={{.State.Running}}", container.id), "true");
});
