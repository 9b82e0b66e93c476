import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { parseReference } from "../../engine/image_reference.ts";
import { headManifest } from "../../services/images/registries/client.ts";
import { readPlatforms } from "../../services/images/registries/platforms.ts";
import { liveApp } from "../helpers/live_app.ts";
import { BUSYBOX, privateEngineTest } from "../helpers/real_engine.ts";
import { REGISTRY_USER, startRegistry } from "../helpers/registry.ts";
import { until } from "../helpers/until.ts";

privateEngineTest(
  "a private image is pulled, and a container rebuilt from it, with stored credentials",
  async (engine) => {
    await using registry = await startRegistry(engine, { isPrivate: true });
    const reference = await registry.push("team/app:1");
    await using app = await liveApp(engine.socketPath);
    const pull = async () => {
      const { body: { id } } = await app.call("POST", "/api/images/pull", { image: reference });
      return await until("the pull has ended", async () => {
        const { body } = await app.call("GET", `/api/jobs/${id}`);
        return body.endedAt !== null && body;
      });
    };
    match((await pull()).error, /no basic auth credentials/);
    const stored = await app.call("POST", "/api/registries", {
      ...REGISTRY_USER,
      host: registry.address,
      password: "wrong",
    });
    match((await pull()).error, /unauthorized/i);
    await app.call("PUT", `/api/registries/${stored.body.id}`, REGISTRY_USER);
    const { status: pulled, result } = await pull();
    equal(pulled, "succeeded");
    // The registry is in the engine's network, so that only the engine reaches it.
    const image = parseReference(reference);
    const [, digest] = result.repoDigests[0].split("@");
    equal((await headManifest(app.deps, image)).digest, digest);
    deepEqual((await readPlatforms(app.deps, image)).map(({ os }) => os), ["linux"]);
    await rejects(headManifest(app.deps, { ...image, tag: "2" }), { reason: "unreachable" });

    const name = `registries-test-${crypto.randomUUID().slice(0, 8)}`;
    const id = await engine.docker("create", "--name", name, reference, "true");
    const newer = await engine.docker("commit", "--change=LABEL version=2", id);
    await registry.push("team/app:1", newer);
    const { status, body } = await app.call("POST", `/api/containers/${name}/rebuild`);
    deepEqual([status, body.imageUpdated], [200, true]);
    equal(
      await engine.docker("inspect", '--format={{index .Config.Labels "version"}}', name),
      "2",
    );
    await engine.docker("rm", name);
    await engine.docker("rmi", "--force", reference, newer);
    equal((await engine.docker("images", "--quiet", BUSYBOX)) === "", false);
  },
);
