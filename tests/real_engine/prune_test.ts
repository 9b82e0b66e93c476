import { deepEqual, equal } from "node:assert/strict";
import { liveApp } from "../helpers/live_app.ts";
import { long } from "../helpers/long.ts";
import { BUSYBOX, podmanTest, privateEngineTest, type RealEngine } from "../helpers/real_engine.ts";

const lines = (text: string) => text.split("\n").filter(Boolean).sort();

/** Removes what other tests may have left. */
async function tidy(engine: RealEngine): Promise<void> {
  for (const kind of ["container", "network", "volume"]) {
    await engine.docker(kind, "prune", "--force");
  }
}

/** Removes what a test created and its prune kept, in this order. */
function leftovers(engine: RealEngine, ...commands: string[][]): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      for (const command of commands) await engine.docker(...command);
    },
  };
}

/** A container that ran and left 100 kB behind. @returns Its id. */
async function ended(engine: RealEngine, name: string, ...options: string[]): Promise<string> {
  await engine.docker(
    "run",
    `--name=${name}`,
    ...options,
    BUSYBOX,
    "sh",
    "-c",
    "head -c 100000 /dev/urandom > /file",
  );
  return await engine.docker("inspect", "--format={{.Id}}", name);
}

async function prunesEverything(engine: RealEngine): Promise<void> {
  await tidy(engine);
  await using _left = leftovers(engine, ["network", "rm", "used"], ["volume", "rm", "used"]);
  await engine.docker("network", "create", "used");
  await engine.docker("network", "create", "unused");
  await engine.docker("volume", "create", "named-unused");
  await using runs = await engine.runContainer({
    options: ["--network=used", "--volume=used:/data"],
  });
  const gone = await ended(engine, "gone");
  await using app = await liveApp(engine.socketPath);

  const kept = await app.call("POST", "/api/system/prune");
  equal(kept.status, 200);
  for (const kind of ["containers", "networks", "volumes", "images"]) {
    deepEqual([kind, kept.body[kind].deleted, kept.body[kind].error], [kind, [], null]);
  }

  const all = { olderThanHours: 0 };
  const planned = await app.call("POST", "/api/system/prune", { ...all, dryRun: true });
  equal(lines(await engine.docker("ps", "--all", "--quiet", "--no-trunc")).includes(gone), true);
  const first = await app.call("POST", "/api/system/prune", all);
  equal(first.status, 200);
  const { containers, networks, volumes, images, buildCache, totalReclaimed } = first.body;
  for (const kind of ["containers", "networks", "volumes", "images"]) {
    deepEqual(planned.body[kind], first.body[kind]);
  }
  deepEqual(containers.deleted, [gone]);
  equal(containers.spaceReclaimed >= 100_000, true, String(containers.spaceReclaimed));
  equal(totalReclaimed >= containers.spaceReclaimed, true);
  deepEqual([networks.deleted, networks.error], [["unused"], null]);
  deepEqual([volumes.deleted, volumes.error], [[], null]);
  deepEqual([images.error, buildCache.error], [null, null]);
  const listed = (await app.call("GET", "/api/containers")).body.containers;
  deepEqual(listed.map(({ id }: { id: string }) => id), [runs.id]);

  const withVolumes = { ...all, includeVolumes: true };
  const announced = await app.call("POST", "/api/system/prune", { ...withVolumes, dryRun: true });
  const second = await app.call("POST", "/api/system/prune", withVolumes);
  deepEqual(announced.body.volumes, second.body.volumes);
  deepEqual(second.body.volumes.deleted, ["named-unused"]);
  deepEqual(lines(await engine.docker("volume", "ls", "--quiet")), ["used"]);
}

privateEngineTest("a prune removes unused objects and nothing else", prunesEverything);
long(podmanTest)("a prune removes unused objects on Podman, too", prunesEverything);

privateEngineTest(
  "a prune keeps what a rebuild has set aside, able to start again",
  async (engine) => {
    await tidy(engine);
    const name = "web-longshore-old-running-0123456789ab";
    const removal = [["rm", "--force", "--volumes", name], ["network", "rm", "only-aside"]];
    await using _left = leftovers(engine, ...removal);
    await engine.docker("network", "create", "only-aside");
    const aside = await ended(engine, name, "--network=only-aside", "--volume=/data");
    const gone = await ended(engine, "gone");
    await using app = await liveApp(engine.socketPath);
    app.deps.inventory.temporary.record({ id: aside, name: "web" });

    const { body } = await app.call("POST", "/api/system/prune", {
      olderThanHours: 0,
      includeVolumes: true,
    });

    deepEqual(body.containers.deleted, [gone]);
    deepEqual(body.volumes.deleted, []);
    deepEqual(body.networks.deleted, []);
    equal(body.networks.error, `Networks are kept while the rebuild of web is unfinished`);
    await engine.docker("start", aside);
  },
);

long(privateEngineTest)(
  "only dangling images are pruned by POST /api/images/prune",
  async (engine) => {
    await using _left = leftovers(engine, ["rm", "first", "second"], ["rmi", "app"]);
    for (const name of ["first", "second"]) {
      await ended(engine, name);
      await engine.docker("commit", name, "app");
    }
    await using app = await liveApp(engine.socketPath);
    const images = async () =>
      (await app.call("GET", "/api/images")).body.images as {
        id: string;
        repoTags: string[];
        dangling: boolean;
      }[];
    const { id } = (await images()).find(({ dangling }) => dangling)!;

    const { status, body } = await app.call("POST", "/api/images/prune");

    equal(status, 200);
    equal(body.deleted.includes(id), true);
    equal(body.spaceReclaimed >= 100_000, true, String(body.spaceReclaimed));
    equal(body.SpaceReclaimed, body.spaceReclaimed);
    const left = (await images()).flatMap(({ repoTags }) => repoTags);
    deepEqual(["app:latest", BUSYBOX].filter((tag) => !left.includes(tag)), []);
  },
);

long(privateEngineTest)(
  "unusedImages removes tagged images that no container uses",
  async (engine) => {
    await using _left = leftovers(engine, ["rm", "base", "user"], ["rmi", "second"]);
    // Other tests need this image.
    await engine.docker("create", "--name=base", BUSYBOX);
    for (const name of ["first", "second"]) {
      await ended(engine, name);
      await engine.docker("commit", name, name);
      await engine.docker("rm", name);
    }
    await engine.docker("tag", "first", "alias:1");
    await engine.docker("create", "--name=user", "second");
    await using app = await liveApp(engine.socketPath);
    const options = { kinds: ["images"], unusedImages: true, olderThanHours: 0 };

    const recent = await app.call("POST", "/api/system/prune", { ...options, olderThanHours: 1 });
    deepEqual(recent.body.images.deleted, []);
    const planned = await app.call("POST", "/api/system/prune", { ...options, dryRun: true });
    const real = await app.call("POST", "/api/system/prune", options);

    deepEqual(real.body.images, planned.body.images);
    equal(real.body.images.deleted.length >= 1, true);
    const left = lines(await engine.docker("images", "--format={{.Repository}}:{{.Tag}}"));
    equal(left.includes("second:latest"), true);
    equal(left.some((name) => name.startsWith("first") || name.startsWith("alias")), false);
  },
);
