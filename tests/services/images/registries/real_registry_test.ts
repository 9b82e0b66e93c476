/**
 * The client with a real registry, which has Basic authentication and its own certificate authority.
 *
 * @module
 */

import { deepEqual, equal, rejects } from "node:assert/strict";
import { parseReference } from "../../../../engine/image_reference.ts";
import { headManifest } from "../../../../services/images/registries/client.ts";
import { readIndex, readPlatforms } from "../../../../services/images/registries/platforms.ts";
import { readTags } from "../../../../services/images/registries/tags.ts";
import { createAuthority } from "../../../helpers/certificates.ts";
import { temporaryDirectory } from "../../../helpers/command.ts";
import { digestOf, indexOf } from "../../../helpers/fake_registry.ts";
import { freePort } from "../../../helpers/free_port.ts";
import { REGISTRY_USER, writeRegistryConfig } from "../../../helpers/registry.ts";
import { missingProgram } from "../../../helpers/sandbox.ts";
import { testApp } from "../../../helpers/test_app.ts";
import { until } from "../../../helpers/until.ts";

const IMAGE = "application/vnd.docker.distribution.manifest.v2+json";
const CONFIG = "application/vnd.docker.container.image.v1+json";

/** Starts a registry with TLS on loopback, which ends when it is disposed. */
async function startRegistry(directory: string) {
  const authority = await createAuthority("Registry");
  const { cert, key } = await authority.issue({ name: "registry", altNames: "IP:127.0.0.1" });
  const tls = { certificate: `${directory}/tls.crt`, key: `${directory}/tls.key` };
  await Deno.writeTextFile(tls.certificate, cert);
  await Deno.writeTextFile(tls.key, key);
  const port = freePort();
  const address = `127.0.0.1:${port}`;
  const folder = `${directory}/registry`;
  const config = await writeRegistryConfig({ folder, address, isPrivate: true, tls });
  const child = new Deno.Command("docker-registry", {
    args: ["serve", config],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const client = Deno.createHttpClient({ caCerts: [authority.cert] });
  const { username, password } = REGISTRY_USER;
  return {
    address,
    authority,
    /** Waits until it accepts connections. */
    listens: () =>
      until("the registry listens", async () => {
        (await Deno.connect({ hostname: "127.0.0.1", port })).close();
        return true;
      }),
    async send(method: string, path: string, body = "", type = "application/octet-stream") {
      const url = new URL(path, `https://${address}`);
      const authorization = `Basic ${btoa(`${username}:${password}`)}`;
      const headers = { authorization, "content-type": type };
      const response = await fetch(url, { method, headers, body, client });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return response.headers;
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.status;
      client.close();
    },
  };
}

Deno.test({
  name: "digests, platforms and tags are read from a real registry with Basic and TLS",
  ignore: missingProgram("docker-registry") !== undefined,
  async fn() {
    using directory = temporaryDirectory();
    await using registry = await startRegistry(directory.path);
    await registry.listens();
    const config = JSON.stringify({
      os: "linux",
      architecture: "arm64",
      rootfs: { type: "layers" },
    });
    const configDigest = await digestOf(config);
    const location = (await registry.send("POST", "/v2/team/app/blobs/uploads/")).get("location")!;
    await registry.send("PUT", `${location}&digest=${configDigest}`, config);
    const manifest = JSON.stringify({
      schemaVersion: 2,
      mediaType: IMAGE,
      config: { mediaType: CONFIG, size: config.length, digest: configDigest },
      layers: [],
    });
    const digest = await digestOf(manifest);
    for (const tag of ["1", "2", digest]) {
      await registry.send("PUT", `/v2/team/app/manifests/${tag}`, manifest, IMAGE);
    }
    const platform = { os: "linux", architecture: "arm64" };
    const index = JSON.stringify(indexOf({
      mediaType: IMAGE,
      size: manifest.length,
      digest,
      platform,
    }));
    const indexType = "application/vnd.oci.image.index.v1+json";
    await registry.send("PUT", "/v2/team/app/manifests/multi", index, indexType);

    using app = testApp();
    const image = (tag: string) => parseReference(`${registry.address}/team/app:${tag}`);
    const entry = {
      ...REGISTRY_USER,
      host: registry.address,
      caCertificate: registry.authority.cert,
    };
    const { body: { id } } = await app.call("POST", "/api/registries", {
      ...entry,
      password: "wrong",
    });
    await rejects(headManifest(app.deps, image("1")), { reason: "unauthorized" });
    equal((await app.call("POST", `/api/registries/${id}/test`)).body.reason, "unauthorized");
    await app.call("PUT", `/api/registries/${id}`, entry);
    equal((await app.call("POST", `/api/registries/${id}/test`)).body.ok, true);

    deepEqual(await headManifest(app.deps, image("1")), { digest, kind: "image" });
    await rejects(headManifest(app.deps, image("3")), { reason: "not_found" });
    deepEqual(await readPlatforms(app.deps, image("1")), [platform]);
    deepEqual(await readIndex(app.deps, image("multi")), {
      digest: await digestOf(index),
      platforms: [{ ...platform, digest }],
    });
    const tags: string[] = [];
    equal(await readTags(app.deps, image("1"), (tag) => void tags.push(tag)), undefined);
    deepEqual(tags.sort(), ["1", "2", "multi"]);
  },
});
