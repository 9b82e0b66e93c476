/**
 * Attacks on SAML responses. Every message begins as one that a real, independent program signed;
 * each is refused for a reason of its own.
 *
 * @module
 */

import { deepEqual, equal, rejects } from "node:assert/strict";
import type { SamlReason } from "../../../../services/enterprise/saml/error.ts";
import {
  readSamlResponse,
  SamlError,
  type SamlExpectations,
  verifySamlResponse,
} from "../../../../services/enterprise/saml/response.ts";
import {
  ACS_URL,
  assertionXml,
  createSigningKey,
  ENVELOPED_SIGNATURE,
  EXCLUSIVE_C14N,
  IDP_ENTITY_ID,
  ISSUED_AT,
  isWithoutSigner,
  MORE,
  posted,
  type ResponseParts,
  responseXml,
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

/** Made once, when the first test needs them. */
let keys: Promise<{ stored: SigningKey; foreign: SigningKey; curve: SigningKey }> | undefined;

const allKeys = () =>
  keys ??= Promise.all([createSigningKey(), createSigningKey(), createSigningKey("P-256")])
    .then(([stored, foreign, curve]) => ({ stored, foreign, curve }));

const signed = async (
  sign: "assertion" | "response" | "both" = "assertion",
  parts: Partial<ResponseParts> = {},
  options: SignatureOptions = {},
) => await signedResponse({ ...options, key: (await allKeys()).stored, sign }, parts);

async function expectations(): Promise<SamlExpectations> {
  return {
    entityId: IDP_ENTITY_ID,
    certificate: (await allKeys()).stored.certificate,
    acsUrl: ACS_URL,
    audience: SP_ENTITY_ID,
    now: ISSUED_AT,
    attributeMapping: { email: "mail", name: "displayName" },
  };
}

interface Attack {
  attack: string;
  reason: SamlReason;
  /** Gives the message as XML, or as the form's value. */
  message: () => Promise<string>;
  /** Other expectations than the usual ones. */
  expected?: Partial<SamlExpectations>;
  isPosted?: true;
}

function tests(attacks: Attack[]): void {
  for (const { attack, reason, message, expected, isPosted } of attacks) {
    Deno.test({
      name: `SAML refuses ${attack}: ${reason}`,
      ignore: isWithoutSigner,
      async fn() {
        const made = await message();
        await rejects(
          verify(isPosted ? made : posted(made), {
            ...await expectations(),
            ...expected,
          }),
          (error) => {
            equal(error instanceof SamlError, true, String(error));
            equal((error as SamlError).reason, reason, `${(error as SamlError).cause ?? error}`);
            return true;
          },
        );
      },
    });
  }
}

/** Replaces exactly one place, so that no attack is one by mistake only. */
function replaced(xml: string, what: string | RegExp, by: string): string {
  const parts = xml.split(what);
  equal(parts.length, 2, `${what} is not there exactly once`);
  return parts.join(by);
}

const DECLARATION = /^<\?xml.*?\?>\s*/;
const SIGNATURE = /<ds:Signature .*?<\/ds:Signature>/s;
const ASSERTION = /<saml:Assertion.*<\/saml:Assertion>/s;
const evil = (xml: string) =>
  xml.replace("ada@example.test", "admin@example.test")
    .replace(`ID="_assertion-1"`, `ID="_evil"`);

const pick = (xml: string, pattern: RegExp) => pattern.exec(xml)![0];

tests([
  // Signatures that are not there or not the provider's.
  {
    attack: "a message that was never signed",
    reason: "signature_missing",
    message: () => Promise.resolve(responseXml()),
  },
  {
    attack: "a message without its signature",
    reason: "signature_missing",
    message: async () => (await signed()).replace(SIGNATURE, ""),
  },
  {
    attack: "a signature without its value",
    reason: "signature_malformed",
    message: async () =>
      (await signed()).replace(/<ds:SignatureValue>.*<\/ds:SignatureValue>/s, ""),
  },
  {
    attack: "a signature with an empty value",
    reason: "signature_value",
    message: async () => (await signed()).replace(/(<ds:SignatureValue>).*?</s, "$1<"),
  },
  {
    attack: "a signature without SignedInfo",
    reason: "signature_malformed",
    message: async () => (await signed()).replace(/<ds:SignedInfo>.*<\/ds:SignedInfo>/s, ""),
  },
  {
    attack: "an empty signature",
    reason: "signature_malformed",
    message: () =>
      Promise.resolve(responseXml({
        assertionSignature: `<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"/>`,
      })),
  },
  {
    attack: "a changed NameID",
    reason: "digest_mismatch",
    message: async () => replaced(await signed(), "ada@", "admin@"),
  },
  {
    attack: "a changed attribute",
    reason: "digest_mismatch",
    message: async () =>
      replaced(
        await signed("response", { attributes: { mail: "ada@example.test" }, nameId: "ada" }),
        "ada@example.test",
        "admin@example.test",
      ),
  },
  {
    attack: "an added attribute",
    reason: "digest_mismatch",
    message: async () =>
      replaced(
        await signed(),
        "</saml:AuthnStatement>",
        `</saml:AuthnStatement><saml:AttributeStatement><saml:Attribute Name="mail">` +
          `<saml:AttributeValue>admin@example.test</saml:AttributeValue></saml:Attribute>` +
          `</saml:AttributeStatement>`,
      ),
  },
  {
    attack: "a changed status in a signed response",
    reason: "digest_mismatch",
    message: async () =>
      replaced(
        await signed("response"),
        `status:Success"/>`,
        `status:Success"/><samlp:StatusMessage>x</samlp:StatusMessage>`,
      ),
  },
  {
    attack: "a changed digest for a changed message",
    reason: "signature_mismatch",
    message: async () => {
      const changed = replaced(await signed(), "ada@", "admin@");
      const other = await signedResponse(
        { key: (await allKeys()).foreign },
        { nameId: "admin@example.test" },
      );
      const digest = /<ds:DigestValue>.*?<\/ds:DigestValue>/;
      return changed.replace(digest, pick(other, digest))
        .replace(/<ds:KeyInfo>.*<\/ds:KeyInfo>/s, "");
    },
  },
  {
    attack: "a foreign key's signature",
    reason: "signature_mismatch",
    message: async () => await signedResponse({ key: (await allKeys()).foreign, keyInfo: "" }),
  },
  {
    attack: "a foreign key's signature with its certificate in KeyInfo",
    reason: "key_info_certificate",
    message: async () => await signedResponse({ key: (await allKeys()).foreign }),
  },
  {
    attack: "a foreign key's signature that claims the stored certificate",
    reason: "signature_mismatch",
    message: async () => {
      const own = /<ds:X509Certificate>.*?<\/ds:X509Certificate>/s;
      const message = await signedResponse({ key: (await allKeys()).foreign });
      return message.replace(own, pick(await signed(), own));
    },
  },
  {
    attack: "a right response around an assertion with a foreign key's signature",
    reason: "key_info_certificate",
    message: async () => {
      const { stored, foreign } = await allKeys();
      const inner = await signXml(
        responseXml({
          assertionSignature: signatureTemplate("_assertion-1"),
          responseSignature: signatureTemplate("_response-1"),
        }),
        foreign,
        "Assertion",
      );
      return await signXml(inner, stored, "Response");
    },
  },
  {
    attack: "a foreign key's response around a rightly signed assertion",
    reason: "key_info_certificate",
    message: async () => {
      const { stored, foreign } = await allKeys();
      const inner = await signXml(
        responseXml({
          assertionSignature: signatureTemplate("_assertion-1"),
          responseSignature: signatureTemplate("_response-1"),
        }),
        stored,
        "Assertion",
      );
      return await signXml(inner, foreign, "Response");
    },
  },
  {
    attack: "an HMAC with the public certificate as its key",
    reason: "signature_hmac",
    message: async () =>
      await signXml(
        responseXml({
          assertionSignature: signatureTemplate("_assertion-1", {
            algorithm: `${MORE}hmac-sha256`,
            keyInfo: "",
          }),
        }),
        new TextEncoder().encode((await allKeys()).stored.certificate),
        "Assertion",
      ),
  },
  {
    attack: "an HMAC with SHA-1",
    reason: "signature_hmac",
    message: async () =>
      await signXml(
        responseXml({
          assertionSignature: signatureTemplate("_assertion-1", {
            algorithm: "http://www.w3.org/2000/09/xmldsig#hmac-sha1",
            keyInfo: "",
          }),
        }),
        new TextEncoder().encode((await allKeys()).stored.certificate),
        "Assertion",
      ),
  },
  {
    attack: "a signature with SHA-1",
    reason: "signature_sha1",
    message: () =>
      signed("assertion", {}, { algorithm: "http://www.w3.org/2000/09/xmldsig#rsa-sha1" }),
  },
  {
    attack: "a signature with MD5",
    reason: "signature_algorithm",
    message: () => signed("assertion", {}, { algorithm: `${MORE}rsa-md5` }),
  },
  {
    attack: "a digest with SHA-1",
    reason: "digest_sha1",
    message: () => signed("assertion", {}, { digest: "http://www.w3.org/2000/09/xmldsig#sha1" }),
  },
  {
    attack: "a digest with MD5",
    reason: "digest_algorithm",
    message: () => signed("assertion", {}, { digest: `${MORE}md5` }),
  },
  {
    attack: "an ECDSA signature where an RSA key is stored",
    reason: "signature_key_type",
    message: async () =>
      await signedResponse({
        key: (await allKeys()).curve,
        algorithm: `${MORE}ecdsa-sha256`,
      }),
  },
  {
    attack: "a message where the stored certificate is none",
    reason: "certificate",
    message: () => signed(),
    expected: { certificate: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" },
  },
]);

// "On Breaking SAML: Be Whoever You Want to Be" (USENIX Security 2012). wording: allow
// Numbered as in SAML Raider.
tests([
  {
    attack: "XSW1, the signed response within the signature of another",
    reason: "response_count",
    message: async () => {
      const original = await signed("response");
      const signature = pick(original, SIGNATURE);
      const bare = original.replace(signature, "").replace(DECLARATION, "");
      return evil(bare).replace(`ID="_response-1"`, `ID="_evil-response"`).replace(
        "</saml:Issuer>",
        `</saml:Issuer>${signature.replace("</ds:Signature>", `${bare}</ds:Signature>`)}`,
      );
    },
  },
  {
    attack: "XSW2, the signed response beside the signature in another",
    reason: "response_count",
    message: async () => {
      const original = await signed("response");
      const signature = pick(original, SIGNATURE);
      const bare = original.replace(signature, "").replace(DECLARATION, "");
      return evil(bare).replace(`ID="_response-1"`, `ID="_evil-response"`)
        .replace("</saml:Issuer>", `</saml:Issuer>${bare}${signature}`);
    },
  },
  {
    attack: "XSW3, another assertion before the signed one",
    reason: "assertion_count",
    message: async () => {
      const original = await signed();
      const assertion = pick(original, ASSERTION);
      const forged = evil(assertion).replace(SIGNATURE, "");
      return original.replace(assertion, `${forged}${assertion}`);
    },
  },
  {
    attack: "XSW4, the signed assertion within another",
    reason: "assertion_count",
    message: async () => {
      const original = await signed();
      const assertion = pick(original, ASSERTION);
      const forged = evil(assertion).replace(SIGNATURE, "");
      return original.replace(
        assertion,
        forged.replace("</saml:Assertion>", `${assertion}</saml:Assertion>`),
      );
    },
  },
  {
    attack: "XSW5, a changed assertion with the signature and the original after it",
    reason: "assertion_count",
    message: async () => {
      const original = await signed();
      const assertion = pick(original, ASSERTION);
      return original.replace(assertion, `${evil(assertion)}${assertion.replace(SIGNATURE, "")}`);
    },
  },
  {
    attack: "XSW6, the original within the signature of a changed assertion",
    reason: "assertion_count",
    message: async () => {
      const original = await signed();
      const assertion = pick(original, ASSERTION);
      const bare = assertion.replace(SIGNATURE, "");
      return original.replace(
        assertion,
        evil(assertion).replace("</ds:Signature>", `${bare}</ds:Signature>`),
      );
    },
  },
  {
    attack: "XSW7, another assertion within Extensions",
    reason: "assertion_count",
    message: async () => {
      const original = await signed();
      const forged = evil(pick(original, ASSERTION)).replace(SIGNATURE, "");
      return replaced(
        original,
        "<samlp:Status>",
        `<samlp:Extensions>${forged}</samlp:Extensions><samlp:Status>`,
      );
    },
  },
  {
    attack: "XSW8, the original within an Object of the signature of a changed assertion",
    reason: "assertion_count",
    message: async () => {
      const original = await signed();
      const assertion = pick(original, ASSERTION);
      const object = `<ds:Object>${assertion.replace(SIGNATURE, "")}</ds:Object>`;
      return original.replace(
        assertion,
        evil(assertion).replace("</ds:Signature>", `${object}</ds:Signature>`),
      );
    },
  },
  {
    attack: "the signed response under another name, within another",
    reason: "assertion_count",
    message: async () => {
      const original = stripped(await signed()).replaceAll("samlp:Response", "samlp:Wrapped");
      return replaced(
        responseXml({ responseId: "_evil-response", assertionId: "_evil", nameId: "admin" }),
        "<samlp:Status>",
        `<samlp:Extensions>${original}</samlp:Extensions><samlp:Status>`,
      );
    },
  },
  {
    attack: "an id that occurs twice",
    reason: "id_duplicate",
    message: async () => {
      const original = await signed();
      const assertion = pick(original, ASSERTION);
      const forged = assertion.replace("ada@", "admin@").replace(SIGNATURE, "");
      return original.replace(assertion, `${forged}${assertion}`);
    },
  },
  ...["Id", "id", "xml:id", "AssertionID", "saml:ID"].map((name): Attack => ({
    attack: `the signed id once more as ${name}`,
    reason: "id_duplicate",
    message: async () =>
      replaced(await signed(), "<samlp:Status>", `<samlp:Status ${name}="_assertion-1">`),
  })),
  {
    attack: "an assertion with an id of another name besides",
    reason: "id_variant",
    message: () =>
      Promise.resolve(
        responseXml().replace(`ID="_assertion-1"`, `ID="_assertion-1" Id="_other"`),
      ),
  },
  {
    attack: "an assertion whose only id is xml:id",
    reason: "id_variant",
    message: () =>
      Promise.resolve(responseXml().replace(`ID="_assertion-1"`, `xml:id="_assertion-1"`)),
  },
  {
    attack: "an assertion without an id",
    reason: "id_missing",
    message: () => Promise.resolve(responseXml().replace(` ID="_assertion-1"`, "")),
  },
  {
    attack: "a response without an id",
    reason: "id_missing",
    message: () => Promise.resolve(responseXml().replace(` ID="_response-1"`, "")),
  },
  {
    attack: "an id that is a query",
    reason: "id_malformed",
    message: () => Promise.resolve(responseXml().replace(`ID="_assertion-1"`, `ID="a' or '1'='1"`)),
  },
  {
    attack: "two assertions that both are rightly signed",
    reason: "assertion_count",
    message: async () => {
      const first = await signed();
      const second = await signed("assertion", { assertionId: "_assertion-2", nameId: "admin" });
      return first.replace(ASSERTION, (each) => each + pick(second, ASSERTION));
    },
  },
  {
    attack: "a second assertion in no namespace",
    reason: "assertion_count",
    message: async () =>
      replaced(
        await signed(),
        "<samlp:Status>",
        `<Assertion ID="_evil"><Subject><NameID>admin</NameID></Subject></Assertion><samlp:Status>`,
      ),
  },
  {
    attack: "the only assertion in another namespace",
    reason: "assertion_namespace",
    message: () =>
      Promise.resolve(
        responseXml().replace(
          `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"`,
          `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:1.0:assertion"`,
        ),
      ),
  },
  {
    attack: "the only assertion within Extensions",
    reason: "assertion_place",
    message: async () =>
      (await signed()).replace(ASSERTION, (each) => `<samlp:Extensions>${each}</samlp:Extensions>`),
  },
  {
    attack: "another assertion within Advice of the signed one",
    reason: "assertion_count",
    message: async () =>
      replaced(
        await signed(),
        "<saml:AuthnStatement",
        `<saml:Advice>${
          assertionXml({ assertionId: "_evil", nameId: "admin" })
        }</saml:Advice><saml:AuthnStatement`,
      ),
  },
  {
    attack: "another assertion within an Object of the signature",
    reason: "assertion_count",
    message: async () =>
      replaced(
        await signed(),
        "</ds:Signature>",
        `<ds:Object>${
          assertionXml({ assertionId: "_evil", nameId: "admin" })
        }</ds:Object></ds:Signature>`,
      ),
  },
  {
    attack: "an Object in the signature, whatever it holds",
    reason: "signature_object",
    message: async () =>
      replaced(await signed(), "</ds:Signature>", "<ds:Object>x</ds:Object></ds:Signature>"),
  },
  {
    attack: "an encrypted assertion",
    reason: "assertion_encrypted",
    message: async () =>
      (await signed()).replace(
        ASSERTION,
        (each) => `<saml:EncryptedAssertion>${each}</saml:EncryptedAssertion>`,
      ),
  },
  {
    attack: "an encrypted name identifier",
    reason: "encrypted",
    message: async () =>
      (await signed()).replace(/<saml:NameID.*<\/saml:NameID>/, "<saml:EncryptedID/>"),
  },
  {
    attack: "an encrypted name identifier to come",
    reason: "encrypted",
    message: async () =>
      replaced(await signed(), "<samlp:Status>", "<saml:NewEncryptedID/><samlp:Status>"),
  },
  {
    attack: "another message than a response",
    reason: "not_a_response",
    message: async () => (await signed()).replaceAll("samlp:Response", "samlp:LogoutResponse"),
  },
  {
    attack: "a response in another namespace",
    reason: "not_a_response",
    message: async () =>
      replaced(
        await signed(),
        `"urn:oasis:names:tc:SAML:2.0:protocol"`,
        `"urn:oasis:names:tc:SAML:1.0:protocol"`,
      ),
  },
  {
    attack: "a replaced type",
    reason: "xsi_type",
    message: async () =>
      replaced(
        await signed(),
        "<saml:Subject>",
        `<saml:Subject xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="x">`,
      ),
  },
  {
    attack: "a replaced type of the response",
    reason: "xsi_type",
    message: async () =>
      replaced(
        await signed(),
        "<samlp:Status>",
        `<samlp:Status xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="x">`,
      ),
  },
  ...[
    ["StatusDetail", "<samlp:StatusDetail>", "</samlp:StatusDetail>"],
    ["an attribute's value", "<saml:AttributeValue>", "</saml:AttributeValue>"],
    [
      "SubjectConfirmationData",
      "<saml:SubjectConfirmationData>",
      "</saml:SubjectConfirmationData>",
    ],
    ["KeyInfo", "<ds:KeyInfo xmlns:ds='http://www.w3.org/2000/09/xmldsig#'>", "</ds:KeyInfo>"],
    ["another vocabulary", "<x:Envelope xmlns:x='urn:x'>", "</x:Envelope>"],
  ].flatMap(([where, start, end]): Attack[] => [
    {
      attack: `the signed assertion within ${where}, another in its place`,
      reason: "assertion_count",
      message: async () => {
        const original = await signed();
        const assertion = pick(original, ASSERTION);
        const forged = evil(assertion).replace(SIGNATURE, "");
        return replaced(
          original.replace(assertion, () => forged),
          "<samlp:Status>",
          "<samlp:Status>" + start + assertion + end,
        );
      },
    },
    {
      attack: `the signed response within ${where} of another`,
      reason: "response_count",
      message: async () => {
        const original = stripped(await signed("response"));
        return evil(original).replace(SIGNATURE, "").replace(
          `ID="_response-1"`,
          `ID="_evil-response"`,
        )
          .replace("<samlp:Status>", () => "<samlp:Status>" + start + original + end);
      },
    },
  ]),
  {
    attack: "a prefix that means something else within the signed assertion",
    reason: "digest_mismatch",
    message: async () =>
      replaced(
        await signed(),
        "<saml:Subject>",
        `<saml:Subject xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" xmlns="urn:x"><NameID>admin</NameID>`,
      ),
  },
  {
    attack: "a signature in another namespace",
    reason: "signature_namespace",
    message: async () =>
      replaced(
        await signed("assertion", {}, { keyInfo: "" }),
        `"http://www.w3.org/2000/09/xmldsig#"`,
        `"http://www.w3.org/2000/09/xmldsig"`,
      ),
  },
  {
    attack: "a signature in something else than it signs",
    reason: "signature_place",
    message: async () => {
      const original = await signed();
      const signature = pick(original, SIGNATURE);
      return original.replace(signature, "").replace(
        "<samlp:Status>",
        `<samlp:Status>${signature}`,
      );
    },
  },
  {
    attack: "the assertion's signature in the response",
    reason: "reference_elsewhere",
    message: async () => {
      const original = await signed();
      const signature = pick(original, SIGNATURE);
      return original.replace(signature, "").replace(
        "<samlp:Status>",
        `${signature}<samlp:Status>`,
      );
    },
  },
  {
    attack: "the response's signature in the assertion",
    reason: "reference_elsewhere",
    message: async () => {
      const original = await signed("response");
      const signature = pick(original, SIGNATURE);
      return original.replace(signature, "")
        .replace("<saml:Subject>", `${signature}<saml:Subject>`);
    },
  },
  {
    attack: "two signatures of one assertion",
    reason: "signature_count",
    message: async () => (await signed()).replace(SIGNATURE, (each) => each + each),
  },
]);

const enveloped = `<ds:Transform Algorithm="${ENVELOPED_SIGNATURE}"/>`;
const exclusive = `<ds:Transform Algorithm="${EXCLUSIVE_C14N}"/>`;

tests([
  {
    attack: "a reference to the whole document",
    reason: "reference_empty",
    message: () => signed("response", {}, { uri: "" }),
  },
  {
    attack: "a reference without URI",
    reason: "reference_empty",
    message: async () => replaced(await signed(), ` URI="#_assertion-1"`, ""),
  },
  {
    attack: "a reference to an XPointer",
    reason: "reference_foreign",
    message: () => signed("response", {}, { uri: "#xpointer(/)" }),
  },
  {
    attack: "a reference to the id by XPointer",
    reason: "reference_foreign",
    message: () => signed("assertion", {}, { uri: "#xpointer(id('_assertion-1'))" }),
  },
  ...["https://evil.example.test/a.xml", "file:///etc/hostname", "_assertion-1"].map(
    (uri): Attack => ({
      attack: `a reference to ${uri}`,
      reason: "reference_foreign",
      message: async () => replaced(await signed(), `URI="#_assertion-1"`, `URI="${uri}"`),
    }),
  ),
  {
    attack: "a second reference",
    reason: "reference_count",
    message: async () =>
      (await signed()).replace(/<ds:Reference .*<\/ds:Reference>/s, (each) => each + each),
  },
  {
    attack: "no reference",
    reason: "reference_count",
    message: async () => (await signed()).replace(/<ds:Reference .*<\/ds:Reference>/s, ""),
  },
  {
    attack: "a Manifest instead of the reference",
    reason: "reference_count",
    message: async () =>
      (await signed()).replace(
        /<ds:Reference .*<\/ds:Reference>/s,
        (each) => `<ds:Manifest>${each}</ds:Manifest>`,
      ),
  },
  {
    attack: "a transform that selects nothing",
    reason: "transform_algorithm",
    message: () =>
      signed("assertion", {}, {
        transforms: `${enveloped}<ds:Transform ` +
          `Algorithm="http://www.w3.org/TR/1999/REC-xpath-19991116"><ds:XPath>false()</ds:XPath>` +
          `</ds:Transform>${exclusive}`,
      }),
  },
  {
    attack: "a transform by XPath filter",
    reason: "transform_algorithm",
    message: async () =>
      replaced(
        await signed(),
        enveloped,
        `${enveloped}<ds:Transform Algorithm="http://www.w3.org/2002/06/xmldsig-filter2"/>`,
      ),
  },
  {
    attack: "a transform by base64",
    reason: "transform_algorithm",
    message: async () =>
      replaced(
        await signed(),
        enveloped,
        `${enveloped}<ds:Transform Algorithm="http://www.w3.org/2000/09/xmldsig#base64"/>`,
      ),
  },
  {
    attack: "XSLT",
    reason: "transform_xslt",
    message: async () =>
      replaced(
        await signed(),
        enveloped,
        `${enveloped}<ds:Transform Algorithm="http://www.w3.org/TR/1999/REC-xslt-19991116">` +
          `<xsl:stylesheet xmlns:xsl="http://www.w3.org/1999/XSL/Transform"/></ds:Transform>`,
      ),
  },
  {
    attack: "a known transform twice",
    reason: "transform_list",
    message: () => signed("assertion", {}, { transforms: enveloped + exclusive + exclusive }),
  },
  {
    attack: "the transforms in the other order",
    reason: "transform_list",
    message: async () =>
      replaced(await signed(), `${enveloped}${exclusive}`, exclusive + enveloped),
  },
  {
    attack: "one transform only",
    reason: "transform_list",
    message: () => signed("assertion", {}, { transforms: enveloped }),
  },
  {
    attack: "no transforms",
    reason: "transform_list",
    message: () => signed("assertion", {}, { transforms: "" }),
  },
  ...[
    "http://www.w3.org/TR/2001/REC-xml-c14n-20010315",
    "http://www.w3.org/TR/2001/REC-xml-c14n-20010315#WithComments",
    "http://www.w3.org/2006/12/xml-c14n11",
    `${EXCLUSIVE_C14N}WithComments`,
  ].flatMap((algorithm): Attack[] => [
    {
      attack: `a signature canonicalized by ${algorithm}`,
      reason: "canonicalization_algorithm",
      message: () => signed("assertion", {}, { canonicalization: algorithm }),
    },
    {
      attack: `an assertion canonicalized by ${algorithm}`,
      reason: "transform_algorithm",
      message: () =>
        signed("assertion", {}, {
          transforms: `${enveloped}<ds:Transform Algorithm="${algorithm}"/>`,
        }),
    },
  ]),
  {
    attack: "an unknown canonicalization",
    reason: "canonicalization_algorithm",
    message: async () =>
      replaced(
        await signed(),
        `CanonicalizationMethod Algorithm="${EXCLUSIVE_C14N}"`,
        `CanonicalizationMethod Algorithm="urn:example:none"`,
      ),
  },
  {
    attack: "a comment in DigestValue",
    reason: "signature_comment",
    message: async () =>
      replaced(await signed(), "<ds:DigestValue>", "<ds:DigestValue><!--AAAA-->"),
  },
  {
    attack: "a digest that a comment hides",
    reason: "signature_comment",
    message: async () =>
      (await signed()).replace(
        /<ds:DigestValue>(.*?)<\/ds:DigestValue>/,
        `<ds:DigestValue><!--AAAA-->$1</ds:DigestValue>`,
      ),
  },
  {
    attack: "a comment in SignatureValue",
    reason: "signature_comment",
    message: async () => (await signed()).replace(/(<ds:SignatureValue>.{10})/s, "$1<!--x-->"),
  },
  {
    attack: "a comment in SignedInfo",
    reason: "signature_comment",
    message: async () => replaced(await signed(), "<ds:SignedInfo>", "<ds:SignedInfo><!--x-->"),
  },
  {
    attack: "a CDATA section in DigestValue",
    reason: "cdata",
    message: async () =>
      (await signed()).replace(/<ds:DigestValue>(.*?)</, "<ds:DigestValue><![CDATA[$1]]><"),
  },
  {
    attack: "a processing instruction in SignatureValue",
    reason: "processing_instruction",
    message: async () => (await signed()).replace(/(<ds:SignatureValue>.{10})/s, "$1<?x y?>"),
  },
  {
    attack: "a character reference in DigestValue",
    reason: "signature_character_reference",
    message: async () =>
      (await signed()).replace(
        /<ds:DigestValue>(.)/,
        (_, first) => `<ds:DigestValue>&#${first.charCodeAt(0)};`,
      ),
  },
  {
    attack: "a character reference in SignatureValue",
    reason: "signature_character_reference",
    message: async () =>
      (await signed()).replace(
        /<ds:SignatureValue>(.)/s,
        (_, first) => `<ds:SignatureValue>&#x${first.charCodeAt(0).toString(16)};`,
      ),
  },
  {
    attack: "an element in DigestValue",
    reason: "digest_value",
    message: async () =>
      (await signed()).replace(/<ds:DigestValue>(.*?)</, "<ds:DigestValue><ds:X>$1</ds:X><"),
  },
  {
    attack: "a second DigestValue",
    reason: "signature_malformed",
    message: async () =>
      (await signed()).replace(/<ds:DigestValue>.*?<\/ds:DigestValue>/, (each) => each + each),
  },
  {
    attack: "a shortened digest",
    reason: "digest_value",
    message: async () => (await signed()).replace(/<ds:DigestValue>.*?</, "<ds:DigestValue>AAAA<"),
  },
  {
    attack: "a digest that is not base64",
    reason: "digest_value",
    message: async () => (await signed()).replace(/(<ds:DigestValue>.*?)=</, "$1<"),
  },
  {
    attack: "a length of an HMAC",
    reason: "signature_malformed",
    message: async () =>
      replaced(
        await signed(),
        `<ds:SignatureMethod Algorithm="${MORE}rsa-sha256"/>`,
        `<ds:SignatureMethod Algorithm="${MORE}rsa-sha256">` +
          `<ds:HMACOutputLength>1</ds:HMACOutputLength></ds:SignatureMethod>`,
      ),
  },
  {
    attack: "a SignedInfo without its canonicalization",
    reason: "signature_malformed",
    message: async () =>
      (await signed()).replace(/<ds:CanonicalizationMethod[^>]*>/, "<ds:KeyName>x</ds:KeyName>"),
  },
  {
    attack: "a SignedInfo with a part more",
    reason: "signature_malformed",
    message: async () => replaced(await signed(), "</ds:SignedInfo>", "<ds:X/></ds:SignedInfo>"),
  },
  {
    attack: "a canonicalization with something else than prefixes",
    reason: "signature_malformed",
    message: async () =>
      (await signed()).replace(
        /(<ds:CanonicalizationMethod[^>]*)\/>/,
        "$1><ds:X/></ds:CanonicalizationMethod>",
      ),
  },
  {
    attack: "a transform under another name",
    reason: "signature_malformed",
    message: async () =>
      replaced(await signed(), exclusive, exclusive.replace("ds:Transform", "ds:Transformed")),
  },
  {
    attack: "a transform with something in it",
    reason: "signature_malformed",
    message: async () =>
      replaced(
        await signed(),
        enveloped,
        enveloped.replace("/>", "><ds:XPath>x</ds:XPath></ds:Transform>"),
      ),
  },
  {
    attack: "a digest method with something in it",
    reason: "signature_malformed",
    message: async () =>
      (await signed()).replace(/(<ds:DigestMethod[^>]*)\/>/, "$1><ds:X/></ds:DigestMethod>"),
  },
  {
    attack: "a signature that is longer than any key's",
    reason: "signature_value",
    message: async () =>
      (await signed()).replace(
        /(<ds:SignatureValue>).*?</s,
        `$1${new Uint8Array(513).toBase64()}<`,
      ),
  },
  {
    attack: "a text between the parts of SignedInfo",
    reason: "signature_malformed",
    message: async () => replaced(await signed(), "<ds:SignedInfo>", "<ds:SignedInfo>x"),
  },
  {
    attack: "a second KeyInfo",
    reason: "signature_malformed",
    message: async () => (await signed()).replace(/<ds:KeyInfo>.*<\/ds:KeyInfo>/s, (it) => it + it),
  },
  ...["KeyInfo", "SignatureMethod", "Transforms", "DigestMethod", "DigestValue"].map(
    (name): Attack => ({
      attack: `a ${name} under another name`,
      reason: "signature_malformed",
      message: async () => (await signed()).replaceAll(`ds:${name}`, `ds:Other${name}`),
    }),
  ),
  {
    attack: "a text between the parts of the reference",
    reason: "signature_malformed",
    message: async () => replaced(await signed(), "<ds:Transforms>", "x<ds:Transforms>"),
  },
  {
    attack: "two lists of prefixes",
    reason: "signature_malformed",
    message: async () =>
      (await signed("assertion", {}, { prefixes: "saml" }))
        .replace(/<ec:InclusiveNamespaces .*?\/>/s, (each) => each + each),
  },
  {
    attack: "a list of prefixes with something in it",
    reason: "signature_malformed",
    message: async () =>
      (await signed("assertion", {}, { prefixes: "saml" }))
        .replace(/(<ec:InclusiveNamespaces .*?)\/>/s, "$1><ds:X/></ec:InclusiveNamespaces>"),
  },
  {
    attack: "exclusive canonicalization with something else than prefixes",
    reason: "signature_malformed",
    message: async () =>
      replaced(
        await signed(),
        exclusive,
        exclusive.replace("/>", "><ds:XPath>x</ds:XPath></ds:Transform>"),
      ),
  },
  ...[enveloped, exclusive].map((transform): Attack => ({
    attack: `two of the same: ${transform.slice(24, -3)}`,
    reason: "transform_list",
    message: async () =>
      replaced(await signed(), `${enveloped}${exclusive}`, transform + transform),
  })),
  {
    attack: "a signature of more than 100 elements",
    reason: "signature_malformed",
    message: async () =>
      replaced(await signed(), "</ds:KeyInfo>", `${"<ds:KeyName/>".repeat(90)}</ds:KeyInfo>`),
  },
  {
    attack: "two SignedInfo",
    reason: "signature_malformed",
    message: async () =>
      (await signed()).replace(/<ds:SignedInfo>.*<\/ds:SignedInfo>/s, (each) => each + each),
  },
  {
    attack: "one signature as that of the response and that of the assertion",
    reason: "reference_elsewhere",
    message: async () => {
      const original = await signed();
      return original.replace("<samlp:Status>", `${pick(original, SIGNATURE)}<samlp:Status>`);
    },
  },
]);

tests([
  {
    attack: "a CDATA section in NameID",
    reason: "cdata",
    message: () => signed("assertion", { nameId: "ada@<![CDATA[example.test]]>" }),
  },
  {
    attack: "a processing instruction in NameID",
    reason: "processing_instruction",
    message: () => signed("assertion", { nameId: "admin@example.test<?x?>.evil.test" }),
  },
  {
    attack: "an element in NameID",
    reason: "name_id",
    message: () => signed("assertion", { nameId: "admin@example.test<saml:X/>.evil.test" }),
  },
  {
    attack: "an element in a mapped attribute",
    reason: "attribute_value",
    message: () =>
      signed("assertion", { attributes: { mail: "admin@example.test<x/>.evil.test" } }),
  },
  {
    attack: "a control character in NameID",
    reason: "name_id",
    message: () => signed("assertion", { nameId: "ada@example.test&#10;admin" }),
  },
  {
    attack: "a control character in a mapped attribute",
    reason: "attribute_value",
    message: () => signed("assertion", { attributes: { mail: "ada@example.test&#10;admin" } }),
  },
  {
    attack: "a name identifier of 1 025 characters",
    reason: "name_id",
    message: () => signed("assertion", { nameId: "x".repeat(1_025) }),
  },
  {
    attack: "an issuer's name of 1 025 characters",
    reason: "assertion_malformed",
    message: () => signed("assertion", { issuer: "x".repeat(1_025), responseIssuer: null }),
  },
  {
    attack: "a comment that was added to a signed value's end, with more text",
    reason: "digest_mismatch",
    message: async () => replaced(await signed(), "ada@example.test", "ada@example.test<!---->.x"),
  },
  {
    attack: "a document type definition",
    reason: "dtd",
    message: async () => `<!DOCTYPE Response>${stripped(await signed())}`,
  },
  {
    attack: "a document type definition in small letters",
    reason: "dtd",
    message: async () => `<!doctype Response>${stripped(await signed())}`,
  },
  {
    attack: "an external entity",
    reason: "dtd",
    message: async () =>
      `<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>` +
      replaced(stripped(await signed()), "ada@", "&x;"),
  },
  {
    attack: "an entity that was never defined",
    reason: "entity",
    message: async () => replaced(await signed(), "ada@", "&x;"),
  },
  {
    attack: "an entity of HTML",
    reason: "entity",
    message: async () => replaced(await signed(), "ada@", "&nbsp;"),
  },
  {
    attack: "entities that multiply",
    reason: "dtd",
    message: () => {
      const levels = Array.from(
        { length: 9 },
        (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`,
      );
      return Promise.resolve(
        `<!DOCTYPE r [<!ENTITY l0 "lol">${levels.join("")}]>` +
          responseXml({ nameId: "&l9;" }),
      );
    },
  },
  {
    attack: "a flood of character references",
    reason: "too_many_references",
    message: () => Promise.resolve(responseXml({ nameId: "&#65;".repeat(1_001) })),
  },
  {
    attack: "a flood of references in attributes",
    reason: "too_many_references",
    message: () => Promise.resolve(responseXml({ sessionIndex: "&amp;".repeat(1_001) })),
  },
  {
    attack: "a processing instruction before the response",
    reason: "processing_instruction",
    message: async () => `<?xml-stylesheet href="x"?>${stripped(await signed())}`,
  },
  {
    attack: "a second XML declaration",
    reason: "encoding",
    message: async () => `<?xml version="1.0"?>${await signed()}`,
  },
  {
    attack: "another encoding's declaration",
    reason: "encoding",
    message: async () => `<?xml version="1.0" encoding="UTF-7"?>${stripped(await signed())}`,
  },
  {
    attack: "XML 1.1",
    reason: "encoding",
    message: async () => `<?xml version="1.1"?>${stripped(await signed())}`,
  },
  {
    attack: "a NUL",
    reason: "character",
    message: async () => replaced(await signed(), "ada@example.test", "ada@example.test\0.x"),
  },
  {
    attack: "a NUL as a reference",
    reason: "character",
    message: async () => replaced(await signed(), "ada@", "&#0;ada@"),
  },
  {
    attack: "a line separator that parsers disagree about",
    reason: "character",
    message: async () => replaced(await signed(), "ada@", "\u2028ada@"),
  },
  {
    attack: "a megabyte",
    reason: "too_large",
    message: () => Promise.resolve(responseXml({ sessionIndex: "x".repeat(1024 * 1024) })),
  },
  {
    attack: "a message just over 256 KiB",
    reason: "too_large",
    message: () => {
      const rest = responseXml({ sessionIndex: "" }).length;
      return Promise.resolve(responseXml({ sessionIndex: "x".repeat(256 * 1024 - rest + 1) }));
    },
  },
  {
    attack: "deep nesting",
    reason: "too_deep",
    message: () =>
      Promise.resolve(responseXml({ nameId: `${"<a>".repeat(65)}${"</a>".repeat(65)}` })),
  },
  {
    attack: "very deep nesting that never ends",
    reason: "too_deep",
    message: () => Promise.resolve("<a>".repeat(80_000)),
  },
  {
    attack: "a flood of elements",
    reason: "too_many_nodes",
    message: () => Promise.resolve(responseXml({ nameId: "<a/>".repeat(5_001) })),
  },
  {
    attack: "a flood of comments",
    reason: "too_many_nodes",
    message: () => Promise.resolve(responseXml({ nameId: "<!---->".repeat(101) })),
  },
  {
    // The end tag of each name is looked for in all of the text.
    attack: "a flood of names",
    reason: "too_many_nodes",
    message: () =>
      Promise.resolve(responseXml({
        nameId: Array.from({ length: 201 }, (_, i) => `<a${i}></a${i}>`).join(""),
      })),
  },
  {
    attack: "a flood of prefixes in one place",
    reason: "too_many_nodes",
    message: () => {
      const prefixes = Array.from({ length: 101 }, (_, i) => ` xmlns:a${i}="b"`);
      return Promise.resolve(responseXml({ nameId: `<a${prefixes.join("")}/>` }));
    },
  },
  {
    attack: "a flood of prefixes one within another",
    reason: "too_many_nodes",
    message: () => {
      const open = Array.from({ length: 50 }, (_, i) => `<a xmlns:b${i}="c" xmlns:d${i}="e">`);
      return Promise.resolve(responseXml({ nameId: open.join("") + "</a>".repeat(50) }));
    },
  },
  {
    attack: "a name that the library's parser stumbles over",
    reason: "parsers_disagree",
    message: async () =>
      replaced(await signed(), "<samlp:Status>", `<samlp:Status hasOwnProperty="" a="">`),
  },
  {
    attack: "a flood of namespaces",
    reason: "too_many_nodes",
    message: () => Promise.resolve(responseXml({ nameId: `<a xmlns:b="c"/>`.repeat(2_001) })),
  },
  {
    attack: "a bomb that is deflated",
    reason: "compressed",
    isPosted: true,
    message: async () => {
      const stream = new Blob([new Uint8Array(10 * 1024 * 1024).fill(0x41)]).stream()
        .pipeThrough(new CompressionStream("deflate-raw"));
      return new Uint8Array(await new Response(stream).arrayBuffer()).toBase64();
    },
  },
  ...(["deflate-raw", "deflate", "gzip"] as const).map((format): Attack => ({
    attack: `a right message by ${format}`,
    reason: "compressed",
    isPosted: true,
    message: async () => {
      const stream = new Blob([await signed()]).stream()
        .pipeThrough(new CompressionStream(format));
      return new Uint8Array(await new Response(stream).arrayBuffer()).toBase64();
    },
  })),
  {
    attack: "a flood of white space",
    reason: "too_large",
    isPosted: true,
    message: () => Promise.resolve(" ".repeat(400_000)),
  },
  ...[[0x41, 0], [0, 0x41], [0xff, 0x41], [0xfe, 0x41], [0x41, 0xfe], [0x41, 0xff]].map(
    (bytes): Attack => ({
      attack: `a message that begins with ${bytes}`,
      reason: "compressed",
      isPosted: true,
      message: () => Promise.resolve(posted(new Uint8Array(bytes))),
    }),
  ),
  {
    attack: "what is not base64",
    reason: "base64",
    isPosted: true,
    message: async () => stripped(await signed()),
  },
  {
    attack: "base64 without its padding",
    reason: "base64",
    isPosted: true,
    message: async () => {
      const xml = await signed();
      return posted(xml + " ".repeat((4 - xml.length % 3) % 3 + 1)).replace(/=+$/, "");
    },
  },
  {
    attack: "nothing",
    reason: "base64",
    isPosted: true,
    message: () => Promise.resolve(""),
  },
]);

const minutes = (count: number, ms = 0) => new Date(ISSUED_AT.getTime() + count * 60_000 + ms);

tests([
  {
    attack: "another destination",
    reason: "destination",
    message: () => signed("both", { destination: "https://other.example.test/acs" }),
  },
  {
    attack: "our address with a slash more as destination",
    reason: "destination",
    message: () => signed("assertion", { destination: `${ACS_URL}/` }),
  },
  {
    attack: "an empty destination",
    reason: "destination",
    message: () => signed("assertion", { destination: "" }),
  },
  {
    attack: "another recipient",
    reason: "recipient",
    message: () =>
      signed("assertion", { acsUrl: "https://other.example.test/acs", destination: null }),
  },
  {
    attack: "no recipient",
    reason: "recipient",
    message: () => edited((xml) => replaced(xml, ` Recipient="${ACS_URL}"`, "")),
  },
  {
    attack: "another audience",
    reason: "audience",
    message: () => signed("assertion", { audience: "https://other.example.test" }),
  },
  {
    attack: "our name with more after it as audience",
    reason: "audience",
    message: () => signed("assertion", { audience: `${SP_ENTITY_ID}.evil.test` }),
  },
  {
    attack: "a second restriction to another audience",
    reason: "audience",
    message: () =>
      edited((xml) =>
        replaced(
          xml,
          "</saml:AudienceRestriction>",
          `</saml:AudienceRestriction><saml:AudienceRestriction><saml:Audience>https://other` +
            `.example.test</saml:Audience></saml:AudienceRestriction>`,
        )
      ),
  },
  {
    attack: "a restriction without an audience",
    reason: "audience",
    message: () => edited((xml) => xml.replace(/<saml:Audience>.*<\/saml:Audience>/, "")),
  },
  {
    attack: "no restriction to an audience",
    reason: "audience_missing",
    message: () =>
      edited((xml) => xml.replace(/<saml:AudienceRestriction>.*<\/saml:AudienceRestriction>/, "")),
  },
  {
    attack: "no conditions",
    reason: "conditions_missing",
    message: () => edited((xml) => xml.replace(/<saml:Conditions.*<\/saml:Conditions>/, "")),
  },
  {
    attack: "conditions without an end",
    reason: "conditions_missing",
    message: () =>
      edited((xml) => xml.replace(/(<saml:Conditions[^>]*) NotOnOrAfter="[^"]*"/, "$1")),
  },
  {
    attack: "an unknown condition",
    reason: "condition_unknown",
    message: () =>
      edited((xml) => replaced(xml, "</saml:Conditions>", "<saml:Condition/></saml:Conditions>")),
  },
  {
    attack: "a known condition's name in another vocabulary",
    reason: "condition_unknown",
    message: () =>
      edited((xml) =>
        replaced(xml, "</saml:Conditions>", `<x:OneTimeUse xmlns:x="urn:x"/></saml:Conditions>`)
      ),
  },
  {
    attack: "two sets of conditions",
    reason: "assertion_malformed",
    message: () =>
      edited((xml) => xml.replace(/<saml:Conditions.*<\/saml:Conditions>/, (each) => each + each)),
  },
  {
    attack: "two subjects",
    reason: "assertion_malformed",
    message: () =>
      edited((xml) => xml.replace(/<saml:Subject>.*<\/saml:Subject>/, (each) => each + each)),
  },
  {
    attack: "two name identifiers",
    reason: "assertion_malformed",
    message: () =>
      edited((xml) => xml.replace(/<saml:NameID.*<\/saml:NameID>/, (each) => each + each)),
  },
  {
    attack: "no subject",
    reason: "name_id",
    message: () => edited((xml) => xml.replace(/<saml:Subject>.*<\/saml:Subject>/, "")),
  },
  {
    attack: "an empty name identifier",
    reason: "name_id",
    message: () => signed("assertion", { nameId: " \n " }),
  },
  {
    attack: "a confirmation that is not bearer",
    reason: "subject_confirmation_missing",
    message: () => edited((xml) => replaced(xml, "cm:bearer", "cm:sender-vouches")),
  },
  {
    attack: "no confirmation",
    reason: "subject_confirmation_missing",
    message: () =>
      edited((xml) => xml.replace(/<saml:SubjectConfirmation .*<\/saml:SubjectConfirmation>/, "")),
  },
  {
    attack: "a confirmation that says nothing",
    reason: "recipient",
    message: () => edited((xml) => xml.replace(/<saml:SubjectConfirmationData .*?\/>/, "")),
  },
  {
    attack: "a confirmation without an end",
    reason: "subject_confirmation_times",
    message: () => edited((xml) => xml.replace(/(Recipient="[^"]*") NotOnOrAfter="[^"]*"/, "$1")),
  },
  {
    attack: "an ended confirmation",
    reason: "subject_confirmation_times",
    message: () =>
      edited((xml) =>
        xml.replace(
          /(Recipient="[^"]*") NotOnOrAfter="[^"]*"/,
          `$1 NotOnOrAfter="${minutes(-5).toISOString()}"`,
        )
      ),
  },
  {
    attack: "an ended assertion, at the very edge",
    reason: "expired",
    message: () => signed("assertion", { notOnOrAfter: minutes(-5) }),
  },
  {
    attack: "an assertion that has not begun, just before the edge",
    reason: "not_yet_valid",
    message: () => signed("assertion", { notBefore: minutes(5, 1) }),
  },
  {
    attack: "an assertion of the future",
    reason: "issue_instant",
    message: () =>
      signed("assertion", { issuedAt: minutes(5, 1), notBefore: null, notOnOrAfter: minutes(20) }),
  },
  {
    attack: "an assertion of the future in a response of today",
    reason: "issue_instant",
    message: () =>
      edited((xml) =>
        xml.replace(
          /(<saml:Assertion .*?IssueInstant=")[^"]*/,
          `$1${minutes(5, 1).toISOString()}`,
        )
      ),
  },
  {
    attack: "a response of the future around an assertion of today",
    reason: "issue_instant",
    message: async () =>
      (await signed()).replace(/(IssueInstant=")[^"]*/, `$1${minutes(5, 1).toISOString()}`),
  },
  {
    attack: "an ended session",
    reason: "session_ended",
    message: () => signed("assertion", { sessionNotOnOrAfter: ISSUED_AT }),
  },
  {
    attack: "a time without its zone",
    reason: "timestamp",
    message: () =>
      edited((xml) => xml.replace(/(<saml:Conditions[^>]*NotOnOrAfter="[^"]*)Z"/, `$1"`)),
  },
  {
    attack: "a day that does not exist",
    reason: "timestamp",
    message: () =>
      edited((xml) =>
        xml.replace(/(<saml:Conditions NotBefore=")[^"]*"/, `$12026-02-30T00:00:00Z"`)
      ),
  },
  {
    attack: "another version of the assertion",
    reason: "version",
    message: () => edited((xml) => xml.replace(/(<saml:Assertion.*?Version=")2\.0/, "$11.1")),
  },
  {
    attack: "another version of the response",
    reason: "version",
    message: async () => (await signed()).replace(`Version="2.0"`, `Version="2.1"`),
  },
  {
    attack: "a version in another vocabulary",
    reason: "version",
    message: async () =>
      replaced(await signed(), `ID="_response-1" Version=`, `ID="_response-1" saml:Version=`),
  },
  {
    attack: "a failed status",
    reason: "status",
    message: () => signed("both", { status: "urn:oasis:names:tc:SAML:2.0:status:Requester" }),
  },
  {
    attack: "a failed status without an assertion or a signature",
    reason: "status",
    message: () =>
      Promise.resolve(
        responseXml({ status: "urn:oasis:names:tc:SAML:2.0:status:Responder" })
          .replace(ASSERTION, ""),
      ),
  },
  {
    attack: "no status",
    reason: "status",
    message: async () => (await signed()).replace(/<samlp:Status>.*<\/samlp:Status>/s, ""),
  },
  {
    attack: "two statuses",
    reason: "status",
    message: async () =>
      (await signed()).replace(/<samlp:Status>.*<\/samlp:Status>/s, (each) => each + each),
  },
  {
    attack: "success without an assertion",
    reason: "assertion_missing",
    message: () => Promise.resolve(responseXml().replace(ASSERTION, "")),
  },
  {
    attack: "another issuer",
    reason: "issuer",
    message: () => signed("assertion", { issuer: "https://other.example.test" }),
  },
  {
    attack: "no issuer",
    reason: "issuer_missing",
    message: () => signed("assertion", { issuer: "" }),
  },
  {
    attack: "a response of another issuer",
    reason: "response_issuer",
    message: () => signed("assertion", { responseIssuer: "https://other.example.test" }),
  },
  {
    attack: "an answer to two different requests",
    reason: "in_response_to_mismatch",
    message: async () =>
      (await signed("assertion", { inResponseTo: "_request-1" }))
        .replace(`InResponseTo="_request-1"`, `InResponseTo="_request-2"`),
  },
  {
    attack: "a request that was written into the unsigned response",
    reason: "in_response_to_unsigned",
    message: async () =>
      (await signed()).replace("<samlp:Response ", `<samlp:Response InResponseTo="_request-1" `),
  },
]);

/** A message whose assertion was changed before it was signed. */
async function edited(edit: (xml: string) => string): Promise<string> {
  const template = responseXml({ assertionSignature: signatureTemplate("_assertion-1") });
  const changed = edit(template);
  equal(changed === template, false, "nothing was changed");
  return await signXml(changed, (await allKeys()).stored, "Assertion");
}

function stripped(xml: string): string {
  return xml.replace(DECLARATION, "");
}

Deno.test({
  name: "a right message is taken, so that the attacks fail for what they are",
  ignore: isWithoutSigner,
  async fn() {
    for (const sign of ["assertion", "response", "both"] as const) {
      const { nameId } = await verify(
        posted(await signed(sign)),
        await expectations(),
      );
      deepEqual(nameId, "ada@example.test");
    }
  },
});
