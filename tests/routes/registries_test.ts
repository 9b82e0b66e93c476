import { deepEqual, equal, match } from "node:assert/strict";
import { createAuthority } from "../helpers/certificates.ts";
import { temporaryDirectory } from "../helpers/command.ts";
import { fakeRegistry } from "../helpers/fake_registry.ts";
import { testApp } from "../helpers/test_app.ts";

const registry = {
  host: "Registry.Example.com:5000",
  pathPrefix: "team",
  username: "longshore",
  password: "pw-of-the-test",
};

Deno.test("POST /api/registries stores a registry and never returns its password", async () => {
  using app = testApp({ now: "2026-01-01T12:00:00Z" });
  const created = await app.call("POST", "/api/registries", registry);
  equal(created.status, 201);
  deepEqual(created.body, {
    id: created.body.id,
    host: "registry.example.com:5000",
    pathPrefix: "team",
    username: "longshore",
    hasPassword: true,
    insecure: false,
    caCertificate: null,
    source: "stored",
    createdAt: "2026-01-01T12:00:00.000Z",
    updatedAt: "2026-01-01T12:00:00.000Z",
  });
  deepEqual((await app.call("GET", `/api/registries/${created.body.id}`)).body, created.body);
  deepEqual((await app.call("GET", "/api/registries")).body, {
    registries: [created.body],
    authFile: null,
  });
  const rows = JSON.stringify(app.deps.db.all("SELECT * FROM registries"));
  equal(rows.includes(registry.password), false);
});

Deno.test("PUT /api/registries/:id changes the given fields; null removes one", async () => {
  using app = testApp();
  const { body: { id } } = await app.call("POST", "/api/registries", registry);
  const change = async (body: unknown) =>
    (await app.call("PUT", `/api/registries/${id}`, body)).body;
  const moved = await change({ pathPrefix: null, username: "other" });
  deepEqual([moved.pathPrefix, moved.username, moved.hasPassword], [null, "other", true]);
  equal((await change({ password: null })).hasPassword, false);
  equal((await change({ password: "new" })).hasPassword, true);
  const anonymous = await change({ username: null });
  deepEqual([anonymous.username, anonymous.hasPassword], [null, false]);
  equal((await app.call("DELETE", `/api/registries/${id}`)).status, 200);
  equal((await app.call("GET", `/api/registries/${id}`)).status, 404);
  equal((await app.call("DELETE", `/api/registries/${id}`)).status, 404);
});

for (
  const [change, status] of [
    [{ host: "evil.example" }, 400],
    [{ host: "registry.example.com" }, 400],
    [{ insecure: true }, 400],
    [{ host: "evil.example", password: "again" }, 200],
    [{ host: "REGISTRY.example.com:5000" }, 200],
    [{ pathPrefix: "other" }, 200],
  ] as const
) {
  Deno.test(`a change of ${JSON.stringify(change)} is ${status}: a stored password stays with its host`, async () => {
    using app = testApp();
    const { body: { id } } = await app.call("POST", "/api/registries", registry);
    const answer = await app.call("PUT", `/api/registries/${id}`, change);
    equal(answer.status, status);
    if (status === 400) {
      equal(answer.body.error, "body.password: give it again, the address changed");
    }
  });
}

for (
  const [wrong, change, error] of [
    ["a URL", { host: "https://ghcr.io" }, /^body\.host: must be a host/],
    ["a port above 65535", { host: "x.test:99999" }, /^body\.host: must be a host/],
    ["port 0", { host: "x.test:0" }, /^body\.host: must be a host/],
    ["a path in the host", { host: "ghcr.io/team" }, /^body\.host: /],
    ["a user in the host", { host: "a@ghcr.io" }, /^body\.host: /],
    ["a path with ..", { pathPrefix: "../x" }, /^body\.pathPrefix: /],
    ["a password alone", { username: null }, /^body\.username: is required/],
    ["a colon in the user name", { username: "a:b" }, /^body\.username: /],
    ["a line break", { password: "a\r\nb" }, /^body\.password: /],
    [
      "text for a certificate",
      { caCertificate: "secret text" },
      /^body\.caCertificate: must be certificates in PEM and nothing else$/,
    ],
    ["a damaged certificate", {
      caCertificate: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
    }, /^body\.caCertificate: certificate 1 cannot be read$/],
  ] as const
) {
  Deno.test(`POST and PUT /api/registries refuse ${wrong}`, async () => {
    using app = testApp();
    const { body: { id } } = await app.call("POST", "/api/registries", { host: "a.example" });
    for (
      const { status, body } of [
        await app.call("POST", "/api/registries", { ...registry, ...change }),
        await app.call("PUT", `/api/registries/${id}`, { ...registry, ...change }),
      ]
    ) {
      equal(status, 400);
      match(body.error, error);
    }
  });
}

Deno.test("POST /api/registries takes a certificate authority, but no private key", async () => {
  using app = testApp();
  const { cert, key } = await createAuthority("Registry");
  const post = (caCertificate: string, insecure = false) =>
    app.call("POST", "/api/registries", { host: "a.example", caCertificate, insecure });
  equal((await post(`${cert}${key}`)).status, 400);
  match((await post(cert, true)).body.error, /has no effect on an insecure registry/);
  const { status, body } = await post(`${cert}\n${cert}`);
  deepEqual([status, body.caCertificate], [201, `${cert}\n${cert}`]);
});

Deno.test("a host and path can be stored once, and there is a limit", async () => {
  using app = testApp();
  await app.call("POST", "/api/registries", { host: "docker.io" });
  const again = await app.call("POST", "/api/registries", { host: "index.docker.io" });
  deepEqual([again.status, again.body.error], [409, "Registry docker.io already exists"]);
  const { body: { id } } = await app.call("POST", "/api/registries", registry);
  const moved = await app.call("PUT", `/api/registries/${id}`, {
    host: "docker.io",
    pathPrefix: null,
    password: "again",
  });
  equal(moved.status, 409);
  for (let i = 2; i < 100; i++) {
    await app.call("POST", "/api/registries", { host: `r${i}.example` });
  }
  const beyond = await app.call("POST", "/api/registries", { host: "more.example" });
  deepEqual([beyond.status, beyond.body.error], [
    409,
    "Limit of 100 registries reached; delete one first",
  ]);
});

Deno.test("entries of REGISTRY_AUTH_FILE are listed without secrets and are read-only", async () => {
  using directory = temporaryDirectory();
  const registryAuthFile = `${directory.path}/config.json`;
  Deno.writeTextFileSync(
    registryAuthFile,
    JSON.stringify({ auths: { "quay.io/team": { auth: btoa("ann:pw") } }, credsStore: "pass" }),
  );
  using app = testApp({ config: { registryAuthFile } });
  const { body } = await app.call("GET", "/api/registries");
  const [entry] = body.registries;
  deepEqual(body, {
    registries: [{
      id: entry.id,
      host: "quay.io",
      pathPrefix: "team",
      username: "ann",
      hasPassword: true,
      insecure: false,
      caCertificate: null,
      source: "file",
      createdAt: null,
      updatedAt: null,
    }],
    authFile: { problems: ["credsStore is not supported, because it would run a program"] },
  });
  deepEqual((await app.call("GET", `/api/registries/${entry.id}`)).body, entry);
  for (const method of ["PUT", "DELETE"]) {
    const answer = await app.call(method, `/api/registries/${entry.id}`, {});
    deepEqual([answer.status, answer.body.error], [
      409,
      "Registry quay.io is in REGISTRY_AUTH_FILE; change the file",
    ]);
  }
});

Deno.test("registries are for admins only", async () => {
  using app = testApp();
  for (const method of ["GET", "POST"]) {
    equal((await app.call(method, "/api/registries", undefined, { role: "operator" })).status, 403);
  }
});

Deno.test("POST /api/registries/:id/test says whether the registry accepts the credentials", async () => {
  await using registry = fakeRegistry();
  using app = testApp();
  const { body: { id } } = await app.call("POST", "/api/registries", {
    host: registry.address,
    username: "ann",
    password: "s3cret",
  });
  const test = async () => {
    const { status, body } = await app.call("POST", `/api/registries/${id}/test`);
    equal(status, 200);
    return [body.ok, body.reason, typeof body.error];
  };
  for (const kind of ["basic", "bearer"] as const) {
    registry.auth = { kind, user: "ann:s3cret" };
    deepEqual(await test(), [true, null, "object"]);
    registry.auth = { kind, user: "ann:other" };
    registry.revokeTokens();
    deepEqual(await test(), [false, "unauthorized", "string"]);
  }
  registry.auth = { kind: "none" };
  registry.answers["GET /v2/"] = () =>
    new Response("<html>", { headers: { "content-type": "text/html; charset=utf-8" } });
  deepEqual(await test(), [false, "invalid", "string"]);
  registry.answers["GET /v2/"] = () => new Response(null, { status: 404 });
  deepEqual(await test(), [false, "invalid", "string"]);
  equal((await app.call("POST", "/api/registries/unknown/test")).status, 404);
});
