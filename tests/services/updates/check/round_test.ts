import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { checkDueImages } from "../../../../services/updates/check/checker.ts";
import { imagesInUse } from "../../../../services/updates/check/in_use.ts";
import { recordPull } from "../../../../services/images/pulled_digest.ts";
import type { ImageUpdate } from "../../../../services/updates/check/list.ts";
import { checkImages } from "../../../../services/updates/check/round.ts";
import { changeUpdateSettings } from "../../../../services/updates/settings.ts";
import type { EventMap } from "../../../../services/events/kinds/mod.ts";
import type { Container } from "../../../../services/containers/inventory.ts";
import { keptLog, openTestDatabase } from "../../../helpers/test_app.ts";
import {
  digestOf,
  index,
  manifest,
  startTagServer,
  type TagServer,
  type TestImage,
  type UpdateApp,
  updateApp,
} from "../../../helpers/updates.ts";

const [OLD, NEW, NEWER] = ["old", "new", "newer"].map(manifest) as [string, string, string];
const [OLD_ID, NEW_ID] = ["a", "b"].map(digestOf) as [string, string];

/** The image `app:1` of the registry, as it was pulled when its digest was `digest`. */
const pulled = (registry: TagServer, digest: string, id = OLD_ID): TestImage => ({
  id,
  tags: [`${registry.address}/app:1`],
  digests: [`${registry.address}/app@${digest}`],
});

/** A container of `app:1`. */
const user = (registry: TagServer, changes: Partial<Container> = {}) => ({
  name: "web",
  image: `${registry.address}/app:1`,
  imageId: OLD_ID,
  ...changes,
});

/** Enables checks and runs a round; `minutes` pass before it. */
async function round({ app }: UpdateApp, minutes = 0): Promise<void> {
  changeUpdateSettings(app.deps, { enabled: true, intervalHours: 6 });
  app.clock.advance({ minutes });
  await checkDueImages(app.deps);
}

async function updates({ app }: UpdateApp): Promise<ImageUpdate[]> {
  return (await app.call("GET", "/api/updates")).body.updates;
}

const DAY = 24 * 60;

Deno.test("no registry is asked while checks are off", async () => {
  await using registry = startTagServer();
  await using made = updateApp([pulled(registry, OLD)]);
  made.run([user(registry)]);
  await checkDueImages(made.app.deps);
  deepEqual(registry.requests, []);
  const [entry] = await updates(made);
  deepEqual([entry!.status, entry!.reason, entry!.nextCheckAt], [
    "unknown",
    "not checked yet",
    null,
  ]);
});

Deno.test("an image is compared with all digests of the image that its containers run", async () => {
  await using registry = startTagServer();
  const image = pulled(registry, OLD);
  image.digests!.push(`${registry.address}/app@${NEW}`, `${registry.address}/other@${NEWER}`);
  await using made = updateApp([image]);
  made.run([user(registry), user(registry, { name: "worker", state: "exited" })]);
  registry.tags.set("app:1", NEW);
  await round(made);

  deepEqual(registry.requests, ["HEAD app/manifests/1"]);
  const [entry] = await updates(made);
  deepEqual(
    { ...entry, containers: entry!.containers.map(({ name }) => name), nextCheckAt: null },
    {
      image: `${registry.address}/app:1`,
      registry: registry.address,
      repository: "app",
      tag: "1",
      digest: NEW,
      latestDigest: NEW,
      status: "up_to_date",
      reason: null,
      firstSeenAt: "2026-01-01T00:00:00.000Z",
      newerVersions: [],
      rateLimitRemaining: null,
      containers: ["web", "worker"],
      services: [],
      checkedAt: "2026-01-01T00:00:00.000Z",
      lastGoodAt: "2026-01-01T00:00:00.000Z",
      nextCheckAt: null,
    },
  );
  const next = Date.parse(entry!.nextCheckAt!) - Date.parse(entry!.checkedAt!);
  equal(next >= 5.4 * 3_600_000 && next <= 6.6 * 3_600_000, true);

  // The digest of another repository is not one of this image.
  registry.tags.set("app:1", NEWER);
  await round(made, DAY);
  equal((await updates(made))[0]!.status, "update_available");
});

Deno.test("an update is reported once for each digest, and its age counts from when it was first seen", async () => {
  const db = openTestDatabase();
  await using registry = startTagServer();
  registry.tags.set("app:1", OLD);
  {
    await using made = updateApp([pulled(registry, OLD)], { db });
    made.run([user(registry)]);
    await round(made);
    deepEqual(made.events, []);

    registry.tags.set("app:1", NEW);
    await round(made, DAY);
    await round(made, DAY);
    deepEqual(made.events.map(({ event, data }) => ({ event, data })), [{
      event: "image.update_available",
      data: {
        image: `${registry.address}/app:1`,
        currentImage: `${registry.address}/app:1`,
        digest: NEW,
        firstSeenAt: "2026-01-02T00:00:00.000Z",
        containers: ["web"],
      },
    }]);
  }
  // After a restart, with a container that was recreated meanwhile.
  await using made = updateApp([pulled(registry, OLD)], { db, now: "2026-01-05T00:00:00Z" });
  made.run([user(registry, { id: digestOf("c").slice(7) })]);
  await round(made);
  deepEqual(made.events, []);
  const [entry] = await updates(made);
  deepEqual([entry!.status, entry!.digest, entry!.latestDigest, entry!.firstSeenAt], [
    "update_available",
    OLD,
    NEW,
    "2026-01-02T00:00:00.000Z",
  ]);
  db.close();
});

Deno.test("an image that is pulled and not run yet is shown as such", async () => {
  await using registry = startTagServer();
  await using made = updateApp([
    { ...pulled(registry, OLD), tags: ["<none>:<none>"] },
    pulled(registry, NEW, NEW_ID),
  ]);
  registry.tags.set("app:1", NEW);
  made.run([user(registry), user(registry, { name: "worker", imageId: NEW_ID })]);
  await round(made);
  const [entry] = await updates(made);
  deepEqual([entry!.status, entry!.digest], ["pulled", OLD]);
});

Deno.test("an image known by its digest in an index is compared with that index, read once", async () => {
  await using registry = startTagServer();
  await using made = updateApp([pulled(registry, OLD)]);
  const first = index(OLD, NEWER);
  registry.tags.set("app:1", first);
  made.run([user(registry)]);
  await round(made);
  await round(made, DAY);
  equal((await updates(made))[0]!.status, "up_to_date");
  deepEqual(registry.requests, [
    "HEAD app/manifests/1",
    `HEAD app/manifests/${first}`,
    `GET app/manifests/${first}`,
    "HEAD app/manifests/1",
  ]);

  // The next index has another image for every platform.
  registry.tags.set("app:1", index(NEW, NEWER));
  await round(made, DAY);
  await round(made, DAY);
  equal((await updates(made))[0]!.status, "update_available");
  equal(registry.requests.filter((request) => request.startsWith("GET")).length, 2);
});

Deno.test("an index that has the engine's digest for another platform only is another image", async () => {
  await using registry = startTagServer();
  await using made = updateApp([{ ...pulled(registry, OLD), architecture: "arm64" }]);
  registry.tags.set("app:1", index(OLD, NEWER));
  made.run([user(registry)]);
  await round(made);
  equal((await updates(made))[0]!.status, "update_available");
});

for (
  const [what, make] of [["manifest", manifest], [
    "index",
    (name: string) => index(manifest(name)),
  ]] as const
) {
  Deno.test(`a tag that moves from one ${what} to another one is read with HEAD only`, async () => {
    const [first, second] = [make("first"), make("second")];
    await using registry = startTagServer();
    await using made = updateApp([pulled(registry, first)]);
    registry.tags.set("app:1", first);
    made.run([user(registry)]);
    await round(made);
    registry.tags.set("app:1", second);
    await round(made, DAY);
    await round(made, DAY);
    equal((await updates(made))[0]!.status, "update_available");
    deepEqual(registry.requests, [
      "HEAD app/manifests/1",
      "HEAD app/manifests/1",
      `HEAD app/manifests/${second}`,
      "HEAD app/manifests/1",
    ]);
  });
}

Deno.test("a tag that moves from a manifest to an index with that manifest is up to date", async () => {
  await using registry = startTagServer();
  await using made = updateApp([pulled(registry, OLD)]);
  registry.tags.set("app:1", OLD);
  made.run([user(registry)]);
  await round(made);
  const latest = index(OLD, NEWER);
  registry.tags.set("app:1", latest);
  await round(made, DAY);
  await round(made, DAY);
  const [entry] = await updates(made);
  deepEqual([entry!.status, entry!.latestDigest], ["up_to_date", latest]);
  deepEqual(made.events, []);
  deepEqual(
    registry.requests.filter((request) => request.startsWith("GET")),
    [`GET app/manifests/${latest}`],
  );
});

Deno.test("a digest that the registry states and does not have is an invalid answer", async () => {
  await using registry = startTagServer();
  await using made = updateApp([pulled(registry, OLD)]);
  registry.tags.set("app:1", OLD);
  made.run([user(registry)]);
  await round(made);
  registry.stated = digestOf("f");
  await round(made, DAY);
  await round(made, DAY);
  const [entry] = await updates(made);
  deepEqual([entry!.status, entry!.reason, entry!.latestDigest], [
    "unknown",
    "invalid answer",
    OLD,
  ]);
  deepEqual(made.events, []);
  registry.stated = undefined;
  await round(made, DAY);
  equal((await updates(made))[0]!.status, "up_to_date");
});

Deno.test("a list of tags with a gap is told, with the versions that are known", async () => {
  await using registry = startTagServer();
  await using made = updateApp([pulled(registry, OLD)]);
  for (const tag of ["1", "2"]) registry.tags.set(`app:${tag}`, OLD);
  made.run([user(registry, { labels: { "longshore.update.level": "major" } })]);
  const found = async () => {
    await round(made, DAY);
    const [{ status, reason, newerVersions }] = await updates(made) as [ImageUpdate];
    return [status, reason, newerVersions.map(({ tag }) => tag)];
  };
  deepEqual(await found(), ["up_to_date", null, ["2"]]);
  registry.tags.delete("app:2");
  registry.tags.set("app:3", OLD);
  registry.pageFailure = { page: 2, status: 500 };
  const gap = "the list of tags is incomplete: page 2 could not be read";
  deepEqual(await found(), ["up_to_date", gap, ["3", "2"]]);
  registry.pageFailure = { page: 1, status: 403 };
  deepEqual(await found(), ["up_to_date", "the tags could not be listed: unauthorized", [
    "3",
    "2",
  ]]);
  registry.pageFailure = undefined;
  deepEqual(await found(), ["up_to_date", null, ["3"]]);
});

// In containerd's image store the id is a digest, and an image without a name has no other.
const untagged: TestImage = { id: OLD };
const named = (registry: TagServer, digest: string): TestImage => pulled(registry, digest, digest);
const oldUser = (registry: TagServer) => user(registry, { imageId: OLD });

Deno.test("an outdated image that lost its name in containerd's image store is outdated", async () => {
  await using registry = startTagServer();
  await using made = updateApp([named(registry, NEW), untagged]);
  registry.tags.set("app:1", NEW);
  made.run([oldUser(registry), user(registry, { name: "worker", imageId: NEW })]);
  await round(made);
  const state = async () => {
    const [{ status, digest, latestDigest, containers }] = await updates(made) as [ImageUpdate];
    return [status, digest, latestDigest, containers.map(({ name }) => name)];
  };
  deepEqual(await state(), ["pulled", OLD, NEW, ["web", "worker"]]);
  deepEqual(
    made.events.map((
      { event, data },
    ) => [event, (data as EventMap["image.update_available"]).containers]),
    [
      ["image.update_available", ["web"]],
    ],
  );
  registry.tags.set("app:1", NEWER);
  await round(made, DAY);
  equal((await state())[0], "update_available");
});

Deno.test("an image whose name is gone is not local if its registry was asked before", async () => {
  await using registry = startTagServer();
  await using made = updateApp([named(registry, OLD)]);
  registry.tags.set("app:1", OLD);
  made.run([oldUser(registry)]);
  await round(made);
  made.images.splice(0, 1, untagged, { id: NEW, digests: [`${registry.address}/other@${NEW}`] });
  equal((await updates(made))[0]!.status, "up_to_date");
  registry.tags.set("app:1", NEW);
  await round(made, DAY);
  equal((await updates(made))[0]!.status, "update_available");
});

Deno.test("an image without a name whose registry is unknown stays local", async () => {
  await using registry = startTagServer();
  const other = { id: NEW, digests: [`${registry.address}/other@${NEW}`] };
  await using made = updateApp([untagged, other]);
  made.run([oldUser(registry)]);
  await round(made);
  deepEqual([(await updates(made))[0]!.status, registry.requests], ["local", []]);
});

Deno.test("an image of two repositories is known to both, although the list names one digest", async () => {
  await using registry = startTagServer();
  await using made = updateApp([{
    id: OLD,
    tags: [`${registry.address}/app:1`, "mirror.example/app:1"],
    digests: [`mirror.example/app@${OLD}`],
  }]);
  registry.tags.set("app:1", OLD);
  made.run([oldUser(registry)]);
  await round(made);
  const [entry] = await updates(made);
  deepEqual([entry!.status, entry!.digest], ["up_to_date", OLD]);
});

Deno.test("after a pull that led to the same image, both digests count as equal", async () => {
  await using registry = startTagServer();
  await using made = updateApp([pulled(registry, OLD)]);
  registry.tags.set("app:1", NEW);
  made.run([user(registry)]);
  await round(made);
  equal((await updates(made))[0]!.status, "update_available");

  recordPull(made.app.deps, { image: `${registry.address}/app:1`, imageId: NEW_ID });
  equal((await updates(made))[0]!.status, "update_available");
  recordPull(made.app.deps, { image: `${registry.address}/app:1`, imageId: OLD_ID });
  equal((await updates(made))[0]!.status, "up_to_date");
  await round(made, DAY);
  equal((await updates(made))[0]!.status, "up_to_date");
});

for (
  const { status, reason } of [
    { status: 404, reason: "not found" },
    { status: 500, reason: "unreachable" },
  ]
) {
  Deno.test(`status ${status} of the registry is "${reason}", and keeps the last good answer`, async () => {
    await using registry = startTagServer();
    await using made = updateApp([pulled(registry, OLD)]);
    registry.tags.set("app:1", NEW);
    made.run([user(registry)]);
    await round(made);
    registry.failure = { status };
    await round(made, DAY);

    const [entry] = await updates(made);
    deepEqual([entry!.status, entry!.reason, entry!.latestDigest], ["unknown", reason, NEW]);
    deepEqual([entry!.lastGoodAt, entry!.checkedAt], [
      "2026-01-01T00:00:00.000Z",
      "2026-01-02T00:00:00.000Z",
    ]);
    equal(made.events.length, 1);
  });
}

Deno.test("the registry's time is waited for after too many requests", async () => {
  await using registry = startTagServer();
  await using made = updateApp([pulled(registry, OLD)]);
  made.run([user(registry)]);
  registry.failure = { status: 429, headers: { "retry-after": "Thu, 01 Jan 2026 20:00:00 GMT" } };
  await round(made);
  const [entry] = await updates(made);
  deepEqual([entry!.status, entry!.reason, entry!.nextCheckAt], [
    "unknown",
    "rate limited until 2026-01-01T20:00:00.000Z",
    "2026-01-01T20:00:00.000Z",
  ]);
});

Deno.test("a registry does not learn of images that did not come from it, of pinned ones and of containers that are off", async () => {
  await using registry = startTagServer();
  await using made = updateApp([
    { id: OLD_ID, tags: [`${registry.address}/built:1`] },
    pulled(registry, NEW, NEW_ID),
  ]);
  registry.tags.set("app:1", NEW);
  made.run([
    user(registry, { image: `${registry.address}/built:1` }),
    user(registry, { name: "pinned", image: `${registry.address}/app:1@${NEW}`, imageId: NEW_ID }),
    user(registry, { name: "by-id", image: NEW_ID, imageId: NEW_ID }),
    user(registry, { name: "off", imageId: NEW_ID, labels: { "longshore.update": "off" } }),
  ]);
  await round(made);
  deepEqual(registry.requests, []);
  const found = (await updates(made)).map((
    { containers, status },
  ) => [containers[0]!.name, status]);
  deepEqual(Object.fromEntries(found), {
    "web": "local",
    "pinned": "pinned",
    "by-id": "pinned",
    "off": "unknown",
  });
});

Deno.test("newer versions are listed for containers with a version policy, and reported with their own age", async () => {
  await using registry = startTagServer();
  await using made = updateApp([pulled(registry, OLD)]);
  for (const tag of ["1", "1-alpine", "2", "3", "latest"]) registry.tags.set(`app:${tag}`, OLD);
  registry.tags.set("app:2", NEW);
  made.run([user(registry, {
    labels: { "longshore.update.level": "major", "longshore.update.tags": "^[12]$" },
  })]);
  await round(made);
  const [entry] = await updates(made);
  deepEqual([entry!.status, entry!.newerVersions], [
    "up_to_date",
    [{ tag: "2", level: "major" }],
  ]);
  deepEqual(made.events.map(({ data }) => (data as { image: string }).image), [
    `${registry.address}/app:2`,
  ]);
});

Deno.test("a pattern that is refused accepts no version, and is shown with its container", async () => {
  await using registry = startTagServer();
  await using made = updateApp([pulled(registry, OLD)]);
  for (const tag of ["1", "2"]) registry.tags.set(`app:${tag}`, OLD);
  made.run([user(registry, { labels: { "longshore.update.tags": "(a+)+$" } })]);
  await round(made);
  const [entry] = await updates(made);
  deepEqual([entry!.newerVersions, entry!.containers[0]!.problems.length], [[], 1]);
});

Deno.test("a defect in the check of an image is the failure of that image only", async () => {
  await using registry = startTagServer();
  await using broken = startTagServer();
  const { log, lines } = keptLog();
  await using made = updateApp([pulled(registry, OLD), pulled(broken, OLD, NEW_ID)], { log });
  for (const each of [registry, broken]) each.tags.set("app:1", NEW);
  made.run([user(registry), user(broken, { name: "worker", imageId: NEW_ID })]);
  await round(made);
  const { registrySessions } = made.app.deps;
  const { inTurn } = registrySessions;
  registrySessions.inTurn = (host, work) => {
    if (host === broken.address) throw new TypeError("a defect");
    return inTurn(host, work);
  };
  registry.tags.set("app:1", NEWER);
  await round(made, DAY);

  const entries = new Map((await updates(made)).map((entry) => [entry.registry, entry]));
  const { status, latestDigest } = entries.get(registry.address)!;
  deepEqual([status, latestDigest], ["update_available", NEWER]);
  const failed = entries.get(broken.address)!;
  deepEqual([failed.status, failed.reason, failed.latestDigest, failed.checkedAt], [
    "unknown",
    "the check failed; the service's log has the cause",
    NEW,
    "2026-01-02T00:00:00.000Z",
  ]);
  // It is checked again within an hour.
  equal(Date.parse(failed.nextCheckAt!) <= Date.parse("2026-01-02T01:00:00Z"), true);
  const [line = ""] = lines.filter((each) => each.includes("a defect"));
  match(line, /check of an image failed/);
  match(line, /round_test\.ts/);
});

Deno.test("a registry that does not answer holds the check of an image for a limited time", async () => {
  await using registry = startTagServer();
  await using made = updateApp([pulled(registry, OLD)]);
  made.run([user(registry)]);
  const { app: { deps } } = made;
  deps.registrySessions.inTurn = () => new Promise(() => {});
  const images = imagesInUse(deps.inventory.list());
  deepEqual(await checkImages(deps, images, { imageMs: 1 }), {
    checked: 1,
    updateAvailable: 0,
    failed: 1,
  });
  const [entry] = await updates(made);
  deepEqual([entry!.status, entry!.reason], [
    "unknown",
    "the check took longer than 0.001 seconds",
  ]);
});

Deno.test("a cancelled check ends, and is not a failure of its images", async () => {
  await using registry = startTagServer();
  await using made = updateApp([pulled(registry, OLD)]);
  made.run([user(registry)]);
  const { app: { deps } } = made;
  const cancel = new AbortController();
  deps.registrySessions.inTurn = () => {
    cancel.abort(new Error("cancelled"));
    return new Promise(() => {});
  };
  const images = imagesInUse(deps.inventory.list());
  const { signal } = cancel;
  await rejects(checkImages(deps, images, { signal }), { message: "cancelled" });
  equal((await updates(made))[0]!.reason, "not checked yet");
});

Deno.test("500 containers of 120 images need 120 requests, and none before the interval has passed", async () => {
  await using registry = startTagServer();
  const images = Array.from({ length: 120 }, (_, at): TestImage => {
    const digest = manifest(String(at));
    registry.tags.set(`app${at}:1`, digest);
    return { id: digest, digests: [`${registry.address}/app${at}@${digest}`] };
  });
  await using made = updateApp(images);
  made.run(Array.from({ length: 500 }, (_, at) => ({
    name: `container-${at}`,
    image: `${registry.address}/app${at % 120}:1`,
    imageId: images[at % 120]!.id,
  })));
  await round(made);
  equal(registry.requests.length, 120);
  await round(made, 5 * 60);
  equal(registry.requests.length, 120);
  const entries = await updates(made);
  deepEqual([entries.length, entries.every(({ status }) => status === "up_to_date")], [120, true]);
});
