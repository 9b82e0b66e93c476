import { deepEqual, equal } from "node:assert/strict";
import { composeLabels } from "../../helpers/fake_containers.ts";
import { digestOf, manifest, startTagServer, updateApp } from "../../helpers/updates.ts";
import { until } from "../../helpers/until.ts";

const [OLD, NEW] = ["old", "new"].map(manifest) as [string, string];

/** Two stacks that share an image, and an image of only one of them. */
function shopAndPress() {
  const registry = startTagServer();
  const made = updateApp(["app", "blog"].map((repository) => ({
    id: digestOf(repository === "app" ? "a" : "b"),
    digests: [`${registry.address}/${repository}@${OLD}`],
  })));
  registry.tags.set("app:1", NEW).set("blog:1", OLD);
  const user = (name: string, stack: string, repository: string) => ({
    name,
    image: `${registry.address}/${repository}:1`,
    imageId: digestOf(repository === "app" ? "a" : "b"),
    labels: composeLabels(stack, name),
  });
  made.run([
    user("web", "shop", "app"),
    user("feed", "press", "app"),
    user("blog", "press", "blog"),
  ]);
  const { app } = made;
  return {
    registry,
    app,
    /** Runs a check and returns its job. */
    async check(body: unknown = {}) {
      const { status, body: job } = await app.call("POST", "/api/updates/check", body);
      equal(status, 202);
      return await until("the check ends", async () => {
        const { body } = await app.call("GET", `/api/jobs/${job.id}`);
        return body.endedAt !== null && body;
      });
    },
    async [Symbol.asyncDispose]() {
      await made[Symbol.asyncDispose]();
      await registry[Symbol.asyncDispose]();
    },
  };
}

Deno.test("POST /api/updates/check asks the registries, also while periodic checks are off", async () => {
  await using made = shopAndPress();
  const job = await made.check();
  deepEqual([job.kind, job.status, job.result, job.progress], [
    "updates.check",
    "succeeded",
    { checked: 2, updateAvailable: 1, failed: 0 },
    { current: 2, total: 2, message: null },
  ]);
  const { body } = await made.app.call("GET", "/api/updates");
  deepEqual(
    body.updates.map((entry: { repository: string; status: string }) => [
      entry.repository,
      entry.status,
    ]),
    [["app", "update_available"], ["blog", "up_to_date"]],
  );
  equal(body.updates[0].nextCheckAt, null);

  const newer = await made.app.call("GET", "/api/updates?status=update_available");
  deepEqual(newer.body.updates, [body.updates[0]]);
  equal((await made.app.call("GET", "/api/updates?status=newer")).status, 400);
});

Deno.test("POST /api/updates/check can be limited to images, and list newer versions of them", async () => {
  await using made = shopAndPress();
  made.registry.tags.set("blog:2", NEW);
  const job = await made.check({
    images: [`${made.registry.address}/blog:1`],
    newerVersions: true,
  });
  equal(job.result.checked, 1);
  const { body } = await made.app.call("GET", "/api/updates");
  deepEqual([body.updates[0].status, body.updates[1].newerVersions], [
    "unknown",
    [{ tag: "2", level: "major" }],
  ]);
  deepEqual(made.registry.requests, ["HEAD blog/manifests/1", "GET blog/tags/list"]);
});

for (const image of ["nginx", "not a reference", "docker.io/library/nginx:1"]) {
  Deno.test(`POST /api/updates/check refuses ${image}, which no container uses`, async () => {
    await using made = shopAndPress();
    const { status, body } = await made.app.call("POST", "/api/updates/check", { images: [image] });
    deepEqual([status, body.error], [400, `body.images[0]: no container uses ${image}`]);
    deepEqual(made.registry.requests, []);
  });
}

Deno.test("a token limited to a stack sees the images of its containers only", async () => {
  await using made = shopAndPress();
  await made.check();
  const { body } = await made.app.call("GET", "/api/updates", undefined, {
    scope: { stacks: ["shop"] },
  });
  equal(body.updates.length, 1);
  deepEqual(body.updates[0].containers.map(({ name }: { name: string }) => name), ["web"]);
});

Deno.test("viewers can read updates, and operators can check for them", async () => {
  await using made = shopAndPress();
  const call = async (method: string, path: string, role: "viewer" | "operator") =>
    (await made.app.call(method, path, method === "POST" ? {} : undefined, { role })).status;
  equal(await call("GET", "/api/updates", "viewer"), 200);
  equal(await call("POST", "/api/updates/check", "viewer"), 403);
  equal(await call("POST", "/api/updates/check", "operator"), 202);
  equal(await call("POST", "/api/updates/check", "operator"), 409);
  await made.app.deps.jobs.idle();
});
