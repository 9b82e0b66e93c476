/**
 * Right SAML responses, in the shapes in which identity providers send them, and what is read of
 * them.
 *
 * @module
 */

import { deepEqual, equal, rejects, throws } from "node:assert/strict";
import {
  claimedIssuer,
  readSamlResponse,
  SamlError,
  type SamlExpectations,
  type SamlReason,
  type VerifiedAssertion,
  verifySamlResponse,
} from "../../../../services/enterprise/saml/response.ts";
import {
  ACS_URL,
  createSigningKey,
  IDP_ENTITY_ID,
  ISSUED_AT,
  isWithoutSigner,
  type KeyKind,
  MORE,
  posted,
  type ResponseParts,
  responseXml,
  SHA256,
  type SignatureOptions,
  signatureTemplate,
  signedResponse,
  type SigningKey,
  signXml,
  SP_ENTITY_ID,
} from "../../../helpers/saml_idp.ts";

/** Reads and verifies the value of the form field. */
const verify = async (base64: string, expected: SamlExpectations) =>
  await verifySamlResponse(readSamlResponse(base64), expected);

/** Made once per kind, when the first test needs it. */
const keys = new Map<KeyKind, Promise<SigningKey>>();

function keyOf(kind: KeyKind = "RSA-2048"): Promise<SigningKey> {
  const key = keys.get(kind) ?? createSigningKey(kind);
  keys.set(kind, key);
  return key;
}

function test(name: string, fn: () => void | Promise<void>): void {
  Deno.test({ name, ignore: isWithoutSigner, fn });
}

async function verified(
  xml: string,
  expected: Partial<SamlExpectations> = {},
): Promise<VerifiedAssertion> {
  return await verify(posted(xml), { ...await usualExpectations(), ...expected });
}

const signed = async (
  parts: Partial<ResponseParts> = {},
  { sign = "assertion", ...options }: SignatureOptions & {
    sign?: "assertion" | "response" | "both";
  } = {},
) => await signedResponse({ ...options, key: await keyOf(), sign }, parts);

async function refused(xml: string, reason: SamlReason, expected?: Partial<SamlExpectations>) {
  await rejects(
    verified(xml, expected),
    (error) => error instanceof SamlError && error.reason === reason,
    reason,
  );
}

const minutes = (count: number, ms = 0) => new Date(ISSUED_AT.getTime() + count * 60_000 + ms);

const WS2005 = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims";
const WS2008 = "http://schemas.microsoft.com/ws/2008/06/identity/claims";
const BEARER = "urn:oasis:names:tc:SAML:2.0:cm:bearer";
const FORMAT = "urn:oasis:names:tc:SAML:2.0:attrname-format";
const EMAIL_FORMAT = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress";

const dsSignature = (id: string, prefixes?: string) =>
  signatureTemplate(id, prefixes === undefined ? {} : { prefixes });

/** Entra ID and AD FS: no prefix for assertion and signature, claims with URIs as names. */
const entraShape = () => {
  const signature = dsSignature("_4f6b").replaceAll("<ds:", "<").replaceAll("</ds:", "</")
    .replace("xmlns:ds=", "xmlns=").replace("<X509Data/>", "<X509Data></X509Data>");
  return `<samlp:Response ID="_8e8d" Version="2.0" IssueInstant="2026-05-01T12:00:00.1234567Z"
 Destination="${ACS_URL}" InResponseTo="_request-1"
 xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"><Issuer
 xmlns="urn:oasis:names:tc:SAML:2.0:assertion">https://sts.example.test/0af1/</Issuer>` +
    `<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/>` +
    `</samlp:Status><Assertion ID="_4f6b" IssueInstant="2026-05-01T12:00:00.1234567Z"` +
    ` Version="2.0" xmlns="urn:oasis:names:tc:SAML:2.0:assertion">` +
    `<Issuer>https://sts.example.test/0af1/</Issuer>${signature}<Subject>` +
    `<NameID Format="urn:oasis:names:tc:SAML:2.0:nameid-format:persistent">Wq1tZz</NameID>` +
    `<SubjectConfirmation Method="${BEARER}"><SubjectConfirmationData` +
    ` InResponseTo="_request-1" NotOnOrAfter="2026-05-01T13:00:00.1234567Z"` +
    ` Recipient="${ACS_URL}"/></SubjectConfirmation></Subject>` +
    `<Conditions NotBefore="2026-05-01T11:55:00.1234567Z"` +
    ` NotOnOrAfter="2026-05-01T13:00:00.1234567Z"><AudienceRestriction>` +
    `<Audience>${SP_ENTITY_ID}</Audience></AudienceRestriction></Conditions><AttributeStatement>` +
    `<Attribute Name="http://schemas.microsoft.com/identity/claims/displayname">` +
    `<AttributeValue>Ada &amp; Søn</AttributeValue></Attribute>` +
    `<Attribute Name="${WS2005}/emailaddress"><AttributeValue>ada@example.test</AttributeValue>` +
    `</Attribute><Attribute Name="${WS2008}/groups"><AttributeValue>a</AttributeValue>` +
    `<AttributeValue>b</AttributeValue></Attribute></AttributeStatement>` +
    `<AuthnStatement AuthnInstant="2026-05-01T11:59:00.000Z" SessionIndex="_4f6b"><AuthnContext>` +
    `<AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password` +
    `</AuthnContextClassRef></AuthnContext></AuthnStatement></Assertion></samlp:Response>`;
};

/** Okta: response and assertion both signed, `xs:string` with an inclusive prefix. */
const oktaShape = () =>
  `<?xml version="1.0" encoding="UTF-8"?><saml2p:Response Destination="${ACS_URL}"` +
  ` ID="id50215" IssueInstant="2026-05-01T12:00:00.123Z" Version="2.0"` +
  ` xmlns:saml2p="urn:oasis:names:tc:SAML:2.0:protocol"` +
  ` xmlns:xs="http://www.w3.org/2001/XMLSchema"><saml2:Issuer` +
  ` Format="urn:oasis:names:tc:SAML:2.0:nameid-format:entity"` +
  ` xmlns:saml2="urn:oasis:names:tc:SAML:2.0:assertion">http://www.okta.test/exk1</saml2:Issuer>` +
  `${dsSignature("id50215", "xs")}<saml2p:Status` +
  ` xmlns:saml2p="urn:oasis:names:tc:SAML:2.0:protocol"><saml2p:StatusCode` +
  ` Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></saml2p:Status><saml2:Assertion` +
  ` ID="id50216" IssueInstant="2026-05-01T12:00:00.123Z" Version="2.0"` +
  ` xmlns:saml2="urn:oasis:names:tc:SAML:2.0:assertion"` +
  ` xmlns:xs="http://www.w3.org/2001/XMLSchema"><saml2:Issuer` +
  ` Format="urn:oasis:names:tc:SAML:2.0:nameid-format:entity"` +
  ` xmlns:saml2="urn:oasis:names:tc:SAML:2.0:assertion">http://www.okta.test/exk1</saml2:Issuer>` +
  `${dsSignature("id50216", "xs")}<saml2:Subject` +
  ` xmlns:saml2="urn:oasis:names:tc:SAML:2.0:assertion"><saml2:NameID Format="${EMAIL_FORMAT}">` +
  `ada@example.test</saml2:NameID><saml2:SubjectConfirmation Method="${BEARER}">` +
  `<saml2:SubjectConfirmationData NotOnOrAfter="2026-05-01T12:05:00.123Z"` +
  ` Recipient="${ACS_URL}"/></saml2:SubjectConfirmation></saml2:Subject><saml2:Conditions` +
  ` NotBefore="2026-05-01T11:55:00.123Z" NotOnOrAfter="2026-05-01T12:05:00.123Z"` +
  ` xmlns:saml2="urn:oasis:names:tc:SAML:2.0:assertion"><saml2:AudienceRestriction>` +
  `<saml2:Audience>${SP_ENTITY_ID}</saml2:Audience></saml2:AudienceRestriction>` +
  `</saml2:Conditions><saml2:AuthnStatement AuthnInstant="2026-05-01T12:00:00.123Z"` +
  ` SessionIndex="id1700.99" xmlns:saml2="urn:oasis:names:tc:SAML:2.0:assertion">` +
  `<saml2:AuthnContext><saml2:AuthnContextClassRef>` +
  `urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport` +
  `</saml2:AuthnContextClassRef></saml2:AuthnContext></saml2:AuthnStatement>` +
  `<saml2:AttributeStatement xmlns:saml2="urn:oasis:names:tc:SAML:2.0:assertion">` +
  `<saml2:Attribute Name="displayName" NameFormat="${FORMAT}:unspecified">` +
  `<saml2:AttributeValue xmlns:xs="http://www.w3.org/2001/XMLSchema"` +
  ` xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="xs:string">Ada Lovelace` +
  `</saml2:AttributeValue></saml2:Attribute></saml2:AttributeStatement></saml2:Assertion>` +
  `</saml2p:Response>`;

/** Shibboleth and Keycloak: the response signed, line breaks between elements. */
const shibbolethShape = () =>
  `<?xml version="1.0" encoding="UTF-8"?>
<saml2p:Response xmlns:saml2p="urn:oasis:names:tc:SAML:2.0:protocol" Destination="${ACS_URL}"
    ID="_3c39bc0fe7b13769cab2f6f45eba801b" InResponseTo="_request-1"
    IssueInstant="2026-05-01T12:00:00.000Z" Version="2.0">
    <saml2:Issuer xmlns:saml2="urn:oasis:names:tc:SAML:2.0:assertion">https://idp.example.test/idp/shibboleth</saml2:Issuer>
    ${dsSignature("_3c39bc0fe7b13769cab2f6f45eba801b", "xsd")}
    <saml2p:Status>
        <saml2p:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/>
    </saml2p:Status>
    <saml2:Assertion xmlns:saml2="urn:oasis:names:tc:SAML:2.0:assertion"
        ID="_a75adf55-01d7-40cc-929f-dbd8372ebdfc" IssueInstant="2026-05-01T12:00:00.000Z"
        Version="2.0" xmlns:xsd="http://www.w3.org/2001/XMLSchema">
        <saml2:Issuer>https://idp.example.test/idp/shibboleth</saml2:Issuer>
        <saml2:Subject>
            <saml2:NameID Format="urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
                NameQualifier="https://idp.example.test/idp/shibboleth"
                SPNameQualifier="${SP_ENTITY_ID}">AAdzZWNyZXQx</saml2:NameID>
            <saml2:SubjectConfirmation Method="${BEARER}">
                <saml2:SubjectConfirmationData Address="192.0.2.7" InResponseTo="_request-1"
                    NotOnOrAfter="2026-05-01T12:05:00.000Z" Recipient="${ACS_URL}"/>
            </saml2:SubjectConfirmation>
        </saml2:Subject>
        <saml2:Conditions NotBefore="2026-05-01T12:00:00.000Z"
            NotOnOrAfter="2026-05-01T12:05:00.000Z">
            <saml2:AudienceRestriction>
                <saml2:Audience>${SP_ENTITY_ID}</saml2:Audience>
                <saml2:Audience>https://another.example.test</saml2:Audience>
            </saml2:AudienceRestriction>
            <saml2:OneTimeUse/>
        </saml2:Conditions>
        <saml2:AuthnStatement AuthnInstant="2026-05-01T12:00:00.000Z" SessionIndex="_s1"
            SessionNotOnOrAfter="2026-05-01T20:00:00.000Z">
            <saml2:SubjectLocality Address="192.0.2.7"/>
            <saml2:AuthnContext>
                <saml2:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Kerberos</saml2:AuthnContextClassRef>
            </saml2:AuthnContext>
        </saml2:AuthnStatement>
        <saml2:AttributeStatement>
            <saml2:Attribute FriendlyName="mail" Name="urn:oid:0.9.2342.19200300.100.1.3"
                NameFormat="${FORMAT}:uri">
                <saml2:AttributeValue xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
                    xsi:type="xsd:string">ada@example.test</saml2:AttributeValue>
                <saml2:AttributeValue xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
                    xsi:type="xsd:string">lovelace@example.test</saml2:AttributeValue>
            </saml2:Attribute>
            <saml2:Attribute FriendlyName="displayName" Name="urn:oid:2.16.840.1.113730.3.1.241"
                NameFormat="${FORMAT}:uri">
                <saml2:AttributeValue>
                    Ada Lovelace
                </saml2:AttributeValue>
            </saml2:Attribute>
        </saml2:AttributeStatement>
    </saml2:Assertion>
</saml2p:Response>
`;

test("a response as Entra ID and AD FS write it is taken", async () => {
  const xml = await signXml(entraShape(), await keyOf(), "Assertion");
  equal(claimedIssuer(readSamlResponse(posted(xml))), "https://sts.example.test/0af1/");
  deepEqual(
    await verified(xml, {
      entityId: "https://sts.example.test/0af1/",
      attributeMapping: {
        email: `${WS2005}/emailaddress`,
        name: "http://schemas.microsoft.com/identity/claims/displayname",
      },
    }),
    {
      assertionId: "_4f6b",
      issuer: "https://sts.example.test/0af1/",
      nameId: "Wq1tZz",
      persistentId: "Wq1tZz",
      sessionIndex: "_4f6b",
      inResponseTo: "_request-1",
      email: "ada@example.test",
      name: "Ada & Søn",
      notOnOrAfter: new Date("2026-05-01T13:05:00.123Z"),
      sessionNotOnOrAfter: null,
      isMultiFactor: false,
    },
  );
});

test("a response as Okta writes it is taken, both parts signed", async () => {
  let xml = await signXml(oktaShape(), await keyOf(), "Assertion");
  xml = await signXml(xml, await keyOf(), "Response");
  deepEqual(await verified(xml, { entityId: "http://www.okta.test/exk1" }), {
    assertionId: "id50216",
    issuer: "http://www.okta.test/exk1",
    nameId: "ada@example.test",
    persistentId: null,
    sessionIndex: "id1700.99",
    inResponseTo: null,
    email: "ada@example.test",
    name: "Ada Lovelace",
    notOnOrAfter: new Date("2026-05-01T12:10:00.123Z"),
    sessionNotOnOrAfter: null,
    isMultiFactor: false,
  });
});

test("a response as Shibboleth and Keycloak write it is taken", async () => {
  const xml = await signXml(shibbolethShape(), await keyOf(), "Response");
  deepEqual(
    await verified(xml, {
      entityId: "https://idp.example.test/idp/shibboleth",
      attributeMapping: {
        email: "urn:oid:0.9.2342.19200300.100.1.3",
        name: "urn:oid:2.16.840.1.113730.3.1.241",
      },
    }),
    {
      assertionId: "_a75adf55-01d7-40cc-929f-dbd8372ebdfc",
      issuer: "https://idp.example.test/idp/shibboleth",
      nameId: "AAdzZWNyZXQx",
      persistentId: null,
      sessionIndex: "_s1",
      inResponseTo: "_request-1",
      email: "ada@example.test",
      name: "Ada Lovelace",
      notOnOrAfter: new Date("2026-05-01T12:10:00.000Z"),
      sessionNotOnOrAfter: new Date("2026-05-01T20:00:00.000Z"),
      isMultiFactor: false,
    },
  );
});

test("the three shapes, changed after they were signed, are refused", async () => {
  for (
    const [xml, part, issuer] of [
      [entraShape(), "Assertion", "https://sts.example.test/0af1/"],
      [oktaShape(), "Assertion", "http://www.okta.test/exk1"],
      [shibbolethShape(), "Response", "https://idp.example.test/idp/shibboleth"],
    ] as const
  ) {
    const bare = part === "Assertion"
      // Only one of the two signatures has been made.
      ? xml.replace(/<ds:Signature (?:(?!<\/ds:Signature>).)*"#id50215".*?<\/ds:Signature>/s, "")
      : xml;
    const made = await signXml(bare, await keyOf(), part);
    await verified(made, { entityId: issuer });
    const changed = made.replace(/ada@example\.test/, "eve@example.test");
    await refused(changed, "digest_mismatch", { entityId: issuer });
  }
});

for (
  const [kind, algorithm] of [
    ["RSA-2048", "rsa-sha256"],
    ["RSA-2048", "rsa-sha384"],
    ["RSA-2048", "rsa-sha512"],
    ["P-256", "ecdsa-sha256"],
    ["P-256", "ecdsa-sha512"],
    ["P-384", "ecdsa-sha384"],
    ["P-521", "ecdsa-sha512"],
  ] as const
) {
  test(`a key of the kind ${kind} signs with ${algorithm}`, async () => {
    const key = await keyOf(kind);
    const xml = await signedResponse({ key, algorithm: `${MORE}${algorithm}` });
    equal((await verified(xml, { certificate: key.certificate })).nameId, "ada@example.test");
    const other = await signedResponse({
      key: await createSigningKey(kind),
      algorithm: `${MORE}${algorithm}`,
      keyInfo: "",
    });
    await refused(other, "signature_mismatch", { certificate: key.certificate });
  });
}

for (const digest of [SHA256, `${MORE}sha384`, "http://www.w3.org/2001/04/xmlenc#sha512"]) {
  test(`a digest may be ${digest}`, async () => {
    equal((await verified(await signed({}, { digest }))).nameId, "ada@example.test");
  });
}

test("comments never truncate a value", async () => {
  const nameId = "admin@example.test.evil.test";
  const bySender = await signed({ nameId: "admin@example.test<!-- x -->.evil.test" });
  const byAttacker = (await signed({ nameId })).replace(
    nameId,
    "admin@example.test<!---->.evil.test",
  );
  equal((await verified(bySender)).nameId, nameId);
  equal((await verified(byAttacker)).nameId, nameId);

  const inAttribute = await signed({
    attributes: { mail: "<!--a-->admin@<!--b-->example.test<!--c-->.evil.test" },
  });
  equal((await verified(inAttribute)).email, nameId);

  const inIssuer = (await signed({ issuer: `${IDP_ENTITY_ID}.evil.test` }))
    .replaceAll(`${IDP_ENTITY_ID}.evil.test`, `${IDP_ENTITY_ID}<!---->.evil.test`);
  equal(claimedIssuer(readSamlResponse(posted(inIssuer))), `${IDP_ENTITY_ID}.evil.test`);
  await refused(inIssuer, "issuer");
});

test("references in a name mean what they say, and are read once", async () => {
  const xml = await signed({ nameId: "&#x61;da&amp;lt;&#38;#65;@example.test" });
  equal((await verified(xml)).nameId, "ada&lt;&#65;@example.test");
});

test("what attackers add to the unsigned part is not read", async () => {
  const xml = (await signed()).replace(
    "<samlp:Status>",
    `<saml:Subject><saml:NameID>admin@example.test</saml:NameID></saml:Subject><samlp:Extensions>` +
      `<saml:AttributeStatement><saml:Attribute Name="mail"><saml:AttributeValue>` +
      `admin@example.test</saml:AttributeValue></saml:Attribute></saml:AttributeStatement>` +
      `</samlp:Extensions><samlp:Status>`,
  );
  const { nameId, email } = await verified(xml);
  deepEqual([nameId, email], ["ada@example.test", "ada@example.test"]);
});

test("a certificate in KeyInfo that is not the stored one does no harm to a right signature", async () => {
  const own = /<ds:X509Certificate>.*?<\/ds:X509Certificate>/s;
  const foreign = await signedResponse({ key: await createSigningKey("RSA-2048") });
  const xml = (await signed()).replace(own, own.exec(foreign)![0]);
  equal((await verified(xml)).nameId, "ada@example.test");
});

test("line ends as Java, Windows and forms write them are taken", async () => {
  const xml = await signed();
  const java = xml.replace(
    /(<ds:SignatureValue>)(.*?)(<)/s,
    (_, start, value, end) => start + value.replaceAll("\n", "&#13;\n") + end,
  );
  equal(java === xml, false);
  equal((await verified(java)).nameId, "ada@example.test");
  equal((await verified(xml.replaceAll("\n", "\r\n"))).nameId, "ada@example.test");
  equal((await verified(`\u{FEFF}${xml}`)).nameId, "ada@example.test");

  const broken = posted(xml).replace(/.{76}/g, "$&\r\n");
  const { nameId } = await verify(broken, await usualExpectations());
  equal(nameId, "ada@example.test");
});

test("a second byte order mark is refused", async () => {
  await refused(`\u{FEFF}\u{FEFF}${await signed()}`, "malformed");
});

test("UTF-16 and what is not UTF-8 are refused", async () => {
  const expected = await usualExpectations();
  const xml = await signed();
  const utf16 = new Uint8Array([...xml].flatMap((each) => [each.charCodeAt(0), 0]));
  const latin = new Uint8Array(
    [...xml.replace("ada@", "\u00e9@")].map((each) => each.charCodeAt(0)),
  );
  for (
    const bytes of [
      utf16,
      new Uint8Array([0xff, 0xfe, ...utf16]),
      new Uint8Array([0xfe, 0xff, 0, ...utf16.slice(0, -1)]),
      new Uint8Array([0, ...utf16.slice(0, -1)]),
      latin,
      // A `<` in two bytes that only a careless decoder takes.
      new Uint8Array([...new TextEncoder().encode("<a>"), 0xc0, 0xbc]),
    ]
  ) {
    await rejects(
      verify(posted(bytes), expected),
      (error) => error instanceof SamlError && error.reason === "encoding",
    );
  }
});

test("an assertion holds from 5 minutes before its time until 5 minutes after, at the very edges", async () => {
  const xml = await signed({ notBefore: minutes(10), notOnOrAfter: minutes(20) });
  await refused(xml, "not_yet_valid", { now: minutes(5, -1) });
  equal((await verified(xml, { now: minutes(5) })).nameId, "ada@example.test");
  equal((await verified(xml, { now: minutes(25, -1) })).nameId, "ada@example.test");
  await refused(xml, "expired", { now: minutes(25) });
  equal((await verified(xml, { now: minutes(5) })).notOnOrAfter.getTime(), minutes(25).getTime());
});

test("a session's end counts without skew", async () => {
  const xml = await signed({ sessionNotOnOrAfter: minutes(1) });
  const { sessionNotOnOrAfter } = await verified(xml, { now: minutes(1, -1) });
  deepEqual(sessionNotOnOrAfter, minutes(1));
  await refused(xml, "session_ended", { now: minutes(1) });
});

test("the answered request is what is signed", async () => {
  const both = await signed({ inResponseTo: "_request-1" });
  equal((await verified(both)).inResponseTo, "_request-1");
  // An attacker may take it from the response, but not from the assertion.
  const stripped = both.replace(` InResponseTo="_request-1"`, "");
  equal((await verified(stripped)).inResponseTo, "_request-1");

  const template = responseXml({
    inResponseTo: "_request-1",
    responseSignature: signatureTemplate("_response-1"),
  }).replace(/(NotOnOrAfter="[^"]*") InResponseTo="_request-1"/, "$1");
  const ofResponse = await signXml(template, await keyOf(), "Response");
  equal((await verified(ofResponse)).inResponseTo, "_request-1");
});

test("any one bearer confirmation suffices", async () => {
  const template = responseXml({ assertionSignature: signatureTemplate("_assertion-1") });
  const confirmation =
    /<saml:SubjectConfirmation .*<\/saml:SubjectConfirmation>/.exec(template)![0];
  const other = confirmation.replace(ACS_URL, "https://other.example.test/acs");
  const sender = confirmation.replace("cm:bearer", "cm:sender-vouches");
  const xml = await signXml(
    template.replace(confirmation, other + sender + confirmation),
    await keyOf(),
    "Assertion",
  );
  equal((await verified(xml)).nameId, "ada@example.test");
});

for (
  const { what, parts, expected, email, name = null } of [
    {
      what: "the mapped attributes",
      parts: { attributes: { mail: "a@example.test", displayName: " Ada " } },
      expected: {},
      email: "a@example.test",
      name: "Ada",
    },
    {
      what: "the NameID of the email format, where the mapped attribute is missing",
      parts: {},
      expected: {},
      email: "ada@example.test",
    },
    {
      what: "the NameID of the email format, where the mapped attribute is empty",
      parts: { attributes: { mail: " " } },
      expected: {},
      email: "ada@example.test",
    },
    {
      what: "no email, where the mapped attribute is missing and the NameID is of no format",
      parts: { nameIdFormat: null },
      expected: {},
      email: null,
    },
    {
      what: "the NameID of no format, where nothing is mapped",
      parts: { nameIdFormat: null },
      expected: { attributeMapping: {} },
      email: "ada@example.test",
    },
    {
      what: "the NameID of no format, where the provider's format says that it is an email",
      parts: { nameIdFormat: null },
      expected: { nameIdFormat: EMAIL_FORMAT },
      email: "ada@example.test",
    },
    {
      what: "the NameID that says it is of no format, where nothing is mapped",
      parts: { nameIdFormat: "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified" },
      expected: { attributeMapping: {} },
      email: "ada@example.test",
    },
    {
      what: "no email in a NameID without format that is not an address",
      parts: { nameIdFormat: null, nameId: "ada" },
      expected: { attributeMapping: {} },
      email: null,
    },
    {
      what: "no email in a persistent NameID, whatever it looks like",
      parts: { nameIdFormat: "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent" },
      expected: { attributeMapping: {}, nameIdFormat: EMAIL_FORMAT },
      email: null,
    },
    {
      what: "no attribute that only has the mapped name as its friendly one",
      parts: {
        nameIdFormat: "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
        attributes: { [`other" FriendlyName="mail`]: "admin@example.test" },
      },
      expected: {},
      email: null,
    },
  ] as {
    what: string;
    parts: Partial<ResponseParts>;
    expected: Partial<SamlExpectations>;
    email: string | null;
    name?: string;
  }[]
) {
  test(`who it is: ${what}`, async () => {
    const found = await verified(await signed(parts), expected);
    deepEqual([found.email, found.name], [email, name]);
  });
}

for (
  const [what, values, email] of [
    ["the first of two attributes", "<A N><V>a@b.test</V></A><A N><V>c@d.test</V></A>", "a@b.test"],
    ["an attribute without values, then one with", "<A N></A><A N><V>c@d.test</V></A>", "c@d.test"],
    ["an empty value before another", "<A N><V/><V>c@d.test</V></A>", null],
    ["a nil value", `<A N><V xsi:nil="true">c@d.test</V></A>`, null],
    ["a nil value by number", `<A N><V xsi:nil="1">c@d.test</V></A>`, null],
    ["a value that is not nil", `<A N><V xsi:nil="false">c@d.test</V></A>`, "c@d.test"],
    ["a nil of no vocabulary", `<A N><V nil="true">c@d.test</V></A>`, "c@d.test"],
    ["a type", `<A N><V xsi:type="true">c@d.test</V></A>`, "c@d.test"],
    ["an attribute without a name", "<A><V>a@b.test</V></A><A N><V>c@d.test</V></A>", "c@d.test"],
    ["an attribute of another vocabulary", `<A x:N><V>c@d.test</V></A>`, null],
    ["an attribute within a value", "<A M><V><A N><V>c@d.test</V></A></V></A>", null],
  ] as const
) {
  test(`an attribute's value: ${what}`, async () => {
    const statement = values.replace(/<(\/?)A\b/g, "<$1saml:Attribute")
      .replace(/<(\/?)V\b/g, "<$1saml:AttributeValue")
      .replace(
        / (x:)?([NM])>/g,
        (_, x = "", name) => ` ${x}Name="${name === "N" ? "mail" : "m"}">`,
      );
    const template = responseXml({
      assertionSignature: signatureTemplate("_assertion-1"),
      nameIdFormat: null,
    }).replace(
      "</saml:Assertion>",
      `<saml:AttributeStatement xmlns:x="urn:x"` +
        ` xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">${statement}` +
        `</saml:AttributeStatement></saml:Assertion>`,
    );
    const found = await verified(await signXml(template, await keyOf(), "Assertion"));
    equal(found.email, email);
  });
}

const PERSISTENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent";
const TRANSIENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient";
const UNSPECIFIED = "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified";

for (
  const [what, format, more, isLasting] of [
    ["persistent", PERSISTENT, "", true],
    ["of the provider's format by saying nothing", null, "", true],
    ["of the provider's format by saying so", UNSPECIFIED, "", true],
    ["transient, which the user can request", TRANSIENT, "", false],
    ["an address", EMAIL_FORMAT, "", false],
    ["this provider's and made for us", PERSISTENT, [IDP_ENTITY_ID, SP_ENTITY_ID], true],
    ["another provider's", PERSISTENT, ["https://other.example.test", SP_ENTITY_ID], false],
    ["made for another service", PERSISTENT, [IDP_ENTITY_ID, "https://sp.example.test"], false],
  ] as const
) {
  test(`a name that is ${what} is ${isLasting ? "a" : "no"} lasting one`, async () => {
    const [nameQualifier, spNameQualifier] = more;
    const qualifiers = more === ""
      ? ""
      : ` NameQualifier="${nameQualifier}" SPNameQualifier="${spNameQualifier}"`;
    const template = responseXml({
      assertionSignature: signatureTemplate("_assertion-1"),
      nameId: "n-1",
      nameIdFormat: format,
    }).replace("<saml:NameID", `<saml:NameID${qualifiers}`);
    const { nameId, persistentId } = await verified(
      await signXml(template, await keyOf(), "Assertion"),
      { nameIdFormat: PERSISTENT },
    );
    deepEqual([nameId, persistentId], ["n-1", isLasting ? "n-1" : null]);
  });
}

test("a response need not name its issuer, and may have attributes of XML Schema", async () => {
  const xml = (await signed({ responseIssuer: null })).replace(
    "<samlp:Response ",
    `<samlp:Response xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"` +
      ` xsi:schemaLocation="urn:a a.xsd" type="x" `,
  ).replace(
    "<samlp:Status>",
    `<samlp:Extensions><x xmlns="urn:x" xsi:type="y"/></samlp:Extensions><samlp:Status>`,
  );
  equal((await verified(xml)).nameId, "ada@example.test");
});

test("white space may stand before the response", async () => {
  const xml = (await signed()).replace(/^<\?xml.*?\?>\s*/, "");
  for (const space of [" ", "\t", "\n", "\r"]) {
    equal((await verified(space + xml)).nameId, "ada@example.test");
  }
});

test("names of the language's own are attributes and ids like others", async () => {
  const xml = await signed({
    assertionId: "__proto__",
    attributes: { constructor: "x", hasOwnProperty: "y", mail: "ada@example.test" },
  });
  deepEqual(await verified(xml).then(({ assertionId, email }) => [assertionId, email]), [
    "__proto__",
    "ada@example.test",
  ]);
});

const TYPED_VALUE = `xmlns:xs="http://www.w3.org/2001/XMLSchema"` +
  ` xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="xs:string"`;

for (
  const [what, start, value, end] of [
    [
      "as values with declarations (Okta, Keycloak)",
      `<saml:Attribute Name="groups">`,
      (group: string) => `<saml:AttributeValue ${TYPED_VALUE}>${group}</saml:AttributeValue>`,
      "</saml:Attribute>",
    ],
    [
      "as ids without declarations (Entra, ADFS)",
      `<saml:Attribute Name="http://schemas.microsoft.com/ws/2008/06/identity/claims/groups">`,
      () => `<saml:AttributeValue>${crypto.randomUUID()}</saml:AttributeValue>`,
      "</saml:Attribute>",
    ],
    [
      "as an attribute each (Keycloak without a single attribute)",
      "",
      (group: string) =>
        `<saml:Attribute Name="member" FriendlyName="member"` +
        ` NameFormat="urn:oasis:names:tc:SAML:2.0:attrname-format:basic">` +
        `<saml:AttributeValue ${TYPED_VALUE}>${group}</saml:AttributeValue></saml:Attribute>`,
      "",
    ],
  ] as const
) {
  test(`five hundred groups are taken ${what}`, async () => {
    const groups = Array.from({ length: 500 }, (_, i) => value(`/department/group-${i}`));
    const template = responseXml({
      assertionSignature: signatureTemplate("_assertion-1"),
      responseSignature: signatureTemplate("_response-1"),
      attributes: { mail: "ada@example.test" },
    }).replace("</saml:AttributeStatement>", (tag) => start + groups.join("") + end + tag);
    const ofAssertion = await signXml(template, await keyOf(), "Assertion");
    const xml = await signXml(ofAssertion, await keyOf(), "Response");
    equal((await verified(xml)).email, "ada@example.test");
  });
}

test("the claimed issuer is the assertion's, else the response's", () => {
  const xml = responseXml({ responseIssuer: "https://other.example.test" });
  equal(claimedIssuer(readSamlResponse(posted(xml))), IDP_ENTITY_ID);
  const failed = xml.replace(/<saml:Assertion.*<\/saml:Assertion>/, "");
  equal(claimedIssuer(readSamlResponse(posted(failed))), "https://other.example.test");
  for (
    const [wrong, reason] of [
      [`<!DOCTYPE a>${xml}`, "dtd"],
      [xml.replace(/<saml:Assertion.*<\/saml:Assertion>/, (each) => each + each), "id_duplicate"],
      [failed.replace(/<saml:Issuer>.*<\/saml:Issuer>/, ""), "issuer_missing"],
      ["<a/>", "not_a_response"],
    ] as const
  ) {
    throws(
      () => claimedIssuer(readSamlResponse(posted(wrong))),
      (error) => error instanceof SamlError && error.reason === reason,
      reason,
    );
  }
});

async function usualExpectations(): Promise<SamlExpectations> {
  return {
    entityId: IDP_ENTITY_ID,
    certificate: (await keyOf()).certificate,
    acsUrl: ACS_URL,
    audience: SP_ENTITY_ID,
    now: ISSUED_AT,
    attributeMapping: { email: "mail", name: "displayName" },
  };
}
