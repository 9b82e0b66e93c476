import { deepEqual, equal, match, ok } from "node:assert/strict";
import { liveApp } from "../helpers/live_app.ts";
import { long } from "../helpers/long.ts";
import { type Longshore, startLongshore } from "../helpers/longshore.ts";
import {
  BUSYBOX,
  engineTest,
  podmanTest,
  privateEngineTest,
  type RealEngine,
} from "../helpers/real_engine.ts";
import { startEngineProxy } from "../helpers/engine_proxy.ts";
import { startRegistry } from "../helpers/registry.ts";
import { until } from "../helpers/until.ts";

const uniqueName = () => `longshore-test/app-${crypto.randomUUID().slice(0, 8)}:1`;

/** Waits until a job has ended. */
async function endOf(app: Pick<Longshore, "call">, id: string) {
  return await until("the job has ended", async () => {
    const { body } = await app.call("GET", `/api/jobs/${id}`);
    return body.endedAt !== null && body;
  });
}

/** Runs a shell command next to an engine and a service. @returns Its output. */
async function run(engine: RealEngine, { baseUrl, token }: Longshore, script: string) {
  const { stdout, stderr } = await new Deno.Command("bash", {
    args: ["-uo", "pipefail", "-c", script],
    env: {
      DOCKER_HOST: `unix://${engine.socketPath}`,
      BASE: `${baseUrl}/api/images`,
      AUTH: `Authorization: Bearer ${await token()}`,
    },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
}

const CURL = 'curl -sS -H "$AUTH" -X POST';

/** Whether the engine has the image. */
const hasImage = async (engine: RealEngine, name: string) =>
  await engine.docker("images", "--quiet", name) !== "";

privateEngineTest(
  "an image is pulled from a registry, and a missing one says so",
  async (engine) => {
    await using registry = await startRegistry(engine);
    const reference = await registry.push("team/app:1");
    await using app = await liveApp(engine.socketPath);
    const pull = async (image: string) => {
      const { status, body } = await app.call("POST", "/api/images/pull", { image });
      equal(status, 202);
      return await endOf(app as unknown as Longshore, body.id);
    };

    const { status, result, steps } = await pull(reference);
    equal(status, "succeeded");
    equal(await engine.docker("inspect", "--format={{.Id}}", reference), result.imageId);
    match(result.repoDigests[0], /^127\.0\.0\.1:5000\/team\/app@sha256:/);
    deepEqual(steps.map(({ name }: { name: string }) => name), ["pull"]);

    const byDigest = await pull(result.repoDigests[0]);
    equal(byDigest.result.imageId, result.imageId);
    const missing = await pull(`${registry.address}/team/unknown`);
    equal(missing.status, "failed");
    match(missing.error, /^Image 127\.0\.0\.1:5000\/team\/unknown could not be pulled: .*unknown/);
    await registry.stop();
    const unreachable = await pull(`${registry.address}/team/other`);
    match(unreachable.error, /connection refused/);
    await registry.restart();
    await engine.docker("rmi", reference);
  },
);

long(engineTest)(
  "archives are loaded as they are and compressed, by each way of curl, and exported again",
  async (engine) => {
    const name = uniqueName();
    await engine.docker("tag", BUSYBOX, name);
    await using longshore = await startLongshore({ engineSocket: engine.socketPath });
    const save = `docker save ${name}`;
    for (
      const command of [
        `${save} | { cat > "$FILE"; docker rmi ${name} > /dev/null; } && ${CURL} -T "$FILE" "$BASE/load"`,
        `${CURL} -T - "$BASE/load" < "$FILE"`,
        `gzip -c "$FILE" | ${CURL} -H 'Content-Type: application/gzip' -T - "$BASE/load"`,
        `${CURL} --data-binary "@$FILE" "$BASE/load"`,
      ]
    ) {
      const file = `${longshore.dataDir}/archive.tar`;
      const output = await run(engine, longshore, `FILE=${file}; ${command} 2>/dev/null`);
      const { images, job } = JSON.parse(output.slice(output.indexOf("{")));
      deepEqual(images, [name], command);
      equal((await longshore.call("GET", `/api/jobs/${job}`)).body.status, "succeeded");
      equal(await hasImage(engine, name), true, command);
      if (command.includes("--data-binary")) continue;
      await engine.docker("rmi", name);
    }

    const output = await run(
      engine,
      longshore,
      `curl -sS -H "$AUTH" "$BASE/${encodeURIComponent(name)}/export" |
         { cat > ${longshore.dataDir}/x.tar; docker rmi ${name} > /dev/null; }
       docker load --input ${longshore.dataDir}/x.tar`,
    );
    equal(output.trim(), `Loaded image: ${name}`);
    await engine.docker("rmi", name);
  },
);

long(privateEngineTest)(
  "archives that are garbage, truncated or cut off leave nothing behind",
  async (engine) => {
    const name = uniqueName();
    await engine.docker("tag", BUSYBOX, name);
    await using longshore = await startLongshore({ engineSocket: engine.socketPath });
    const archive = `${longshore.dataDir}/archive.tar`;
    await engine.docker("save", "--output", archive, name);
    await engine.docker("rmi", name);
    for (
      const [source, reason] of [
        ["head -c 3000000 /dev/urandom", /invalid tar header|unrecognized|invalid/i],
        ["head -c 100000 /dev/zero", /the archive has no images in the format of docker save/],
        [`head -c 1000000 ${archive}`, /unexpected EOF/],
        ["true", /the archive has no images in the format of docker save/],
      ] as const
    ) {
      const output = await run(
        engine,
        longshore,
        `${source} | ${CURL} -w ' %{http_code}' -T - "$BASE/load"`,
      );
      match(output, reason, source);
      match(output, / 400$/, source);
      equal(/\/(tmp|var)\//.test(output), false, output);
    }

    const bytes = await Deno.readFile(archive);
    const { hostname, port } = new URL(longshore.baseUrl);

    const connection = await Deno.connect({ hostname, port: Number(port) });
    const head =
      `POST /api/images/load HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${await longshore
        .token()}\r\ncontent-type: application/x-tar\r\ncontent-length: ${bytes.length}\r\n\r\n`;
    await connection.write(new TextEncoder().encode(head));
    for (let at = 0; at < bytes.length - 1_024;) {
      at += await connection.write(bytes.subarray(at, bytes.length - 1_024));
    }
    const { id } = await until("almost everything has arrived", async () => {
      const [newest] = (await longshore.call("GET", "/api/jobs?limit=1")).body.jobs;
      return newest.endedAt === null && newest.progress?.current >= bytes.length - 1_024 && newest;
    });
    connection.close();

    const job = await endOf(longshore, id);
    deepEqual([job.kind, job.status, job.error], [
      "image.load",
      "cancelled",
      "The client disconnected",
    ]);
    await until("the engine has removed what it received", async () => {
      const left = new Deno.Command("find", {
        args: [engine.sandbox.directory, "-name", "docker-import-*"],
      });
      return new TextDecoder().decode((await left.output()).stdout) === "";
    });
    equal(await hasImage(engine, name), false);
  },
);

long(privateEngineTest)(
  "a pull that a crash interrupted is completed after the next start",
  async (engine) => {
    await using registry = await startRegistry(engine);
    const reference = await registry.push("team/app:1");
    const dataDir = await Deno.makeTempDir({ prefix: "longshore-test-data-" });
    try {
      const env = { API_KEY: "key-of-the-crash-test-0123" };
      await using proxy = startEngineProxy(engine.socketPath, engine.sandbox.directory);
      const options = { engineSocket: proxy.socketPath, dataDir, env };
      const [reached, lost] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      proxy.observe(async ({ path }) => {
        if (path !== "/images/create") return;
        reached.resolve();
        await lost.promise;
      });
      const before = await startLongshore(options);
      const { id } = (await before.call("POST", "/api/images/pull", { image: reference })).body;
      await reached.promise;
      await before.kill9();
      lost.reject(new Error("connection lost"));
      proxy.observe(() => {});

      await using after = await startLongshore(options);
      const { status, steps } = await endOf(after, id);
      deepEqual([status, steps.length], ["succeeded", 1]);
      ok(await hasImage(engine, reference));
      await engine.docker("rmi", reference);
    } finally {
      await Deno.remove(dataDir, { recursive: true });
    }
  },
);

long(podmanTest)("Podman loads, exports, tags and describes images", async (engine) => {
  await using longshore = await startLongshore({ engineSocket: engine.socketPath });
  const encoded = encodeURIComponent(BUSYBOX);
  const output = await run(
    engine,
    longshore,
    `curl -sS -H "$AUTH" "$BASE/${encoded}/export" > ${longshore.dataDir}/x.tar
     ${CURL} -T ${longshore.dataDir}/x.tar "$BASE/load"`,
  );
  match(JSON.parse(output).images[0], /longshore-test\/busybox:1$/);
  const tagged = await longshore.call("POST", `/api/images/${encoded}/tag`, {
    image: "localhost/team/app:2",
  });
  equal(tagged.status, 200, JSON.stringify(tagged.body));
  const { body } = await longshore.call("GET", "/api/images/localhost%2Fteam%2Fapp:2");
  ok(body.repoTags.includes("localhost/team/app:2"), JSON.stringify(body));
  equal(body.history.length > 0, true);
  const garbage = await run(
    engine,
    longshore,
    `head -c 100000 /dev/urandom | ${CURL} -w ' %{http_code}' -T - "$BASE/load"`,
  );
  match(garbage, / 400$/);
  equal(/\/(tmp|var)\//.test(garbage), false, garbage);
});
