import { deepEqual, equal, match } from "node:assert/strict";
import { readConfig } from "../../services/config/config.ts";
import { createAuthority, selfSigned, tlsServer } from "../helpers/certificates.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { testApp } from "../helpers/test_app.ts";

const respond = {
  onSocket: (socket: { once: CallableFunction; end: CallableFunction }) =>
    void socket.once(
      "data",
      () => socket.end("HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n"),
    ),
};

/** The configuration from these variables. */
function configOf(env: Record<string, string>) {
  const { endpoints, sslDomains } = readConfig(env, {
    hostname: "test-host",
    terminal: false,
    packed: false,
    readTextFile: () => "",
  });
  return { endpoints, sslDomains };
}

Deno.test("without configuration the lists are empty", async () => {
  using app = testApp();
  const endpoints = await app.call("GET", "/api/endpoints", undefined, { role: "viewer" });
  deepEqual([endpoints.status, endpoints.body], [200, { endpoints: [] }]);
  const ssl = await app.call("GET", "/api/ssl", undefined, { role: "viewer" });
  deepEqual([ssl.status, ssl.body], [200, { certificates: [] }]);
});

Deno.test("GET /api/endpoints lists the configured endpoints in order", async () => {
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    ({ url }) => new Response("hello", { status: url.endsWith("/teapot") ? 418 : 200 }),
  );
  const host = `127.0.0.1:${server.addr.port}`;
  const config = configOf({
    ENDPOINTS: `Shop|http://ann:secret@${host}/shop, Tea|http://${host}/teapot|418,` +
      `http://${host}/teapot`,
  });
  using app = testApp({ config, now: "2026-01-01T12:00:00Z" });

  const { status, body } = await app.call("GET", "/api/endpoints", undefined, { role: "viewer" });
  equal(status, 200);
  const checkedAt = "2026-01-01T12:00:00.000Z";
  const times = body.endpoints.map((each: { responseTime: number }) => each.responseTime);
  equal(times.every(Number.isInteger), true);
  deepEqual(body, {
    endpoints: [
      {
        name: "Shop",
        url: `http://${host}/shop`,
        healthy: true,
        status: 200,
        expectedStatus: 200,
        responseTime: times[0],
        error: null,
        checkedAt,
      },
      {
        name: "Tea",
        url: `http://${host}/teapot`,
        healthy: true,
        status: 418,
        expectedStatus: 418,
        responseTime: times[1],
        error: null,
        checkedAt,
      },
      {
        name: host,
        url: `http://${host}/teapot`,
        healthy: false,
        status: 418,
        expectedStatus: 200,
        responseTime: times[2],
        error: "The status is 418, not 200",
        checkedAt,
      },
    ],
  });
});

Deno.test("GET /api/ssl shows the server's certificate and its problems", async () => {
  await using server = await tlsServer(
    await selfSigned({ name: "localhost", altNames: "DNS:localhost" }),
  );
  const closed = await tlsServer(await selfSigned({ name: "x" }));
  await closed[Symbol.asyncDispose]();
  const config = configOf({
    SSL_DOMAINS: `localhost:${server.port},127.0.0.1:${closed.port}`,
  });
  using app = testApp({ config, now: new Date().toISOString() });

  const { status, body } = await app.call("GET", "/api/ssl", undefined, { role: "viewer" });
  equal(status, 200);
  const [seen, away] = body.certificates;
  deepEqual(Object.keys(seen), [
    "domain",
    "port",
    "valid",
    "daysRemaining",
    "issuer",
    "subject",
    "altNames",
    "validFrom",
    "expiresAt",
    "fingerprint",
    "error",
  ]);
  deepEqual(
    [seen.domain, seen.port, seen.valid, seen.daysRemaining, seen.error],
    ["localhost", server.port, false, 99, "The certificate is self-signed"],
  );
  deepEqual(away, {
    domain: "127.0.0.1",
    port: closed.port,
    valid: false,
    daysRemaining: null,
    issuer: null,
    subject: null,
    altNames: [],
    validFrom: null,
    expiresAt: null,
    fingerprint: null,
    error: "Unreachable: the connection was refused",
  });
});

Deno.test("the program trusts the operator's certificate authority and no other", async () => {
  const [own, other] = await Promise.all(["Own", "Other"].map(createAuthority));
  const names = { name: "localhost", altNames: "DNS:localhost" };
  await using trusted = await tlsServer(await own!.issue(names), respond);
  await using unknown = await tlsServer(await other!.issue(names), respond);
  const folder = await Deno.makeTempDir({ prefix: "longshore-probes-" });
  try {
    await Deno.writeTextFile(`${folder}/ca.pem`, own!.cert);
    const places = [trusted, unknown].map(({ port }) => `localhost:${port}`);
    await using longshore = await startLongshore({
      env: {
        NODE_EXTRA_CA_CERTS: `${folder}/ca.pem`,
        SSL_DOMAINS: places.join(),
        ENDPOINTS: places.map((place) => `|https://${place}/|401`).join(),
      },
    });

    const { body: { certificates } } = await longshore.call("GET", "/api/ssl");
    deepEqual([certificates[0].valid, certificates[0].error], [true, null]);
    equal(certificates[1].valid, false);
    match(certificates[1].error, /^The certificate is signed by an unknown authority /);

    const { body: { endpoints } } = await longshore.call("GET", "/api/endpoints");
    deepEqual([endpoints[0].healthy, endpoints[0].error], [true, null]);
    equal(endpoints[1].healthy, false);
    match(endpoints[1].error, /^The certificate is signed by an unknown authority /);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
