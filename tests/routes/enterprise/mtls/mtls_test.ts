import { deepEqual, equal, match, ok } from "node:assert/strict";
import { createAuthority, daysFromNow } from "../../../helpers/certificates.ts";
import { addAgent, addCa, MTLS, mtlsApp, verify } from "../../../helpers/mtls.ts";
import { oddCertificate } from "../../../helpers/odd_certificates.ts";
import { keptLog, testApp } from "../../../helpers/test_app.ts";

const root = await createAuthority("Root");
const other = await createAuthority("Root");
const [web, db] = await Promise.all([root.issue({ name: "web-1" }), root.issue({ name: "db-1" })]);

Deno.test("POST /mtls/ca stores an authority with the data of its certificate", async () => {
  using app = mtlsApp();
  const { status, body } = await app.call("POST", `${MTLS}/ca`, {
    name: " Agents ",
    certificate: `\n${root.cert.replaceAll("\n", "\r\n")}`,
  });
  equal(status, 201);
  deepEqual(body, {
    id: body.id,
    name: "Agents",
    certificate: root.cert,
    fingerprint: body.fingerprint,
    subject: "CN=Root",
    issuer: "CN=Root",
    serial: body.serial,
    not_before: body.not_before,
    not_after: body.not_after,
    created_at: app.clock.now().toISOString(),
  });
  match(body.fingerprint, /^sha256:[0-9a-f]{64}$/);
  deepEqual((await app.call("GET", `${MTLS}/ca`)).body, {
    cas: [body],
    total: 1,
    limit: 50,
    offset: 0,
  });
});

Deno.test("the same certificate cannot be two authorities, but two authorities can have the same name", async () => {
  using app = mtlsApp();
  const ca = await addCa(app, root.cert);
  const again = await app.call("POST", `${MTLS}/ca`, { name: "Other", certificate: root.cert });
  deepEqual([again.status, again.body.error], [
    409,
    `This certificate is already stored as the CA Root (${ca.id})`,
  ]);
  app.clock.advance({ seconds: 1 });
  await addCa(app, other.cert);
  equal((await app.call("GET", `${MTLS}/ca?limit=1&offset=1`)).body.cas[0].id, ca.id);
});

const expired = await createAuthorityWith({ from: daysFromNow(-30), to: daysFromNow(-1) });
const future = await createAuthorityWith({ from: daysFromNow(1), to: daysFromNow(30) });

async function createAuthorityWith(dates: { from: Date; to: Date }) {
  return await root.issueAuthority({ name: "Sub", ...dates });
}

for (
  const [what, body, error] of [
    ["no name", { certificate: root.cert }, /^body\.name: /],
    ["an empty name", { name: " ", certificate: root.cert }, /^body\.name: /],
    ["a long name", { name: "x".repeat(101), certificate: root.cert }, /^body\.name: /],
    ["no certificate", { name: "x" }, /^body\.certificate: /],
    ["a number", { name: "x", certificate: 5 }, /^body\.certificate: /],
    ["a text", { name: "x", certificate: "x" }, /^body\.certificate: must be one certificate/],
    ["51 201 characters", { name: "x", certificate: "x".repeat(51_201) }, /^body\.certificate: /],
    ["a certificate and its key", { name: "x", certificate: root.cert + root.key }, /private key/],
    ["two", { name: "x", certificate: root.cert + other.cert }, /contains 2 PEM blocks/],
    ["an expired one", { name: "x", certificate: expired.cert }, /^body\.certificate: has expired/],
    ["a future one", { name: "x", certificate: future.cert }, /^body\.certificate: is not yet val/],
    ["a leaf", { name: "x", certificate: web.cert }, /^body\.certificate: is not a CA certificate/],
  ] as const
) {
  Deno.test(`POST /mtls/ca refuses ${what} and repeats nothing of it`, async () => {
    using app = mtlsApp();
    const answer = await app.call("POST", `${MTLS}/ca`, body);
    equal(answer.status, 400);
    match(answer.body.error, error);
    ok(!answer.body.error.includes(root.key.split("\n")[1]!));
    equal((await app.call("GET", `${MTLS}/ca`)).body.total, 0);
  });
}

Deno.test("a private key is in no log, audit entry or table", async () => {
  const { log, lines } = keptLog();
  using app = mtlsApp({ log });
  for (const path of ["ca", "agents", "verify"]) {
    await app.call("POST", `${MTLS}/${path}`, {
      name: "x",
      hostname: "x",
      certificate: root.cert + root.key,
    }, { headers: { "x-verify-secret": "the-verify-secret-of-the-tests" } });
  }
  const audit = await app.call("GET", "/api/audit");
  const secret = root.key.split("\n")[1]!;
  ok(!lines.join().includes(secret));
  ok(!JSON.stringify(audit.body).includes(secret));
});

Deno.test("an authority with only revoked agents can be deleted, and the agents stay", async () => {
  using app = mtlsApp();
  const ca = await addCa(app, root.cert);
  const agents = [
    await addAgent(app, { certificate: web.cert, ca_id: ca.id }),
    await addAgent(app, { certificate: db.cert, ca_id: ca.id }),
  ];
  const remove = () => app.call("DELETE", `${MTLS}/ca/${ca.id}`);

  deepEqual((await remove()).body, {
    error: `2 agents use the CA Root (${ca.id}); revoke them first`,
  });
  await app.call("PUT", `${MTLS}/agents/${agents[0].id}/toggle`, { enabled: false });
  await app.call("DELETE", `${MTLS}/agents/${agents[1].id}`);
  const refused = await remove();
  deepEqual([refused.status, refused.body.error], [
    409,
    `1 agent uses the CA Root (${ca.id}); revoke them first`,
  ]);
  await app.call("DELETE", `${MTLS}/agents/${agents[0].id}`);
  deepEqual([(await remove()).status, (await remove()).status], [200, 404]);
  equal((await app.call("GET", `${MTLS}/ca`)).body.total, 0);
  for (const { id } of agents) {
    const { body } = await app.call("GET", `${MTLS}/agents/${id}`);
    deepEqual([body.ca_id, body.issuer, typeof body.revoked_at], [null, "CN=Root", "string"]);
  }
});

Deno.test("POST /mtls/agents stores an enabled agent with the data of its certificate", async () => {
  using app = mtlsApp();
  const ca = await addCa(app, root.cert);
  const { status, body } = await app.call("POST", `${MTLS}/agents`, {
    hostname: " web-1.example.com ",
    description: "Front end",
    certificate: web.cert,
    ca_id: ca.id,
    tags: ["web", "web", "eu"],
  });
  equal(status, 201);
  deepEqual(body, {
    id: body.id,
    hostname: "web-1.example.com",
    description: "Front end",
    tags: ["web", "eu"],
    ca_id: ca.id,
    enabled: true,
    pending: false,
    certificate: web.cert,
    fingerprint: body.fingerprint,
    subject: "CN=web-1",
    issuer: "CN=Root",
    serial: body.serial,
    not_before: body.not_before,
    not_after: body.not_after,
    last_seen_at: null,
    last_seen_ip: null,
    created_at: app.clock.now().toISOString(),
    updated_at: app.clock.now().toISOString(),
    revoked_at: null,
  });
  deepEqual((await app.call("GET", `${MTLS}/agents/${body.id}`)).body, body);
  deepEqual((await app.call("GET", `${MTLS}/agents`)).body, {
    agents: [body],
    total: 1,
    limit: 50,
    offset: 0,
  });
});

Deno.test("an agent needs only a host name and a certificate", async () => {
  using app = mtlsApp();
  const agent = await addAgent(app, { certificate: (await oddCertificate()).cert });
  deepEqual([agent.description, agent.tags, agent.ca_id], ["", [], null]);
});

const [expiredWeb, weak, server] = await Promise.all([
  root.issue({ name: "web-1", from: daysFromNow(-30), to: daysFromNow(-1) }),
  oddCertificate({ key: ["rsa:1024"] }),
  root.issue({ name: "web-1", extendedKeyUsage: "serverAuth" }),
]);
const foreign = await other.issue({ name: "web-1" });
const selfMade = await oddCertificate({ name: "Root" });

for (
  const [what, change, error] of [
    ["no host name", { hostname: undefined }, /^body\.hostname: /],
    ["an empty one", { hostname: " " }, /^body\.hostname: must have 1 to 253 letters/],
    ["a long one", { hostname: "x".repeat(254) }, /^body\.hostname: /],
    ["a line in it", { hostname: "a\r\nX-Role: admin" }, /^body\.hostname: /],
    ["another script", { hostname: "w\u0435b" }, /^body\.hostname: /],
    ["a long description", { description: "x".repeat(1_001) }, /^body\.description: /],
    ["a tag that is none", { tags: [1] }, /^body\.tags\.0: /],
    ["an empty tag", { tags: [" "] }, /^body\.tags\.0: /],
    ["51 tags", { tags: Array(51).fill("x") }, /^body\.tags: /],
    ["no certificate", { certificate: undefined }, /^body\.certificate: /],
    ["a fingerprint", { certificate: "sha256:aa" }, /^body\.certificate: must be one certificate/],
    ["a key", { certificate: web.cert + web.key }, /^body\.certificate: contains a private key/],
    ["an expired one", { certificate: expiredWeb.cert }, /^body\.certificate: has expired \(/],
    ["a weak key", { certificate: weak.cert }, /^body\.certificate: has an RSA key of 1024 bits/],
    ["a server's", { certificate: server.cert }, /^body\.certificate: is not a client certificate/],
    ["an unknown CA", { ca_id: "unknown" }, /^body\.ca_id: CA unknown does not exist$/],
    ["a number as CA", { ca_id: 1 }, /^body\.ca_id: /],
    [
      "a foreign CA's",
      { certificate: foreign.cert },
      /^body\.certificate: is not signed by the CA/,
    ],
    [
      "its own",
      { certificate: selfMade.cert },
      /^body\.certificate: is not signed by the CA Root$/,
    ],
  ] as [string, Record<string, unknown>, RegExp][]
) {
  Deno.test(`POST /mtls/agents refuses ${what}`, async () => {
    using app = mtlsApp();
    const ca = await addCa(app, root.cert);
    const body = { hostname: "web-1", certificate: web.cert, ca_id: ca.id, ...change };
    const answer = await app.call("POST", `${MTLS}/agents`, body);
    equal(answer.status, 400);
    match(answer.body.error, error);
    equal((await app.call("GET", `${MTLS}/agents`)).body.total, 0);
  });
}

Deno.test("no agent can be added to an authority that has expired", async () => {
  using app = mtlsApp();
  const sub = await root.issueAuthority({ name: "Sub", to: daysFromNow(1) });
  const leaf = await sub.issue({ name: "x", to: daysFromNow(50) });
  const ca = await addCa(app, sub.cert, "Sub");
  app.clock.advance({ days: 2 });
  const body = { hostname: "x", certificate: leaf.cert, ca_id: ca.id };
  const answer = await app.call("POST", `${MTLS}/agents`, body);
  equal(answer.status, 400);
  match(answer.body.error, /^body\.ca_id: the certificate of the CA Sub has expired/);
});

Deno.test("a certificate belongs to one agent, even after its revocation", async () => {
  using app = mtlsApp();
  const agent = await addAgent(app, { certificate: web.cert });
  const again = () => app.call("POST", `${MTLS}/agents`, { hostname: "x", certificate: web.cert });
  deepEqual([(await again()).status, (await again()).body.error], [
    409,
    `This certificate already belongs to the agent web-1 (${agent.id})`,
  ]);
  const { body: { revoked_at } } = await app.call("DELETE", `${MTLS}/agents/${agent.id}`);
  deepEqual([(await again()).status, (await again()).body.error], [
    409,
    `This certificate belonged to the agent web-1 (${agent.id}) and was revoked at ` +
    `${revoked_at}; issue a new one`,
  ]);
  // The same certificate can also be a certificate authority.
  await addCa(app, root.cert);
  await addAgent(app, { certificate: root.cert });
});

Deno.test("of concurrent requests with one certificate only one succeeds", async () => {
  using app = mtlsApp();
  const ca = await addCa(app, root.cert);
  const body = { hostname: "web-1", certificate: web.cert, ca_id: ca.id };
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => app.call("POST", `${MTLS}/agents`, body)),
  );
  deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409, 409]);
});

Deno.test("an authority is not deleted while an agent of it is added, or the agent is refused", async () => {
  using app = mtlsApp();
  const ca = await addCa(app, root.cert);
  const adding = app.call("POST", `${MTLS}/agents`, {
    hostname: "web-1",
    certificate: web.cert,
    ca_id: ca.id,
  });
  const removed = await app.call("DELETE", `${MTLS}/ca/${ca.id}`);
  const added = await adding;
  // Either can be first, but never both, and never an agent without its authority.
  deepEqual([removed.status, added.status].sort(), added.status === 201 ? [201, 409] : [200, 400]);
});

Deno.test("agents are filtered by enabled, and revoked ones are listed separately", async () => {
  using app = mtlsApp();
  const ids: Record<string, string> = {};
  for (const name of ["on", "off", "gone"]) {
    const { cert } = await root.issue({ name });
    ids[name] = (await addAgent(app, { hostname: name, certificate: cert })).id;
    app.clock.advance({ seconds: 1 });
  }
  await app.call("PUT", `${MTLS}/agents/${ids["off"]}/toggle`, { enabled: false });
  await app.call("DELETE", `${MTLS}/agents/${ids["gone"]}`);
  const listed = async (query: string) => {
    const { status, body } = await app.call("GET", `${MTLS}/agents${query}`);
    return status === 200
      ? [body.agents.map(({ hostname }: { hostname: string }) => hostname).join(), body.total]
      : status;
  };
  deepEqual(await listed(""), ["off,on", 2]);
  deepEqual(await listed("?enabled=true"), ["on", 1]);
  deepEqual(await listed("?enabled=0"), ["off", 1]);
  deepEqual(await listed("?revoked=true"), ["gone", 1]);
  deepEqual(await listed("?revoked=1&enabled=true"), ["", 0]);
  deepEqual(await listed("?revoked=false"), ["off,on", 2]);
  deepEqual(await listed("?limit=1&offset=1"), ["on", 2]);
  for (const query of ["?enabled=yes", "?enabled=", "?revoked=2", "?limit=0", "?limit=501"]) {
    equal(await listed(query), 400);
  }
});

Deno.test("PUT /mtls/agents/:id changes the fields that are given, also those of a revoked agent", async () => {
  using app = mtlsApp();
  const agent = await addAgent(app, { certificate: web.cert, tags: ["a"] });
  const path = `${MTLS}/agents/${agent.id}`;
  app.clock.advance({ seconds: 5 });
  const changed = await app.call("PUT", path, { description: "moved", enabled: false });
  deepEqual([changed.status, changed.body], [200, {
    ...agent,
    description: "moved",
    updated_at: app.clock.now().toISOString(),
  }]);
  await app.call("DELETE", path);
  const noted = await app.call("PUT", path, { hostname: "lost", tags: ["stolen"] });
  deepEqual([noted.status, noted.body.hostname, noted.body.tags], [200, "lost", ["stolen"]]);
  equal((await app.call("PUT", path, { hostname: "a b" })).status, 400);
});

Deno.test("an agent is toggled with and without a body, but not after it was revoked", async () => {
  using app = mtlsApp();
  const agent = await addAgent(app, { certificate: web.cert });
  const path = `${MTLS}/agents/${agent.id}/toggle`;
  const toggle = async (body?: unknown) => {
    const { status, body: { enabled } } = await app.call("PUT", path, body);
    return [status, enabled];
  };
  deepEqual(await toggle(), [200, false]);
  deepEqual(await toggle(), [200, true]);
  deepEqual(await toggle({}), [200, false]);
  deepEqual(await toggle({ enabled: false }), [200, false]);
  deepEqual(await toggle({ enabled: true }), [200, true]);
  equal((await toggle({ enabled: "yes" }))[0], 400);
  const { body: { revoked_at } } = await app.call("DELETE", `${MTLS}/agents/${agent.id}`);
  for (const body of [undefined, { enabled: true }, { enabled: false }]) {
    const refused = await app.call("PUT", path, body);
    deepEqual([refused.status, refused.body.error], [
      409,
      `The agent web-1 (${agent.id}) was revoked at ${revoked_at}`,
    ]);
  }
});

Deno.test("a revocation is permanent, and repeating it changes nothing", async () => {
  using app = mtlsApp();
  const { id } = await addAgent(app, { certificate: web.cert });
  const first = await app.call("DELETE", `${MTLS}/agents/${id}`);
  const revokedAt = app.clock.now().toISOString();
  deepEqual([first.status, first.body], [200, { ok: true, id, revoked_at: revokedAt }]);
  app.clock.advance({ minutes: 5 });
  deepEqual((await app.call("DELETE", `${MTLS}/agents/${id}`)).body, first.body);
  const { body } = await app.call("GET", `${MTLS}/agents/${id}`);
  deepEqual([body.enabled, body.revoked_at], [false, revokedAt]);
});

Deno.test("an unknown agent or authority is 404", async () => {
  using app = mtlsApp();
  for (
    const [method, path, body] of [
      ["DELETE", "ca/x", undefined],
      ["GET", "agents/x", undefined],
      ["PUT", "agents/x", {}],
      ["DELETE", "agents/x", undefined],
      ["PUT", "agents/x/toggle", {}],
    ] as const
  ) equal((await app.call(method, `${MTLS}/${path}`, body)).status, 404, path);
});

Deno.test("mTLS settings enforce nothing by default, and PUT changes only the given settings", async () => {
  using app = mtlsApp();
  const defaults = { enforcement_enabled: false, reject_unknown_certs: true, auto_enroll: false };
  deepEqual((await app.call("GET", `${MTLS}/config`)).body, defaults);
  const changed = { ...defaults, enforcement_enabled: true };
  const { status, body } = await app.call("PUT", `${MTLS}/config`, { enforcement_enabled: true });
  deepEqual([status, body], [200, changed]);
  deepEqual((await app.call("PUT", `${MTLS}/config`, {})).body, changed);
  deepEqual((await app.call("GET", `${MTLS}/config`)).body, changed);
  const all = { enforcement_enabled: false, reject_unknown_certs: false, auto_enroll: true };
  deepEqual((await app.call("PUT", `${MTLS}/config`, all)).body, all);
  equal((await app.call("PUT", `${MTLS}/config`, { auto_enroll: 1 })).status, 400);
});

Deno.test("only admins can read or change the settings of mTLS", async () => {
  using app = mtlsApp();
  for (const path of ["ca", "agents", "agents/x", "config"]) {
    for (const role of ["viewer", "operator"] as const) {
      equal((await app.call("GET", `${MTLS}/${path}`, undefined, { role })).status, 403);
    }
  }
  using unlicensed = testApp({ edition: "pro", config: { mtlsVerifySecret: "x" } });
  const { status, body } = await verify(unlicensed, { secret: "x" });
  deepEqual([status, body.error], [402, "Mutual TLS needs the Enterprise edition (mtls)"]);
});
