import { deepEqual, equal, ok } from "node:assert/strict";
import { liveApp } from "../helpers/live_app.ts";
import { BUSYBOX, engineTest, podmanTest, type RealEngine } from "../helpers/real_engine.ts";

engineTest(
  "a volume is listed with its containers, and deleted only when unused",
  async (engine) => {
    const name = `vol-${crypto.randomUUID().slice(0, 8)}`;
    const begun = Date.now();
    await engine.docker("volume", "create", "--label=a=b", name);
    const user = await engine.docker(
      "create",
      `--volume=${name}:/data`,
      `--name=${name}-user`,
      BUSYBOX,
    );
    await using app = await liveApp(engine.socketPath);
    const find = async () =>
      (await app.call("GET", "/api/volumes")).body.volumes
        .find((volume: { name: string }) => volume.name === name);

    const { createdAt, mountpoint, ...rest } = await find();
    deepEqual(rest, {
      name,
      driver: "local",
      scope: "local",
      warning: null,
      labels: { a: "b" },
      size: null,
      containers: [`${name}-user`],
    });
    const created = Date.parse(createdAt);
    // The engine has whole seconds.
    ok(created > begun - 1_000 && created <= Date.now(), createdAt);
    equal(mountpoint.includes(name), true);

    const used = await app.call("DELETE", `/api/volumes/${name}`);
    deepEqual([used.status, used.body.error], [409, `Volume ${name} is in use by ${name}-user`]);

    await engine.docker("rm", user);
    deepEqual((await app.call("DELETE", `/api/volumes/${name}`)).body, { ok: true, name });
    equal(await find(), undefined);
    equal((await app.call("DELETE", `/api/volumes/${name}`)).status, 404);
  },
);

engineTest("the disk breakdown knows the size of a volume", async (engine) => {
  const name = `vol-${crypto.randomUUID().slice(0, 8)}`;
  await engine.docker(
    "run",
    "--rm",
    `--volume=${name}:/data`,
    BUSYBOX,
    "sh",
    "-c",
    "head -c 100000 /dev/zero > /data/file",
  );
  await using app = await liveApp(engine.socketPath);

  const { status, body } = await app.call("GET", "/api/system/disk");
  const { volumes } = (await app.call("GET", "/api/volumes")).body;
  await engine.docker("volume", "rm", name);

  equal(status, 200);
  const { containers, images, buildCache, totalSize } = body;
  equal(totalSize, containers.size + images.size + body.volumes.size + buildCache.size);
  equal(images.count > 0 && images.size > 0, true);
  const size = volumes.find((volume: typeof body) => volume.name === name).size;
  equal(size >= 100_000 && size < 200_000, true, String(size));
});

for (const [kind, register] of [["Docker", engineTest], ["Podman", podmanTest]] as const) {
  register(`a volume is created once, with its options (${kind})`, createOnce);
}

async function createOnce(engine: RealEngine): Promise<void> {
  await using app = await liveApp(engine.socketPath);
  const name = `vol-${crypto.randomUUID().slice(0, 8)}`;
  const create = (body: unknown) => app.call("POST", "/api/volumes", body);
  const options = { type: "tmpfs", device: "tmpfs" };
  const { status, body } = await create({ name, options, labels: { a: "b" } });
  try {
    deepEqual([status, body.name, body.driver, body.labels], [201, name, "local", { a: "b" }]);
    const { volumes } = (await app.call("GET", "/api/volumes")).body;
    deepEqual(volumes.find((volume: { name: string }) => volume.name === name), body);
    equal(
      await engine.docker("volume", "inspect", '--format={{index .Options "type"}}', name),
      "tmpfs",
    );
    const again = await create({ name });
    deepEqual([again.status, again.body.error], [409, `Volume ${name} already exists`]);
    const driver = await create({ name: `${name}-2`, driver: "no-such-driver" });
    deepEqual(
      [driver.status, driver.body.error],
      [400, "body.driver: the engine has no driver no-such-driver"],
    );
    equal((await create({ name: `${name}-3`, options: { nonsense: "x" } })).status, 400);
  } finally {
    await app.call("DELETE", `/api/volumes/${name}`);
  }
}
