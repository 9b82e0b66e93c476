import { deepEqual, equal, match } from "node:assert/strict";
import { selfSigned } from "../../../helpers/certificates.ts";
import { addProvider, createIdp, SSO, ssoLogin, ssoTest } from "../../../helpers/sso.ts";
import { statusWith } from "../../../helpers/accounts.ts";
import type { KeyKind } from "../../../helpers/saml_idp.ts";
import { appWithRights } from "../../../helpers/custom_roles.ts";
import { testApp } from "../../../helpers/test_app.ts";

const PROVIDERS = `${SSO}/providers`;
const NOW = "2026-01-01T12:00:00.000Z";
const idp = await createIdp("https://idp.example.com/metadata");
const other = await createIdp("https://other.example.com/metadata");

const enterprise = () => testApp({ edition: "enterprise", now: NOW });
const minimal = {
  name: "Acme",
  entity_id: idp.entityId,
  sso_url: "https://idp.example.com/sso",
  certificate: idp.certificate,
};

ssoTest("a provider is stored with the defaults of the contract", async () => {
  using app = enterprise();

  const created = await app.call("POST", PROVIDERS, minimal);

  equal(created.status, 201);
  const { id, ...rest } = created.body;
  deepEqual(rest, {
    ...minimal,
    slo_url: null,
    binding: "HTTP-POST",
    name_id_format: null,
    attribute_mapping: {},
    auto_provision: false,
    default_role: "viewer",
    allow_unsolicited: true,
    link_existing: false,
    enabled: true,
    sp_entity_id: `http://longshore.test${SSO}/metadata`,
    acs_url: `http://longshore.test${SSO}/acs`,
    created_at: NOW,
    updated_at: NOW,
  });
  deepEqual((await app.call("GET", `${PROVIDERS}/${id}`)).body, created.body);
  deepEqual((await app.call("GET", PROVIDERS)).body, { providers: [created.body] });
});

ssoTest("providers are listed by name, whatever the case", async () => {
  using app = enterprise();
  await addProvider(app, idp, { name: "Zebra" });
  await addProvider(app, other, { name: "apple" });
  const { body } = await app.call("GET", PROVIDERS);
  deepEqual(body.providers.map(({ name }: { name: string }) => name), ["apple", "Zebra"]);
});

const SOME_PEM = `-----BEGIN CERTIFICATE-----\n${"A".repeat(52_000)}\n-----END CERTIFICATE-----\n`;

for (
  const [wrong, change, error] of [
    ["no name", { name: undefined }, /^body\.name: /],
    ["an empty name", { name: "  " }, /^body\.name: /],
    ["a name of two lines", { name: "a\nb" }, /^body\.name: /],
    ["no entity_id", { entity_id: undefined }, /^body\.entity_id: /],
    ["an entity_id with a space", { entity_id: "a b" }, /^body\.entity_id: /],
    ["an endless entity_id", { entity_id: "x".repeat(1_025) }, /^body\.entity_id: .*1024/],
    [
      "a plain sso_url",
      { sso_url: "http://idp.example.com/sso" },
      /^body\.sso_url: must be an https:\/\/ URL/,
    ],
    [
      "a script as sso_url",
      { sso_url: "javascript:alert(1)" },
      /^body\.sso_url: must be an https:\/\/ URL/,
    ],
    [
      "credentials in the sso_url",
      { sso_url: "https://idp.example.com@evil.example/" },
      /^body\.sso_url: .*credentials/,
    ],
    [
      "a fragment in the sso_url",
      { sso_url: "https://idp.example.com/#" },
      /^body\.sso_url: .*fragment/,
    ],
    [
      "a line end in the sso_url",
      { sso_url: "https://idp.example.com/\r\nSet-Cookie: a=b" },
      /^body\.sso_url: /,
    ],
    [
      "a name that only looks like this machine's",
      { sso_url: "http://127.0.0.1.evil.example/" },
      /^body\.sso_url: /,
    ],
    ["a plain slo_url", { slo_url: "http://idp.example.com" }, /^body\.slo_url/],
    ["no certificate", { certificate: undefined }, /^body\.certificate: /],
    ["no PEM", { certificate: "MIIB" }, /certificate/],
    ["a certificate over 50 KB", { certificate: SOME_PEM }, /51200/],
    ["an unknown binding", { binding: "SOAP" }, /^body\.binding: /],
    ["an unknown role", { default_role: "root" }, /^body\.default_role: /],
    [
      "a format that is not a URN",
      { name_id_format: "email" },
      /^body\.name_id_format: must be a URN/,
    ],
    ["a mapping that is a list", { attribute_mapping: [] }, /^body\.attribute_mapping: /],
    [
      "a mapping to a number",
      { attribute_mapping: { email: 1 } },
      /^body\.attribute_mapping\.email: /,
    ],
    ["a flag as text", { auto_provision: "true" }, /^body\.auto_provision: /],
  ] as const
) {
  ssoTest(`POST and PUT /providers refuse ${wrong}`, async () => {
    using app = enterprise();
    const created = await app.call("POST", PROVIDERS, { ...minimal, ...change });
    equal(created.status, 400);
    match(created.body.error, error);
    if (Object.values(change).includes(undefined as never)) return;

    const { id } = await addProvider(app, idp);
    const changed = await app.call("PUT", `${PROVIDERS}/${id}`, change);
    equal(changed.status, 400);
    match(changed.body.error, error);
  });
}

ssoTest("an identity provider on this host can use plain http", async () => {
  using app = enterprise();
  for (const [n, host] of ["localhost", "127.0.0.1:8080", "[::1]:8080"].entries()) {
    await addProvider(app, { ...idp, entityId: `idp-${n}` }, { sso_url: `http://${host}/sso` });
  }
});

ssoTest("a duplicate entity_id is 409, for new and changed providers", async () => {
  using app = enterprise();
  await addProvider(app, idp);
  const second = await addProvider(app, other);
  const error = `Another identity provider has the entity_id ${idp.entityId}`;

  const again = await app.call("POST", PROVIDERS, minimal);
  deepEqual([again.status, again.body], [409, { error }]);
  const renamed = await app.call("PUT", `${PROVIDERS}/${second.id}`, { entity_id: idp.entityId });
  deepEqual([renamed.status, renamed.body], [409, { error }]);
  const same = await app.call("PUT", `${PROVIDERS}/${second.id}`, { entity_id: other.entityId });
  equal(same.status, 200);
});

ssoTest("a change keeps omitted fields", async () => {
  using app = enterprise();
  const { updated_at: _, ...before } = await addProvider(app, idp, { name_id_format: "urn:a:b" });
  app.clock.advance({ minutes: 1 });

  const { status, body } = await app.call("PUT", `${PROVIDERS}/${before.id}`, {
    name: "Acme 2",
    attribute_mapping: { email: "email" },
    slo_url: null,
    name_id_format: null,
  });

  equal(status, 200);
  deepEqual(body, {
    ...before,
    name: "Acme 2",
    attribute_mapping: { email: "email" },
    name_id_format: null,
    updated_at: "2026-01-01T12:01:00.000Z",
  });
});

ssoTest("the toggle sets the given state, or the opposite", async () => {
  using app = enterprise();
  const { id } = await addProvider(app, idp);
  const toggle = async (body: unknown) =>
    (await app.call("PUT", `${PROVIDERS}/${id}/toggle`, body)).body.enabled;
  equal(await toggle({ enabled: true }), true);
  equal(await toggle({}), false);
  equal(await toggle({ enabled: false }), false);
  equal(await toggle({}), true);
  const wrong = await app.call("PUT", `${PROVIDERS}/${id}/toggle`, { enabled: "no" });
  equal(wrong.status, 400);
});

ssoTest("an unknown provider is 404 everywhere", async () => {
  using app = enterprise();
  for (
    const [method, path, body] of [
      ["GET", "/x", undefined],
      ["PUT", "/x", {}],
      ["PUT", "/x/toggle", {}],
      ["DELETE", "/x", undefined],
    ] as const
  ) {
    const answer = await app.call(method, PROVIDERS + path, body);
    deepEqual([answer.status, answer.body], [404, { error: "Identity provider x does not exist" }]);
  }
});

ssoTest("there are at most 100 providers", async () => {
  using app = enterprise();
  for (let n = 0; n < 100; n++) await addProvider(app, { ...idp, entityId: `idp-${n}` });
  const { status, body } = await app.call("POST", PROVIDERS, minimal);
  deepEqual([status, body], [409, {
    error: "Limit of 100 identity providers reached; delete one first",
  }]);
});

for (
  const { how, act } of [
    { how: "disabled by the toggle", act: ["PUT", "/toggle", { enabled: false }] },
    { how: "disabled by a change", act: ["PUT", "", { enabled: false }] },
    { how: "deleted", act: ["DELETE", "", undefined] },
  ] as const
) {
  ssoTest(
    `the sessions of a provider that is ${how} end at once, those of others stay`,
    async () => {
      using app = enterprise();
      const { id } = await addProvider(app, idp);
      await addProvider(app, other);
      const mine = (await ssoLogin(app, idp, { email: "ada@example.com" })).body;
      const theirs = (await ssoLogin(app, other, { email: "bob@example.com" })).body;

      const [method, path, body] = act;
      equal((await app.call(method, `${PROVIDERS}/${id}${path}`, body)).status, 200);

      equal(await statusWith(app, mine.accessToken), 401);
      const { refreshToken } = mine;
      equal((await app.call("POST", "/auth/refresh", { refreshToken })).status, 401);
      equal(await statusWith(app, theirs.accessToken), 200);
      const { sessions } = (await app.call("GET", `${SSO}/sessions`)).body;
      deepEqual(sessions.map((each: { id: string }) => each.id), [theirs.sessionId]);
    },
  );
}

ssoTest("a provider under another entity_id keeps its users", async () => {
  using app = enterprise();
  const { id } = await addProvider(app, idp);
  const before = await ssoLogin(app, idp);
  const moved = { ...idp, entityId: other.entityId };

  await app.call("PUT", `${PROVIDERS}/${id}`, { entity_id: other.entityId });

  const after = await ssoLogin(app, moved, { issuer: other.entityId });
  equal(after.status, 200, after.body.error);
  equal(after.body.user.id, before.body.user.id);
});

ssoTest("a provider that was deleted and created again finds its users", async () => {
  using app = enterprise();
  const { id } = await addProvider(app, idp);
  const before = await ssoLogin(app, idp);
  await app.call("DELETE", `${PROVIDERS}/${id}`);
  await addProvider(app, idp, { auto_provision: false });
  const after = await ssoLogin(app, idp);
  equal(after.status, 200, after.body.error);
  equal(after.body.user.id, before.body.user.id);
});

ssoTest("a replaced certificate is no longer accepted", async () => {
  using app = enterprise();
  const { id } = await addProvider(app, idp);
  const { cert } = await selfSigned({ name: "new.test" });
  await app.call("PUT", `${PROVIDERS}/${id}`, { certificate: cert });
  equal((await ssoLogin(app, idp)).status, 401);
});

ssoTest(
  "while a provider changes its key, both certificates are accepted and no third",
  async () => {
    using app = enterprise();
    const [first, second, third] = await Promise.all(
      ["P-256", "RSA-2048", "P-256"].map((kind) => createIdp(idp.entityId, kind as KeyKind)),
    );
    const { id } = await addProvider(app, first!);
    equal((await ssoLogin(app, second!)).status, 401);

    const both = first!.certificate + second!.certificate;
    const changed = await app.call("PUT", `${PROVIDERS}/${id}`, { certificate: both });
    equal(changed.body.certificate, both);
    await app.call("PUT", `${PROVIDERS}/${id}`, { name: "Acme Inc." });

    for (const each of [first!, second!]) {
      const { status, body } = await ssoLogin(app, each);
      equal(status, 200, body.error);
    }
    const refused = await ssoLogin(app, third!);
    deepEqual([refused.status, refused.body.error], [
      401,
      "The message is signed with another certificate than the configured one",
    ]);
    await app.call("PUT", `${PROVIDERS}/${id}`, { certificate: second!.certificate });
    deepEqual([(await ssoLogin(app, first!)).status, (await ssoLogin(app, second!)).status], [
      401,
      200,
    ]);
  },
);

/** Metadata of an identity provider with keys for their uses. */
const metadataOf = (entityId: string, ...keys: [use: string | null, pem: string][]) =>
  `<?xml version="1.0" encoding="UTF-8"?>
<md:EntitiesDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:ds="http://www.w3.org/2000/09/xmldsig#">
  <md:EntityDescriptor entityID="https://elsewhere.example.com"/>
  <md:EntityDescriptor entityID="${entityId}">
    <md:SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
      <md:KeyDescriptor use="signing"><ds:KeyInfo/></md:KeyDescriptor>
    </md:SPSSODescriptor>
    <md:IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
      ${
    keys.map(([use, pem]) =>
      `<md:KeyDescriptor${use === null ? "" : ` use="${use}"`}><ds:KeyInfo><ds:X509Data>
        <ds:X509Certificate>${pem.replace(/-----.*?-----/g, "")}</ds:X509Certificate>
      </ds:X509Data></ds:KeyInfo></md:KeyDescriptor>`
    ).join("")
  }
    </md:IDPSSODescriptor>
  </md:EntityDescriptor>
</md:EntitiesDescriptor>`;

ssoTest(
  "metadata as certificate: all signing certificates of the provider are stored",
  async () => {
    using app = enterprise();
    const [next, forEncryption] = [await createIdp(idp.entityId), await createIdp(idp.entityId)];
    const certificate = metadataOf(
      idp.entityId,
      ["signing", idp.certificate],
      ["encryption", forEncryption.certificate],
      [null, next.certificate],
      ["signing", idp.certificate],
    );
    const { id, certificate: stored } = await addProvider(app, { ...idp, certificate });
    equal(stored, idp.certificate + next.certificate);
    for (const each of [idp, next]) equal((await ssoLogin(app, each)).status, 200);
    equal((await ssoLogin(app, forEncryption)).status, 401);

    const renewed = metadataOf(idp.entityId, ["signing", next.certificate]);
    const { body } = await app.call("PUT", `${PROVIDERS}/${id}`, { certificate: renewed });
    equal(body.certificate, next.certificate);
  },
);

for (
  const [what, certificate, error] of [
    ["of another provider", metadataOf("https://b.example.com"), /of another identity provider/],
    ["without a certificate", metadataOf(idp.entityId), /has no signing certificate$/],
    [
      "with encryption only",
      metadataOf(idp.entityId, ["encryption", idp.certificate]),
      /no signing/,
    ],
    ["with a damaged one", metadataOf(idp.entityId, [null, "%"]), /is not base64$/],
    ["with a certificate of rubbish", metadataOf(idp.entityId, [null, "AAAA"]), /is damaged/],
    ["with an entity", `<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>`, /is not XML that can be read$/],
    ["of broken XML", "<a><b></a>", /is not XML that can be read$/],
    [
      "with six keys",
      metadataOf(
        idp.entityId,
        ...await Promise.all(
          Array.from(
            { length: 6 },
            async () => ["signing", (await createIdp("x")).certificate] as [string, string],
          ),
        ),
      ),
      /contains 6 certificates; send at most 5$/,
    ],
  ] as const
) {
  ssoTest(`metadata ${what} is refused`, async () => {
    using app = enterprise();
    const { status, body } = await app.call("POST", PROVIDERS, { ...minimal, certificate });
    equal(status, 400);
    match(body.error, error);
  });
}

ssoTest("providers are for admins, also to read, and for the license", async () => {
  using app = enterprise();
  equal((await app.call("GET", PROVIDERS, undefined, { role: "operator" })).status, 403);
  using ce = testApp();
  equal((await ce.call("GET", PROVIDERS)).status, 402);
});

ssoTest("SERVICE_BASE_URL names this service whatever the request was sent to", async () => {
  using app = testApp({
    edition: "enterprise",
    config: { serviceBaseUrl: "https://ops.example.com/longshore" },
  });
  const { body } = await app.call("POST", PROVIDERS, minimal);
  equal(body.acs_url, `https://ops.example.com/longshore${SSO}/acs`);
  equal(body.sp_entity_id, `https://ops.example.com/longshore${SSO}/metadata`);
});

ssoTest("with sso:write a viewer cannot become another user through a provider", async () => {
  using app = await appWithRights("sso:write", "sso:read");
  const { id } = await addProvider(app, idp, { default_role: "admin", auto_provision: false });
  for (
    const [method, path, body] of [
      ["POST", "", { ...minimal, entity_id: "https://mine.example", default_role: "admin" }],
      ["PUT", `/${id}`, { certificate: other.certificate }],
      ["PUT", `/${id}`, { auto_provision: true }],
      ["PUT", `/${id}`, { link_existing: true }],
      ["PUT", `/${id}`, {}],
    ] as const
  ) {
    const { status, body: answer } = await app.asViewer(method, PROVIDERS + path, body);
    equal(status, 403);
    match(
      answer.error,
      /^The role admin is required to create, change or enable an identity provider$/,
    );
  }
  const toggle = async (enabled: boolean) =>
    (await app.asViewer("PUT", `${PROVIDERS}/${id}/toggle`, { enabled })).status;
  deepEqual([await toggle(false), await toggle(false), await toggle(true)], [200, 200, 403]);
  equal((await app.asViewer("DELETE", `${PROVIDERS}/${id}`)).status, 200);
  equal((await app.asViewer("POST", PROVIDERS, minimal)).status, 403, "nor set it up as its own");
});
