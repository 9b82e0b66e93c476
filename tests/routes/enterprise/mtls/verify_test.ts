import { deepEqual, equal, match, ok } from "node:assert/strict";
import { PENDING_MAX } from "../../../../services/enterprise/mtls/enrollment.ts";
import { createAuthority, daysFromNow } from "../../../helpers/certificates.ts";
import {
  addAgent,
  addCa,
  configure,
  escapedCert,
  MTLS,
  mtlsApp,
  verify,
  VERIFY_SECRET,
} from "../../../helpers/mtls.ts";
import { oddCertificate } from "../../../helpers/odd_certificates.ts";
import { keptLog, TEST_ADDRESS, type TestApp } from "../../../helpers/test_app.ts";

const root = await createAuthority("Root");
const [web, db, unknownClient] = await Promise.all([
  root.issue({ name: "web-1" }),
  root.issue({ name: "db-1" }),
  oddCertificate({ name: "unknown" }),
]);

const hexOf = (fingerprint: string) => fingerprint.slice("sha256:".length);
const colonsOf = (hex: string) => hex.match(/../g)!.join(":");

/** Certificates and the application of a test. */
async function prepared(app: TestApp, settings: Record<string, boolean> = {}) {
  const ca = await addCa(app, root.cert);
  const agent = await addAgent(app, { certificate: web.cert, ca_id: ca.id });
  await configure(app, { enforcement_enabled: true, ...settings });
  return { ca, agent };
}

Deno.test("an agent is verified by its fingerprint in every form, and by its certificate", async () => {
  using app = mtlsApp();
  const { agent } = await prepared(app);
  const hex = hexOf(agent.fingerprint);
  for (
    const request of [
      { body: { fingerprint: agent.fingerprint } },
      { body: { fingerprint: hex.toUpperCase() } },
      { body: { fingerprint: colonsOf(hex) } },
      { body: { fingerprint: `SHA256:${colonsOf(hex).toUpperCase()}` } },
      { body: { certificate: web.cert } },
      { body: { certificate: web.cert, fingerprint: hex } },
      { body: {}, headers: { "x-client-cert-fingerprint": hex } },
      { method: "POST", headers: { "x-client-cert-fingerprint": hex } },
      { headers: { "x-client-cert-fingerprint": colonsOf(hex) } },
      { headers: escapedCert(web.cert) },
      { method: "POST", headers: escapedCert(web.cert) },
      { headers: { ...escapedCert(web.cert), "x-client-cert-fingerprint": hex } },
      { headers: { ...escapedCert(web.cert), "x-client-cert-fingerprint": "" } },
      { body: { fingerprint: hex }, headers: escapedCert(web.cert) },
    ]
  ) {
    const { status, body, headers } = await verify(app, request);
    deepEqual([status, body], [200, {
      verified: true,
      agent_id: agent.id,
      hostname: "web-1",
    }], JSON.stringify(request).slice(0, 100));
    deepEqual(
      [headers.get("x-agent-id"), headers.get("x-agent-hostname"), headers.get("cache-control")],
      [agent.id, "web-1", "no-store"],
    );
  }
});

for (
  const [what, secret] of [
    ["no secret", null],
    ["an empty one", ""],
    ["another one", "x"],
    ["the beginning of it", VERIFY_SECRET.slice(0, -1)],
    ["one more letter", `${VERIFY_SECRET}x`],
    ["it in capitals", VERIFY_SECRET.toUpperCase()],
    ["it twice", `${VERIFY_SECRET}, ${VERIFY_SECRET}`],
  ] as const
) {
  Deno.test(`with ${what} the certificate is neither verified nor recorded, and the response reveals nothing`, async () => {
    using app = mtlsApp();
    const { agent } = await prepared(app, { auto_enroll: true });
    for (
      const request of [
        { headers: escapedCert(web.cert) },
        { headers: escapedCert(unknownClient.cert) },
        { body: { fingerprint: agent.fingerprint } },
        { body: { fingerprint: "a".repeat(64) } },
      ]
    ) {
      const { status, body, headers } = await verify(app, { ...request, secret });
      equal(status, 401);
      match(body.error, /^The header X-Verify-Secret /);
      deepEqual([Object.keys(body), headers.get("x-agent-id")], [["error"], null]);
    }
    const { body } = await app.call("GET", `${MTLS}/agents`);
    deepEqual([body.total, body.agents[0].last_seen_at], [1, null]);
  });
}

Deno.test("an admin's token does not replace the secret", async () => {
  using app = mtlsApp();
  await prepared(app);
  const { status } = await app.call("GET", `${MTLS}/verify`, undefined, {
    headers: escapedCert(web.cert),
  });
  equal(status, 401);
});

Deno.test("without a configured secret nothing is verified", async () => {
  using app = mtlsApp({ config: { mtlsVerifySecret: null } });
  await prepared(app);
  for (const secret of [null, "", "null", "undefined", VERIFY_SECRET]) {
    const { status, body } = await verify(app, { headers: escapedCert(web.cert), secret });
    deepEqual([status, body.error], [
      503,
      "mTLS verification is off: MTLS_VERIFY_SECRET is not set",
    ]);
  }
});

const MISSING = /^The client did not present a certificate$/;
const UNKNOWN = /^The certificate does not belong to an agent$/;
const NOT_PEM = /^The certificate must be one certificate in PEM/;
const NOT_SHA256 = /^The fingerprint must be a SHA-256 fingerprint/;

/** All refusals by reason. */
const REFUSALS: {
  what: string;
  reason: RegExp;
  before?: (app: TestApp, agent: { id: string; fingerprint: string }) => Promise<unknown>;
  request?: Parameters<typeof verify>[1];
}[] = [
  { what: "no certificate", reason: MISSING, request: {} },
  {
    what: "an empty body and empty headers",
    reason: MISSING,
    request: { body: {}, headers: { "x-client-cert": "", "x-client-cert-fingerprint": "" } },
  },
  { what: "an unknown certificate", reason: UNKNOWN, request: { headers: escapedCert(db.cert) } },
  {
    what: "an unknown fingerprint",
    reason: UNKNOWN,
    request: { body: { fingerprint: "ab".repeat(32) } },
  },
  {
    what: "an authority that is not an agent",
    reason: UNKNOWN,
    request: { headers: escapedCert(root.cert) },
  },
  {
    what: "a revoked agent",
    reason: /^The agent was revoked at 2/,
    before: (app, { id }) => app.call("DELETE", `${MTLS}/agents/${id}`),
  },
  {
    what: "a disabled agent",
    reason: /^The agent is disabled$/,
    before: (app, { id }) => app.call("PUT", `${MTLS}/agents/${id}/toggle`, { enabled: false }),
  },
  {
    what: "an expired certificate",
    reason: /^The certificate has expired \(2/,
    before: (app) => Promise.resolve(app.clock.advance({ days: 101 })),
  },
  {
    what: "a certificate that is not yet valid",
    reason: /^The certificate is not yet valid \(from 2/,
    before: (app) => Promise.resolve(app.clock.advance({ days: -10 })),
  },
  {
    what: "a certificate with the fingerprint of an agent",
    reason: /^The fingerprints belong to different certificates$/,
    request: { headers: escapedCert(db.cert) },
    before: (_app, { fingerprint }) =>
      Promise.resolve(REFUSALS[9]!.request!.headers!["x-client-cert-fingerprint"] = fingerprint),
  },
  {
    what: "a certificate in the headers and another in the body",
    reason: /^The fingerprints belong to different certificates$/,
    request: { headers: escapedCert(web.cert), body: { certificate: db.cert } },
  },
  {
    what: "a SHA-1 fingerprint",
    reason: /^The fingerprint is a SHA-1 fingerprint/,
    request: { headers: { "x-client-cert-fingerprint": "ab".repeat(20) } },
  },
  {
    what: "a fingerprint that is none",
    reason: NOT_SHA256,
    request: { headers: { "x-client-cert-fingerprint": "' OR 1=1 --" } },
  },
  {
    what: "a certificate and a fingerprint that is none",
    reason: NOT_SHA256,
    request: { headers: { ...escapedCert(web.cert), "x-client-cert-fingerprint": "x" } },
  },
  {
    what: "a certificate that is none",
    reason: NOT_PEM,
    request: { headers: { "x-client-cert": "x" } },
  },
  {
    what: "an escape that is none",
    reason: NOT_PEM,
    request: { headers: { "x-client-cert": "%-----BEGIN" } },
  },
  {
    what: "an escaped NUL",
    reason: NOT_PEM,
    request: { headers: { "x-client-cert": `${encodeURIComponent(web.cert)}%00` } },
  },
  {
    what: "two certificates",
    reason: /^The certificate contains 2 PEM blocks/,
    request: { headers: escapedCert(web.cert + root.cert) },
  },
  {
    what: "a certificate and its key",
    reason: /^The certificate contains a private key/,
    request: { headers: escapedCert(web.cert + web.key) },
  },
  {
    what: "a certificate of 60 000 characters",
    reason: /^The certificate is longer than 51200 characters$/,
    request: { headers: { "x-client-cert": encodeURIComponent(" ".repeat(60_000)) } },
  },
];

for (const { what, reason, before, request } of REFUSALS) {
  Deno.test(`${what} is not verified: 403 with enforcement, 200 without`, async () => {
    using app = mtlsApp();
    const { agent } = await prepared(app);
    await before?.(app, agent);
    const asked = request ?? { headers: escapedCert(web.cert) };
    for (const [enforced, status] of [[true, 403], [false, 200]] as const) {
      await configure(app, { enforcement_enabled: enforced });
      const answer = await verify(app, asked);
      deepEqual([answer.status, Object.keys(answer.body)], [status, ["verified", "reason"]]);
      equal(answer.body.verified, false);
      match(answer.body.reason, reason);
      equal(answer.headers.get("x-agent-id"), null);
    }
    equal((await app.call("GET", `${MTLS}/agents/${agent.id}`)).body.last_seen_at, null);
  });
}

Deno.test("without reject_unknown_certs, a valid unknown certificate passes, and no other", async () => {
  for (const auto_enroll of [false, true]) {
    for (const { what, before, request } of REFUSALS) {
      using app = mtlsApp();
      const { agent } = await prepared(app, { reject_unknown_certs: false, auto_enroll });
      await before?.(app, agent);
      const isUnknown = what.startsWith("an unknown") || what.startsWith("an authority");
      // Whether it was recorded by then makes no difference.
      for (let time = 1; time <= 2; time++) {
        const { status, body } = await verify(app, request ?? { headers: escapedCert(web.cert) });
        deepEqual([what, status, body.verified], [what, isUnknown ? 200 : 403, false]);
      }
    }
  }
});

Deno.test("without reject_unknown_certs an unknown certificate that is invalid does not pass", async () => {
  using app = mtlsApp();
  await prepared(app, { reject_unknown_certs: false });
  const expired = await root.issue({ name: "x", from: daysFromNow(-9), to: daysFromNow(-1) });
  const weak = await oddCertificate({ key: ["rsa:1024"] });
  const server = await root.issue({ name: "x", extendedKeyUsage: "serverAuth" });
  for (
    const [{ cert }, reason] of [
      [expired, /^The certificate has expired/],
      [weak, /^The certificate has an RSA key of 1024 bits/],
      [server, /^The certificate is not a client certificate/],
    ] as const
  ) {
    const { status, body } = await verify(app, { headers: escapedCert(cert) });
    equal(status, 403);
    match(body.reason, reason);
  }
});

Deno.test("an agent is not verified when its authority has expired", async () => {
  using app = mtlsApp();
  const sub = await root.issueAuthority({ name: "Sub", to: daysFromNow(5) });
  const [bound, free] = await Promise.all([
    sub.issue({ name: "bound" }),
    sub.issue({ name: "free" }),
  ]);
  const ca = await addCa(app, sub.cert, "Sub");
  await addAgent(app, { certificate: bound.cert, ca_id: ca.id });
  await addAgent(app, { certificate: free.cert });
  await configure(app, { enforcement_enabled: true });
  const asked = async (cert: string) => (await verify(app, { headers: escapedCert(cert) })).body;
  equal((await asked(bound.cert)).verified, true);
  app.clock.advance({ days: 6 });
  match((await asked(bound.cert)).reason, /^The CA certificate has expired \(2/);
  equal((await asked(free.cert)).verified, true);
});

Deno.test("a change of an agent or of the settings applies to the next request", async () => {
  using app = mtlsApp();
  const { agent } = await prepared(app);
  const asked = async () => (await verify(app, { headers: escapedCert(web.cert) })).status;
  const path = `${MTLS}/agents/${agent.id}`;
  equal(await asked(), 200);
  await app.call("PUT", `${path}/toggle`);
  equal(await asked(), 403);
  await app.call("PUT", `${path}/toggle`);
  equal(await asked(), 200);
  await app.call("DELETE", path);
  equal(await asked(), 403);
  await configure(app, { enforcement_enabled: false });
  equal(await asked(), 200);
});

for (
  const [what, request, error] of [
    ["a fingerprint that is none", { fingerprint: "x" }, /^body\.fingerprint: must be a SHA-256/],
    ["a number as fingerprint", { fingerprint: 1 }, /^body\.fingerprint: /],
    ["a certificate that is none", { certificate: "x" }, /^body\.certificate: must be one/],
    [
      "a private key",
      { certificate: web.cert + web.key },
      /^body\.certificate: contains a private/,
    ],
    ["an address that is none", { ip: "localhost" }, /^body\.ip: must be an IP address$/],
    ["half an address", { ip: "192.0.2" }, /^body\.ip: must be an IP address$/],
    ["no object", "[]", /^body: /],
    ["no JSON", "{", /^body: is not valid JSON$/],
  ] as const
) {
  Deno.test(`POST /mtls/verify refuses ${what} in its body with 400`, async () => {
    using app = mtlsApp();
    const answer = await verify(app, {
      method: "POST",
      body: request,
      headers: { "content-type": "application/json" },
    });
    equal(answer.status, 400);
    match(answer.body.error, error);
  });
}

Deno.test("a well-formed PEM block that is not a certificate is refused", async () => {
  using app = mtlsApp();
  await prepared(app, { auto_enroll: true });
  const certificate = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";
  const { status, body } = await verify(app, { body: { certificate } });
  deepEqual([status, body.reason], [
    403,
    "The certificate is not a readable X.509 certificate",
  ]);
  equal((await app.call("GET", `${MTLS}/agents`)).body.total, 1);
});

Deno.test("last_seen_at and last_seen_ip of an agent are stored at most once a minute", async () => {
  using app = mtlsApp();
  const { agent } = await prepared(app);
  const seen = async () => {
    const { body } = await app.call("GET", `${MTLS}/agents/${agent.id}`);
    return [body.last_seen_at, body.last_seen_ip, body.updated_at];
  };
  const ask = (request: Parameters<typeof verify>[1]) => verify(app, request);
  const headers = escapedCert(web.cert);
  const start = app.clock.now().toISOString();
  await ask({ headers: { ...headers, "x-real-ip": "192.0.2.7" } });
  deepEqual(await seen(), [start, "192.0.2.7", agent.updated_at]);

  app.clock.advance({ seconds: 59 });
  await ask({ headers: { ...headers, "x-real-ip": "192.0.2.8" } });
  deepEqual((await seen()).slice(0, 2), [start, "192.0.2.7"]);

  app.clock.advance({ seconds: 1 });
  await ask({
    headers: { ...headers, "x-real-ip": "192.0.2.9" },
    body: { ip: "::ffff:192.0.2.8" },
  });
  deepEqual((await seen()).slice(0, 2), [app.clock.now().toISOString(), "192.0.2.8"]);

  // Neither the proxy's own address nor a malformed one.
  app.clock.advance({ minutes: 1 });
  await ask({ headers: { ...headers, "x-real-ip": "nonsense" } });
  deepEqual((await seen()).slice(0, 2), [app.clock.now().toISOString(), null]);

  app.clock.advance({ days: -1 });
  await ask({ headers: { ...headers, "x-real-ip": "2001:DB8::1" } });
  deepEqual((await seen()).slice(0, 2), [app.clock.now().toISOString(), "2001:db8::1"]);
});

Deno.test("if nothing can be stored, the same clients are verified", async () => {
  using app = mtlsApp();
  await prepared(app, { auto_enroll: true });
  const run = app.deps.db.run.bind(app.deps.db);
  app.deps.db.run = (sql, params) => {
    if (/agents/.test(sql)) throw Object.assign(new Error("disk full"), { errcode: 13 });
    return run(sql, params);
  };
  const known = await verify(app, { headers: escapedCert(web.cert) });
  deepEqual([known.status, known.body.verified], [200, true]);
  const unknown = await verify(app, { headers: escapedCert(unknownClient.cert) });
  deepEqual([unknown.status, unknown.body.verified], [403, false]);
});

Deno.test("auto_enroll records an unknown certificate once, as a disabled agent", async () => {
  using app = mtlsApp();
  const { ca } = await prepared(app, { auto_enroll: true });
  const headers = { ...escapedCert(db.cert), "x-real-ip": "192.0.2.7" };
  const answers = await Promise.all(Array.from({ length: 5 }, () => verify(app, { headers })));
  for (const { status, body } of answers) deepEqual([status, body.verified], [403, false]);

  const { body } = await app.call("GET", `${MTLS}/agents?enabled=false`);
  equal(body.total, 1);
  const [agent] = body.agents;
  const at = app.clock.now().toISOString();
  deepEqual(agent, {
    id: agent.id,
    hostname: `unknown-${hexOf(agent.fingerprint).slice(0, 16)}`,
    description: "Recorded by auto_enroll",
    tags: [],
    ca_id: ca.id,
    enabled: false,
    pending: true,
    certificate: db.cert,
    fingerprint: agent.fingerprint,
    subject: "CN=db-1",
    issuer: "CN=Root",
    serial: agent.serial,
    not_before: agent.not_before,
    not_after: agent.not_after,
    last_seen_at: at,
    last_seen_ip: "192.0.2.7",
    created_at: at,
    updated_at: at,
    revoked_at: null,
  });

  await app.call("PUT", `${MTLS}/agents/${agent.id}/toggle`, { enabled: true });
  const verified = await verify(app, { headers });
  deepEqual([verified.status, verified.body.agent_id], [200, agent.id]);
  equal((await app.call("GET", `${MTLS}/agents/${agent.id}`)).body.pending, false);
});

Deno.test("a recorded agent counts as unknown until it is enabled, disabled or revoked", async () => {
  using app = mtlsApp();
  await prepared(app, { auto_enroll: true, reject_unknown_certs: false });
  const ask = async () => {
    const { status, body } = await verify(app, { headers: escapedCert(unknownClient.cert) });
    return [status, body.reason];
  };
  const unknown = [200, "The certificate does not belong to an agent"];
  deepEqual([await ask(), await ask()], [unknown, unknown]);
  const { body: { agents: [agent] } } = await app.call("GET", `${MTLS}/agents?enabled=false`);
  await app.call("PUT", `${MTLS}/agents/${agent.id}/toggle`, { enabled: false });
  deepEqual(await ask(), [403, "The agent is disabled"]);
  await app.call("DELETE", `${MTLS}/agents/${agent.id}`);
  match(String((await ask())[1]), /^The agent was revoked at/);
  equal((await app.call("GET", `${MTLS}/agents?revoked=true`)).body.total, 1);
});

Deno.test("an agent recorded by fingerprint gets its certificate when a client sends it", async () => {
  using app = mtlsApp();
  const { ca, agent: { fingerprint } } = await prepared(app);
  using other = mtlsApp();
  const otherCa = await addCa(other, root.cert);
  await configure(other, { enforcement_enabled: true, auto_enroll: true });
  await verify(other, { body: { fingerprint } });
  const listed = async () => (await other.call("GET", `${MTLS}/agents`)).body.agents[0];
  const recorded = await listed();
  deepEqual(
    [recorded.certificate, recorded.subject, recorded.not_after, recorded.ca_id, recorded.pending],
    [null, null, null, null, true],
  );
  await other.call("PUT", `${MTLS}/agents/${recorded.id}/toggle`);
  equal((await verify(other, { body: { fingerprint } })).body.verified, true);
  equal((await listed()).certificate, null);

  equal((await verify(other, { headers: escapedCert(web.cert) })).body.verified, true);
  const complete = await listed();
  deepEqual(
    [complete.certificate, complete.subject, complete.ca_id, complete.enabled],
    [web.cert, "CN=web-1", otherCa.id, true],
  );
  ok(ca.id !== otherCa.id);
  other.clock.advance({ days: 101 });
  match((await verify(other, { body: { fingerprint } })).body.reason, /has expired/);
});

Deno.test("an agent known by fingerprint is refused if its certificate is invalid", async () => {
  using app = mtlsApp();
  const weak = await oddCertificate({ key: ["rsa:1024"] });
  await configure(app, { enforcement_enabled: true, auto_enroll: true });
  const { cert } = weak;
  const der = Uint8Array.fromBase64(cert.replace(/-----[^-]+-----/g, "").replace(/\s/g, ""));
  const fingerprint = new Uint8Array(await crypto.subtle.digest("SHA-256", der)).toHex();
  await verify(app, { body: { fingerprint } });
  const { body: { agents: [agent] } } = await app.call("GET", `${MTLS}/agents`);
  await app.call("PUT", `${MTLS}/agents/${agent.id}/toggle`);
  const { status, body } = await verify(app, { headers: escapedCert(cert) });
  deepEqual([status, body.verified], [403, false]);
  match(body.reason, /^The certificate has an RSA key of 1024 bits/);
});

Deno.test("at most 1 000 agents are pending, and further unknown certificates are only refused", async () => {
  using app = mtlsApp();
  await configure(app, { enforcement_enabled: true, auto_enroll: true });
  const fingerprint = (n: number) => n.toString(16).padStart(64, "0");
  for (let n = 0; n < PENDING_MAX + 5; n++) {
    equal((await verify(app, { body: { fingerprint: fingerprint(n) } })).status, 403);
  }
  const total = async () => (await app.call("GET", `${MTLS}/agents`)).body.total;
  equal(await total(), PENDING_MAX);
  const { body: { agents: [agent] } } = await app.call("GET", `${MTLS}/agents?limit=1`);
  await app.call("PUT", `${MTLS}/agents/${agent.id}/toggle`, { enabled: false });
  await verify(app, { body: { fingerprint: fingerprint(PENDING_MAX + 7) } });
  equal(await total(), PENDING_MAX + 1);
});

Deno.test("neither a certificate nor the secret is in a log or an audit entry", async () => {
  const { log, lines } = keptLog();
  using app = mtlsApp({ log });
  await prepared(app, { auto_enroll: true });
  await verify(app, { headers: escapedCert(web.cert) });
  await verify(app, { body: { certificate: unknownClient.cert } });
  await verify(app, { headers: escapedCert(web.cert), secret: "a-wrong-secret" });
  const { body } = await app.call("GET", "/api/audit?limit=500");
  const all = lines.join("\n") + JSON.stringify(body);
  for (const secret of [VERIFY_SECRET, "a-wrong-secret", web.cert.split("\n")[2]!]) {
    equal(all.includes(secret), false);
  }
  // Requests of a proxy do not fill the log.
  equal(body.entries.some(({ action }: { action: string }) => action.includes("verify")), false);
});

Deno.test("the proxy can call from any address, only with GET and POST", async () => {
  using app = mtlsApp();
  await prepared(app);
  for (const address of [TEST_ADDRESS, "127.0.0.1", "2001:db8::5"]) {
    equal((await verify(app, { headers: escapedCert(web.cert), address })).status, 200);
  }
  for (const method of ["PUT", "DELETE"]) {
    equal((await verify(app, { headers: escapedCert(web.cert), method })).status, 405);
  }
});

Deno.test("the compliance log has refused clients, but not verified ones", async () => {
  using app = mtlsApp();
  const { agent } = await prepared(app);
  await verify(app, { headers: escapedCert(web.cert) });
  await verify(app, { body: { fingerprint: agent.fingerprint } });
  await app.call("DELETE", `${MTLS}/agents/${agent.id}`);
  await verify(app, { headers: escapedCert(web.cert) });

  const path = "/api/ext/service-enterprise/compliance/logs?limit=500";
  const { status, body } = await app.call("GET", path);
  equal(status, 200);
  const entries = body.logs.filter((entry: unknown) =>
    JSON.stringify(entry).includes("mtls/verify")
  );
  equal(entries.length, 1);
  const [{ outcome, resource_id }] = entries;
  deepEqual([outcome, resource_id], ["failure", agent.fingerprint]);
});

Deno.test("without the secret the body is not even parsed", async () => {
  using app = mtlsApp();
  for (const body of ["{", "[]", "x".repeat(100_000)]) {
    const headers = { "content-type": "application/json" };
    equal((await verify(app, { body, headers, secret: "wrong" })).status, 401);
  }
});

Deno.test("a proxy with the secret is exempt from the rate limit, one that guesses it is not", async () => {
  using app = mtlsApp({ config: { rateLimitPerMinute: 20, trustedProxies: [] } });
  const ask = async (secret: string | null, method = "GET") =>
    (await verify(app, { secret, method, headers: escapedCert(web.cert) })).status;
  for (let time = 0; time < 50; time++) {
    equal(await ask(VERIFY_SECRET), 200);
    equal(await ask(VERIFY_SECRET, "POST"), 200);
  }
  const guesses = [];
  for (let time = 0; time < 25; time++) guesses.push(await ask(time % 2 ? null : `guess ${time}`));
  deepEqual(guesses, [...Array(20).fill(401), ...Array(5).fill(429)]);
  equal(await ask(VERIFY_SECRET), 200);
  // The secret gives no access to other endpoints.
  const other = await app.call("GET", `${MTLS}/config`, undefined, {
    headers: { "x-verify-secret": VERIFY_SECRET },
  });
  equal(other.status, 429);
});
