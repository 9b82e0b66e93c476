import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { parseReference } from "../../../../engine/image_reference.ts";
import { headManifest, type RegistryError } from "../../../../services/images/registries/client.ts";
import type { RegistryErrorReason } from "../../../../services/images/registries/error.ts";
import { readIndex, readPlatforms } from "../../../../services/images/registries/platforms.ts";
import {
  changeRegistry,
  createRegistry,
} from "../../../../services/images/registries/registries.ts";
import { readTags } from "../../../../services/images/registries/tags.ts";
import { createAuthority } from "../../../helpers/certificates.ts";
import { fakeEngine } from "../../../helpers/fake_engine.ts";
import {
  digestOf,
  type FakeRegistry,
  fakeRegistry,
  indexEntry,
  indexOf,
  platformEntry,
  type RegistryAuthentication,
  type RegistryCall,
} from "../../../helpers/fake_registry.ts";
import { LOOPBACK_ALLOWED } from "../../../helpers/fake_system.ts";
import { type TestApp, testApp, type TestAppOptions } from "../../../helpers/test_app.ts";
import { until } from "../../../helpers/until.ts";

const USER = "ann:s3cret";
const HEAD = "HEAD /v2/team/app/manifests/1";
const GET = "GET /v2/team/app/manifests/1";

/** Registries on this host need no entry. */
const loopbackApp = (options: TestAppOptions = {}) =>
  testApp({ ...options, config: { ...LOOPBACK_ALLOWED, ...options.config } });

const image = ({ address }: FakeRegistry, name = "team/app:1") =>
  parseReference(`${address}/${name}`);

/** Stores the credentials of {@linkcode USER}, or other settings, for a registry. */
const store = ({ deps }: TestApp, { address }: FakeRegistry, settings: object = {}) =>
  createRegistry(deps, {
    host: address,
    pathPrefix: null,
    username: "ann",
    password: "s3cret",
    insecure: false,
    caCertificate: null,
    ...settings,
  });

/** The different tags, and why there may be more. */
async function listTags({ deps }: TestApp, registry: FakeRegistry) {
  const tags = new Set<string>();
  const gap = await readTags(deps, image(registry), (tag) => void tags.add(tag));
  return { tags: [...tags], gap };
}

const asked = (registry: FakeRegistry, word: string) =>
  registry.requests().filter((request) => request.includes(word));

for (
  const { what, auth, isStored = true } of [
    { what: "no authentication", auth: { kind: "none" } },
    { what: "Basic", auth: { kind: "basic", user: USER } },
    { what: "a bearer token", auth: { kind: "bearer", user: USER } },
    { what: "an anonymous token", auth: { kind: "bearer" }, isStored: false },
    { what: "a token in the field access_token", auth: { kind: "bearer", field: "access_token" } },
    {
      what: "a challenge without a service",
      auth: { kind: "bearer", challenge: (realm) => `bearer realm="${realm}"` },
    },
    {
      what: "a second challenge that is not supported",
      auth: {
        kind: "bearer",
        user: USER,
        challenge: (realm) => `Negotiate, Bearer service="a, \\"b\\"", realm = "${realm}"`,
      },
    },
  ] satisfies { what: string; auth: RegistryAuthentication; isStored?: boolean }[]
) {
  Deno.test(`a digest is read with ${what}, by one request for the manifest`, async () => {
    await using registry = fakeRegistry();
    using app = loopbackApp();
    registry.auth = auth;
    if (isStored) store(app, registry);
    const digest = await registry.put("team/app:1");
    deepEqual(await headManifest(app.deps, image(registry)), { digest, kind: "image" });
    deepEqual(asked(registry, "/manifests/"), [HEAD]);
    const { headers } = registry.calls.at(-1)!;
    for (const type of ["index.v1+json", "list.v2+json", "manifest.v1+json", "manifest.v2+json"]) {
      ok(headers.get("accept")!.includes(type), type);
    }
  });
}

Deno.test("the token server gets service, scope and credentials as the challenge says", async () => {
  await using registry = fakeRegistry();
  using app = loopbackApp();
  await registry.put("team/app:1");
  store(app, registry);
  const scope = "scope=repository%3Ateam%2Fapp%3Apull";
  for (
    const { challenge, expected } of [
      { challenge: (realm: string) => `Bearer realm="${realm}?a=1"`, expected: `?a=1&${scope}` },
      {
        challenge: (realm: string) => `Bearer realm="${realm}",service="re gistry"`,
        expected: `?service=re+gistry&${scope}`,
      },
    ]
  ) {
    registry.calls.length = 0;
    registry.auth = { kind: "bearer", user: USER, challenge };
    app.clock.advance({ days: 1 });
    await headManifest(app.deps, image(registry));
    const [call] = registry.calls.filter(({ path }) => path.startsWith("/token"));
    equal(call!.path, `/token${expected}`);
    equal(call!.headers.get("authorization"), `Basic ${btoa(USER)}`);
  }
});

Deno.test("a token server on another port of the registry's host gets the credentials, what it redirects to does not", async () => {
  await using registry = fakeRegistry();
  await using tokenServer = fakeRegistry();
  await using other = fakeRegistry();
  using app = loopbackApp();
  const digest = await registry.put("team/app:1");
  store(app, registry);
  registry.auth = {
    kind: "bearer",
    challenge: () => `Bearer realm="http://${tokenServer.address}/token"`,
  };
  // The token of the registry itself, which both know.
  const { token } = await (await fetch(
    `http://${registry.address}/token?scope=repository:team/app:pull`,
  )).json();
  tokenServer.answers["GET /token"] = () => Response.json({ token });
  equal((await headManifest(app.deps, image(registry))).digest, digest);
  const [call] = tokenServer.calls;
  equal(call!.headers.get("authorization"), `Basic ${btoa(USER)}`);

  app.clock.advance({ days: 1 });
  tokenServer.answers["GET /token"] = () =>
    new Response(null, { status: 307, headers: { location: `http://${other.address}/token` } });
  await rejects(headManifest(app.deps, image(registry)), { reason: "invalid" });
  equal(other.calls.length, 0);
});

Deno.test("a challenge for a manifest is followed literally, also with another scope", async () => {
  await using registry = fakeRegistry();
  using app = loopbackApp();
  const digest = await registry.put("team/app:1");
  const challenge = `Bearer realm="http://${registry.address}/token",scope="a:b:pull c:d:pull"`;
  registry.answers[HEAD] = ({ headers }) =>
    headers.has("authorization") ? undefined : new Response(null, {
      status: 401,
      headers: { "www-authenticate": challenge },
    });
  registry.answers["GET /token"] = () => Response.json({ token: "t" });
  equal((await headManifest(app.deps, image(registry))).digest, digest);
  deepEqual(asked(registry, "/token"), ["GET /token?scope=a%3Ab%3Apull&scope=c%3Ad%3Apull"]);
});

Deno.test("an identity token is exchanged for a token by a form", async () => {
  await using registry = fakeRegistry();
  const path = await Deno.makeTempFile();
  await Deno.writeTextFile(
    path,
    JSON.stringify({ auths: { [registry.address]: { identitytoken: "id-t0k" } } }),
  );
  using app = loopbackApp({ config: { registryAuthFile: path } });
  registry.auth = { kind: "bearer", identityToken: "id-t0k", field: "access_token" };
  const digest = await registry.put("team/app:1");
  equal((await headManifest(app.deps, image(registry))).digest, digest);
  const [call] = registry.calls.filter(({ method }) => method === "POST");
  deepEqual(Object.fromEntries(new URLSearchParams(call!.body)), {
    service: "test",
    scope: "repository:team/app:pull",
    grant_type: "refresh_token",
    client_id: "longshore",
    refresh_token: "id-t0k",
  });
  await Deno.remove(path);
});

Deno.test("a token is used until it expires, is refused, or the credentials change", async () => {
  await using registry = fakeRegistry();
  using app = loopbackApp();
  registry.auth = { kind: "bearer", user: USER, expiresIn: 300 };
  await registry.put("team/app:1");
  await registry.put("team/other:1");
  const { id } = store(app, registry);
  const granted = async (name?: string) => {
    registry.calls.length = 0;
    await headManifest(app.deps, image(registry, name));
    return asked(registry, "/token").length;
  };
  equal(await granted(), 1);
  equal(await granted(), 0);
  equal(await granted("team/other:1"), 1);
  app.clock.advance({ seconds: 269 });
  equal(await granted(), 0);
  app.clock.advance({ seconds: 2 });
  equal(await granted(), 1);
  registry.revokeTokens();
  equal(await granted(), 1);
  changeRegistry(app.deps, id, { password: "wrong" });
  await rejects(granted(), { reason: "unauthorized" });
});

const answerTo = (registry: FakeRegistry, answer: () => Response) => {
  registry.answers[HEAD] = answer;
};

const endless = () =>
  new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(64 * 1024).fill(32)),
  });

/** One byte, and then nothing until the client disconnects. */
const drip = () =>
  new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new Uint8Array([123])),
  });

for (
  const { what, reason, seconds, timeoutMs, prepare } of [
    {
      what: "404",
      reason: "not_found",
      prepare: (registry) => {
        for (const request of [HEAD, GET]) {
          registry.answers[request] = () => new Response(null, { status: 404 });
        }
      },
    },
    {
      what: "401 Basic without credentials",
      reason: "unauthorized",
      prepare: (registry) => registry.auth = { kind: "basic", user: USER },
    },
    {
      what: "401 Bearer without credentials",
      reason: "unauthorized",
      prepare: (registry) => registry.auth = { kind: "bearer", user: USER },
    },
    {
      what: "401 after a token",
      reason: "unauthorized",
      prepare(registry) {
        registry.auth = { kind: "bearer" };
        registry.answers[HEAD] = () => new Response(null, { status: 401 });
      },
    },
    {
      what: "403",
      reason: "unauthorized",
      prepare: (registry) => answerTo(registry, () => new Response(null, { status: 403 })),
    },
    {
      what: "429 with seconds",
      reason: "rate_limited",
      seconds: 120,
      prepare: (registry) =>
        answerTo(
          registry,
          () => new Response(null, { status: 429, headers: { "retry-after": "120" } }),
        ),
    },
    {
      what: "429 with a date",
      reason: "rate_limited",
      seconds: 3_600,
      prepare: (registry) =>
        answerTo(registry, () =>
          new Response(null, {
            status: 429,
            headers: { "retry-after": "Thu, 01 Jan 2026 01:00:00 GMT" },
          })),
    },
    {
      what: "429 without a time",
      reason: "rate_limited",
      seconds: 900,
      prepare: (registry) => answerTo(registry, () => new Response(null, { status: 429 })),
    },
    {
      what: "429 with a time that is too long",
      reason: "rate_limited",
      seconds: 86_400,
      prepare: (registry) =>
        answerTo(
          registry,
          () => new Response(null, { status: 429, headers: { "retry-after": "999999999" } }),
        ),
    },
    {
      what: "429 of the token server",
      reason: "rate_limited",
      seconds: 7,
      prepare(registry) {
        registry.auth = { kind: "bearer" };
        registry.answers["GET /token"] = () =>
          new Response(null, { status: 429, headers: { "retry-after": "7" } });
      },
    },
    {
      what: "500",
      reason: "unreachable",
      prepare: (registry) => answerTo(registry, () => new Response(null, { status: 500 })),
    },
    {
      what: "418",
      reason: "invalid",
      prepare: (registry) => answerTo(registry, () => new Response(null, { status: 418 })),
    },
    {
      what: "a redirect to an internal host",
      reason: "unreachable",
      prepare: (registry) => redirectTo(registry, "https://10.0.0.1/v2/team/app/manifests/1"),
    },
    {
      what: "a redirect to cloud metadata",
      reason: "unreachable",
      prepare: (registry) => redirectTo(registry, "http://169.254.169.254/latest"),
    },
    {
      what: "a redirect to itself",
      reason: "invalid",
      prepare: (registry) => redirectTo(registry, "/v2/team/app/manifests/1"),
    },
    {
      what: "a redirect to another protocol",
      reason: "invalid",
      prepare: (registry) => redirectTo(registry, "ftp://example.com/"),
    },
    {
      what: "an HTML page",
      reason: "invalid",
      prepare(registry) {
        const page = () =>
          new Response("<html>", {
            headers: {
              "content-type": "text/html",
              "docker-content-digest": `sha256:${"0".repeat(64)}`,
            },
          });
        registry.answers[HEAD] = page;
      },
    },
    {
      what: "an HTML page without a type and digest",
      reason: "invalid",
      prepare: (registry) => withoutDigest(registry, () => new Response("<html>login</html>")),
    },
    {
      what: "JSON that is not a manifest",
      reason: "invalid",
      prepare: (registry) => withoutDigest(registry, () => Response.json({ error: "sign in" })),
    },
    {
      what: "an endless body",
      reason: "invalid",
      prepare: (registry) => withoutDigest(registry, () => new Response(endless())),
    },
    {
      what: "an endless body of /v2/",
      reason: "invalid",
      prepare: (registry) => registry.answers["GET /v2/"] = () => new Response(endless()),
    },
    {
      what: "an endless body of the token server",
      reason: "invalid",
      prepare(registry) {
        registry.auth = { kind: "bearer" };
        registry.answers["GET /token"] = () => new Response(endless());
      },
    },
    {
      what: "a digest that is not one",
      reason: "invalid",
      prepare: (registry) => registry.headers = { "docker-content-digest": "sha256:1" },
    },
    {
      what: "a manifest with the digest of another one",
      reason: "invalid",
      prepare: (registry) =>
        withoutDigest(registry, () =>
          Response.json({ schemaVersion: 2 }, {
            headers: { "docker-content-digest": `sha256:${"0".repeat(64)}` },
          })),
    },
    {
      what: "a slow drip",
      reason: "unreachable",
      timeoutMs: 500,
      prepare: (registry) => withoutDigest(registry, () => new Response(drip())),
    },
    {
      what: "a token server that does not answer with a token",
      reason: "invalid",
      prepare(registry) {
        registry.auth = { kind: "bearer" };
        registry.answers["GET /token"] = () => Response.json({ token: "a\r\nb" });
      },
    },
    {
      what: "a token server in a private network",
      reason: "unreachable",
      prepare: (registry) => tokenServerAt(registry, "https://10.0.0.1/token"),
    },
    {
      what: "a token server without TLS on another host",
      reason: "invalid",
      prepare: (registry) => tokenServerAt(registry, "http://example.com/token"),
    },
    {
      what: "a token server that is not a URL",
      reason: "invalid",
      prepare: (registry) => tokenServerAt(registry, "file:///etc/passwd"),
    },
  ] as {
    what: string;
    reason: RegistryErrorReason;
    /** Until when the registry is left alone. */
    seconds?: number;
    /** Only for an answer that would take too long otherwise. */
    timeoutMs?: number;
    prepare: (registry: FakeRegistry) => void;
  }[]
) {
  Deno.test(`the answer "${what}" is ${reason}`, async () => {
    await using registry = fakeRegistry();
    using app = loopbackApp();
    await registry.put("team/app:1");
    prepare(registry);
    const error: RegistryError = await headManifest(app.deps, image(registry), { timeoutMs })
      .then(() => ok(false), (error) => error);
    equal(error.reason, reason, String(error));
    const until = seconds === undefined ? undefined : app.clock.now().getTime() + seconds * 1000;
    equal(error.until, until);
  });
}

function redirectTo(registry: FakeRegistry, location: string): void {
  registry.answers[HEAD] = () => new Response(null, { status: 307, headers: { location } });
}

/** The registry states no digest, and answers to the GET for the content. */
function withoutDigest(registry: FakeRegistry, content: () => Response): void {
  registry.answers[HEAD] = () => new Response(null);
  registry.answers[GET] = content;
}

function tokenServerAt(registry: FakeRegistry, realm: string): void {
  registry.auth = { kind: "bearer", challenge: () => `Bearer realm="${realm}"` };
}

Deno.test("without a digest header, the digest is the hash of the content", async () => {
  await using registry = fakeRegistry();
  using app = loopbackApp();
  const content = { schemaVersion: 2, layers: [] };
  withoutDigest(registry, () => Response.json(content));
  deepEqual(await headManifest(app.deps, image(registry)), {
    digest: await digestOf(JSON.stringify(content)),
    kind: "image",
    isHash: true,
  });
});

for (const status of [400, 404, 405, 406, 501]) {
  Deno.test(`a registry that answers HEAD with ${status} is asked with GET`, async () => {
    await using registry = fakeRegistry();
    using app = loopbackApp();
    registry.auth = { kind: "bearer" };
    registry.headers = { "ratelimit-remaining": "76" };
    const digest = await registry.put("team/app:1", indexOf());
    registry.answers[HEAD] = () => new Response(null, { status });
    deepEqual(await headManifest(app.deps, image(registry)), {
      digest,
      kind: "index",
      isHash: true,
      rateLimitRemaining: 76,
    });
    deepEqual(asked(registry, "/manifests/"), [HEAD, GET]);

    registry.answers[GET] = registry.answers[HEAD]!;
    await rejects(headManifest(app.deps, image(registry)), {
      reason: status === 404 ? "not_found" : "invalid",
    });
  });
}

for (const status of [401, 403, 500, 503]) {
  Deno.test(`a registry that answers HEAD with ${status} is not asked with GET`, async () => {
    await using registry = fakeRegistry();
    using app = loopbackApp();
    await registry.put("team/app:1");
    registry.answers[HEAD] = () => new Response(null, { status });
    await rejects(headManifest(app.deps, image(registry)));
    deepEqual(asked(registry, "GET /v2/team/app/manifests/"), []);
  });
}

for (
  const [coding, pack] of [["gzip", gzipSync], ["deflate", deflateSync], [
    "br",
    brotliCompressSync,
  ]] as const
) {
  Deno.test(`a manifest that a proxy compresses with ${coding} has the digest of its content`, async () => {
    await using registry = fakeRegistry();
    using app = loopbackApp();
    const text = JSON.stringify({ schemaVersion: 2, layers: [] });
    const answer = (content: string) => () =>
      new Response(new Uint8Array(pack(content)), { headers: { "content-encoding": coding } });
    withoutDigest(registry, answer(text));
    equal((await headManifest(app.deps, image(registry))).digest, await digestOf(text));
    withoutDigest(registry, answer(JSON.stringify({ schemaVersion: 2, a: " ".repeat(5e6) })));
    await rejects(headManifest(app.deps, image(registry)), { reason: "invalid" });
  });
}

Deno.test("a reference by digest that is answered with another digest is invalid", async () => {
  await using registry = fakeRegistry();
  using app = loopbackApp();
  const digest = await registry.put("team/app:1");
  const reference = { ...image(registry), digest };
  equal((await headManifest(app.deps, reference)).digest, digest);
  registry.headers = { "docker-content-digest": `sha256:${"1".repeat(64)}` };
  await rejects(headManifest(app.deps, reference), { reason: "invalid" });
});

Deno.test("after 429, the registry is left alone until the time it said", async () => {
  await using registry = fakeRegistry();
  using app = loopbackApp();
  const digest = await registry.put("team/app:1");
  registry.answers[HEAD] = () =>
    new Response(null, { status: 429, headers: { "retry-after": "60" } });
  await rejects(headManifest(app.deps, image(registry)), { reason: "rate_limited" });
  delete registry.answers[HEAD];
  registry.calls.length = 0;
  app.clock.advance({ seconds: 59 });
  await rejects(headManifest(app.deps, image(registry)), { reason: "rate_limited" });
  await rejects(listTags(app, registry), { reason: "rate_limited" });
  equal(registry.calls.length, 0);
  app.clock.advance({ seconds: 1 });
  equal((await headManifest(app.deps, image(registry))).digest, digest);
});

Deno.test("RateLimit-Remaining is reported", async () => {
  await using registry = fakeRegistry();
  using app = loopbackApp();
  await registry.put("team/app:1");
  for (const [header, expected] of [["76;w=21600", 76], ["x", undefined]] as const) {
    registry.headers = { "ratelimit-remaining": header };
    equal((await headManifest(app.deps, image(registry))).rateLimitRemaining, expected);
  }
});

Deno.test("credentials do not follow a redirect to another host, which is asked anonymously", async () => {
  await using registry = fakeRegistry();
  await using other = fakeRegistry();
  using app = loopbackApp();
  registry.auth = { kind: "basic", user: USER };
  other.auth = { kind: "bearer" };
  store(app, registry);
  store(app, other, { username: "other", password: "not for a redirect" });
  const digest = await other.put("mirror/app:1");
  redirectTo(registry, `http://${other.address}/v2/mirror/app/manifests/1`);
  equal((await headManifest(app.deps, image(registry))).digest, digest);
  equal(registry.calls.at(-1)!.headers.get("authorization"), `Basic ${btoa(USER)}`);
  const sent = other.calls.map(({ headers }) => headers.get("authorization"));
  deepEqual(sent, [null, null, "Bearer token-1"]);
});

Deno.test("a redirect whose path begins with two slashes stays at the registry", async () => {
  await using registry = fakeRegistry();
  await using other = fakeRegistry();
  using app = loopbackApp();
  registry.auth = { kind: "basic", user: USER };
  store(app, registry);
  const own = `http://${registry.address}`;
  for (
    const [location, path] of [
      [`${own}//${other.address}/admin?x=1`, `//${other.address}/admin?x=1`],
      [`//${registry.address}//${other.address}/admin`, `//${other.address}/admin`],
      [`${own}//`, "//"],
      [`${own}//?n=1`, "//?n=1"],
      [`${own}//user@${other.address}/%3f%23`, `//user@${other.address}/%3f%23`],
    ] as const
  ) {
    registry.calls.length = 0;
    redirectTo(registry, location);
    await rejects(headManifest(app.deps, image(registry)), { name: "RegistryError" });
    ok(registry.requests().some((request) => request.endsWith(` ${path}`)), path);
  }
  deepEqual(other.requests(), []);
});

Deno.test("at most four requests to a registry run at the same time", async () => {
  await using registry = fakeRegistry();
  using app = loopbackApp();
  const waiting: (() => void)[] = [];
  let most = 0;
  registry.answers["GET /v2/"] = () => Response.json({});
  const names = Array.from({ length: 10 }, (_, i) => `app-${i}`);
  for (const name of names) {
    await registry.put(`${name}:1`);
    registry.answers[`HEAD /v2/${name}/manifests/1`] = async (_: RegistryCall) => {
      const turn = Promise.withResolvers<void>();
      waiting.push(turn.resolve);
      most = Math.max(most, waiting.length);
      await turn.promise;
      return new Response(null, {
        headers: { "docker-content-digest": `sha256:${"a".repeat(64)}` },
      });
    };
  }
  const all = names.map((name) => headManifest(app.deps, image(registry, `${name}:1`)));
  for (let done = 0; done < names.length; done++) {
    const expected = Math.min(4, names.length - done);
    await until("all places are taken", () => waiting.length === expected);
    waiting.shift()!();
  }
  await Promise.all(all);
  equal(most, 4);
});

Deno.test("an index is read once, with its nested indexes, and without attestations", async () => {
  await using registry = fakeRegistry();
  using app = loopbackApp();
  const leaf = (n: number) => `sha256:${String(n).repeat(64)}`;
  const nested = async (...entries: object[]) =>
    indexEntry(await registry.put("team/app:x", indexOf(...entries)));
  const level4 = await nested(platformEntry(leaf(4), "linux/s390x"));
  const level3 = await nested(platformEntry(leaf(3), "linux/arm/v7"), level4);
  const level2 = await nested(platformEntry(leaf(2), "linux/arm64"), level3);
  const digest = await registry.put(
    "team/app:1",
    indexOf(
      platformEntry(leaf(1), "linux/amd64"),
      platformEntry(leaf(9), "unknown/unknown"),
      { mediaType: "x", digest: "no digest", platform: { os: "linux", architecture: "amd64" } },
      level2,
    ),
  );
  registry.calls.length = 0;
  deepEqual(await readIndex(app.deps, image(registry)), {
    digest,
    platforms: [
      { os: "linux", architecture: "amd64", digest: leaf(1) },
      { os: "linux", architecture: "arm64", digest: leaf(2) },
      { os: "linux", architecture: "arm", variant: "v7", digest: leaf(3) },
    ],
  });
  equal(asked(registry, "/manifests/").length, 3);
});

Deno.test("a plain image has no index; its platform is in its configuration", async () => {
  await using registry = fakeRegistry();
  using app = loopbackApp();
  const config = await registry.putBlob("team/app", { os: "linux", architecture: "riscv64" });
  const digest = await registry.put("team/app:1", { schemaVersion: 2, config: { digest: config } });
  deepEqual(await readIndex(app.deps, image(registry)), { digest, platforms: [] });
  deepEqual(await readPlatforms(app.deps, image(registry)), [
    { os: "linux", architecture: "riscv64" },
  ]);
});

Deno.test("tags are read page by page", async () => {
  await using registry = fakeRegistry();
  using app = loopbackApp();
  registry.auth = { kind: "bearer" };
  const tags = Array.from({ length: 2_100 }, (_, i) => `1.${String(i).padStart(4, "0")}`);
  await Promise.all(tags.map((tag) => registry.put(`team/app:${tag}`, { schemaVersion: 2, tag })));
  registry.calls.length = 0;
  deepEqual(await listTags(app, registry), { tags, gap: undefined });
  equal(asked(registry, "/tags/list").length, 3);
});

const TAGS = "GET /v2/team/app/tags/list";

for (
  const [what, link] of [
    ["a path", (next) => `</v2/team/app/tags/list${next}>; rel="next"`],
    ["a query", (next) => `<${next}>; rel="next"`],
    ["a name without its folder", (next) => `<list${next}>; rel="next"`],
    ["a path from the wrong folder", (next) => `<team/app/tags/list${next}>; rel="next"`],
    ["another host", (next) => `<http://internal:5000/v2/team/app/tags/list${next}>; rel="next"`],
    ["the path before a proxy", (next) => `</docker/v2/team/app/tags/list${next}>; rel="next"`],
    ["no quotes", (next) => `<${next}>; rel=next`],
    ["spaces and other parameters", (next) => `<${next}> ; title="a, b; c" ; REL = "next"`],
    ["several relations", (next) => `<${next}>; rel="last next"`],
    ["several links", (next) => `<?n=1>; rel="first", <${next}>; rel="next"`],
  ] as [string, (next: string) => string][]
) {
  Deno.test(`the link to the next page of tags may have ${what}`, async () => {
    await using registry = fakeRegistry();
    using app = loopbackApp();
    registry.answers[TAGS] = ({ path }) =>
      path.includes("last=")
        ? Response.json({ tags: ["b"] })
        : Response.json({ tags: ["a"] }, { headers: { link: link("?last=a&n=1000") } });
    deepEqual(await listTags(app, registry), { tags: ["a", "b"], gap: undefined });
    deepEqual(asked(registry, "/tags/list").at(-1), `${TAGS}?last=a&n=1000`);
  });
}

for (
  const { what, link, pages, gap } of [
    {
      what: "another repository",
      link: () => "</v2/secret/app/tags/list?n=1>",
      pages: 1,
      gap: "page 1 leads to no further page",
    },
    { what: "itself", link: () => "<?n=1000>", pages: 1, gap: "page 1 leads to no further page" },
    {
      what: "an earlier page",
      link: (page: number) => page === 3 ? "<?n=1000&last=1>" : `<?n=1000&last=${page}>`,
      pages: 3,
      gap: "page 3 leads to no further page",
    },
    {
      what: "ever more pages",
      link: (page: number) => `<?n=1000&last=${page}>`,
      pages: 200,
      gap: "more than 200 pages",
    },
  ]
) {
  Deno.test(`a list of tags that leads to ${what} is incomplete after ${pages} pages`, async () => {
    await using registry = fakeRegistry();
    using app = loopbackApp();
    let page = 0;
    registry.answers[TAGS] = () =>
      Response.json({ tags: [`t${++page}`, 5, "not a tag"] }, {
        headers: { link: `${link(page)}; rel="next"` },
      });
    const found = await listTags(app, registry);
    deepEqual([found.tags.length, found.gap], [pages, gap]);
    equal(asked(registry, "/tags/list").length, pages);
  });
}

for (
  const [what, answer] of [
    ["fails", () => new Response(null, { status: 500 })],
    ["is not a list", () => Response.json({ tags: "all" })],
    ["is refused", () => new Response(null, { status: 403 })],
  ] as const
) {
  Deno.test(`tags are those of the pages before one that ${what}; a first one is an error`, async () => {
    await using registry = fakeRegistry();
    using app = loopbackApp();
    registry.answers[TAGS] = ({ path }) =>
      path.includes("last=")
        ? answer()
        : Response.json({ tags: ["a"] }, { headers: { link: '<?last=a>; rel="next"' } });
    deepEqual(await listTags(app, registry), {
      tags: ["a"],
      gap: "page 2 could not be read",
    });
    registry.answers[TAGS] = answer;
    await rejects(listTags(app, registry), { name: "RegistryError" });
  });
}

for (
  const { what, page, pages, gap } of [
    {
      what: "200,000 tags",
      page: (at: number) => Array.from({ length: 90_000 }, (_, i) => `${at}.${i}`),
      pages: 3,
      gap: "more than 200000 tags",
    },
    {
      what: "200,000 values that are not tags",
      page: () => Array.from({ length: 90_000 }, () => 5),
      pages: 3,
      gap: "more than 200000 tags",
    },
    {
      what: "32 MiB",
      page: (at: number) => [String(at), "x".repeat(4_000_000)],
      pages: 9,
      gap: "more than 32 MiB",
    },
    {
      what: "three minutes",
      page: (at: number, { clock }: TestApp) => (clock.advance({ minutes: 1 }), [String(at)]),
      pages: 3,
      gap: "more than 3 minutes to read it",
    },
  ]
) {
  Deno.test(`no more than ${what} are read of a list of tags without an end`, async () => {
    await using registry = fakeRegistry();
    using app = loopbackApp();
    registry.answers["GET /v2/"] = () => Response.json({});
    let at = 0;
    registry.answers[TAGS] = () =>
      Response.json({ tags: page(++at, app) }, {
        headers: { link: `<?last=${at}>; rel="next"` },
      });
    let taken = 0;
    equal(await readTags(app.deps, image(registry), () => void taken++), gap);
    equal(asked(registry, "/tags/list").length, pages);
    ok(taken <= 200_000, String(taken));
  });
}

Deno.test("the event loop runs while a large page of tags is read", async () => {
  await using registry = fakeRegistry();
  using app = loopbackApp();
  registry.answers[TAGS] = () => Response.json({ tags: Array(150_000).fill("1.0") });
  let ran = false;
  let taken = 0;
  let takenBefore: number | undefined;
  await readTags(app.deps, image(registry), () => {
    if (++taken === 1) setTimeout(() => ran = true);
    // The work of a slice takes its time whatever the speed of the machine is.
    for (const end = performance.now() + 5; !ran && performance.now() < end;);
    if (ran) takenBefore ??= taken;
  });
  ok(takenBefore! < 150_000, String(takenBefore));
});

Deno.test("a registry with its own authority needs its certificate", async () => {
  const authority = await createAuthority("Registry");
  const tls = await authority.issue({ name: "registry", altNames: "IP:127.0.0.1" });
  await using registry = fakeRegistry({ tls });
  using app = loopbackApp();
  registry.auth = { kind: "bearer", user: USER };
  const digest = await registry.put("team/app:1");
  const other = await createAuthority("Other");
  const { id } = store(app, registry, { caCertificate: other.cert });
  await rejects(headManifest(app.deps, image(registry)), {
    reason: "unreachable",
    message: /the certificate is not trusted/,
  });
  changeRegistry(app.deps, id, { caCertificate: authority.cert });
  equal((await headManifest(app.deps, image(registry))).digest, digest);
});

const DIGEST = `sha256:${"e".repeat(64)}`;

for (
  const { what, config } of [
    { what: "a registry that cannot be reached", config: {} },
    { what: "REGISTRY_VIA=engine", config: { registryVia: "engine" as const } },
  ]
) {
  Deno.test(`${what} is asked by the engine`, async () => {
    const registry = fakeRegistry();
    await registry[Symbol.asyncDispose]();
    const sent: (string | null)[] = [];
    await using fake = fakeEngine({
      "GET /distribution/*/*/*/json": ({ headers }) => {
        sent.push(headers.get("x-registry-auth"));
        return Response.json({
          Descriptor: { digest: DIGEST },
          Platforms: [{ os: "linux", architecture: "amd64" }],
        });
      },
    });
    using app = loopbackApp({ engine: fake.engine, config });
    store(app, registry);
    deepEqual(await headManifest(app.deps, image(registry)), { digest: DIGEST });
    deepEqual(await readPlatforms(app.deps, image(registry)), [
      { os: "linux", architecture: "amd64" },
    ]);
    equal(
      decodeURIComponent(fake.requests[0]!),
      `GET /distribution/${registry.address}/team/app:1/json`,
    );
    deepEqual(JSON.parse(atob(sent[0]!)), {
      username: "ann",
      password: "s3cret",
      serveraddress: registry.address,
    });
    equal(fake.requests.length, 2);
  });
}

for (
  const { status, message, reason } of [
    { status: 401, message: "unauthorized: authentication required", reason: "unauthorized" },
    { status: 403, message: "denied: requested access is denied", reason: "unauthorized" },
    { status: 404, message: "manifest unknown: manifest unknown", reason: "not_found" },
    {
      status: 500,
      message: "toomanyrequests: You have reached your limit",
      reason: "rate_limited",
    },
    { status: 500, message: "dial tcp: lookup failed", reason: "unreachable" },
  ]
) {
  Deno.test(`the engine's "${message}" is ${reason}`, async () => {
    await using fake = fakeEngine({
      "GET /distribution/*/*/*/json": () => Response.json({ message }, { status }),
    });
    using app = loopbackApp({ engine: fake.engine, config: { registryVia: "engine" } });
    await rejects(headManifest(app.deps, parseReference("r.example/team/app")), { reason });
  });
}

Deno.test("if the engine cannot help, the error is that of the direct way", async () => {
  const registry = fakeRegistry();
  await registry[Symbol.asyncDispose]();
  await using fake = fakeEngine();
  using app = loopbackApp({ engine: fake.engine });
  await rejects(headManifest(app.deps, image(registry)), (error: RegistryError) => {
    match(error.message, /refused the connection/);
    return error.reason === "unreachable";
  });
});

Deno.test("an answer of the registry itself is not asked of the engine again", async () => {
  await using registry = fakeRegistry();
  await using fake = fakeEngine();
  using app = loopbackApp({ engine: fake.engine });
  await rejects(headManifest(app.deps, image(registry)), { reason: "not_found" });
  deepEqual(fake.requests, []);
});

for (const host of ["169.254.169.254", "metadata.google.internal", "0.0.0.0:5000"]) {
  Deno.test(`an image of ${host} makes no request`, async () => {
    await using fake = fakeEngine();
    using app = loopbackApp({ engine: fake.engine });
    await rejects(headManifest(app.deps, parseReference(`${host}/app`)), {
      reason: "unreachable",
      message: /may not reach/,
    });
    deepEqual(fake.requests, []);
  });
}

Deno.test("a registry on this host is asked only if an entry names it", async () => {
  await using registry = fakeRegistry();
  await registry.put("team/app:1");
  using app = testApp();
  const read = () => headManifest(app.deps, image(registry));

  await rejects(read, (error: RegistryError) => {
    equal(error.reason, "unreachable");
    match(error.message, new RegExp(`may not reach; .*, or add the registry ${registry.address}$`));
    return true;
  });
  deepEqual(registry.requests(), []);

  store(app, registry, { username: null, password: null });
  await read();
  ok(registry.requests().length > 0);
});

Deno.test("with REGISTRY_VIA=engine, the engine is not sent to this host without an entry", async () => {
  await using fake = fakeEngine();
  using app = testApp({ engine: fake.engine, config: { registryVia: "engine" } });

  for (const host of ["127.0.0.1:22", "localhost:22", "[::1]:22"]) {
    await rejects(
      () => headManifest(app.deps, parseReference(`${host}/team/app:1`)),
      /is an address that this service may not reach/,
    );
  }

  deepEqual(fake.requests, []);
});
