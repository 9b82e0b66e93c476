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

/** Made once, because most attacks change it. */
let usual: Promise<string> | undefined;

/**
 * Tests that a message is refused.
 *
 * @param message Gets a rightly signed message, and gives the attack as XML or as the form's value.
 * @param options `expected` replaces some of the usual expectations.
 */
function refuses(
  attack: string,
  reason: SamlReason,
  message: (xml: string) => string | Promise<string>,
  { expected, isPosted }: { expected?: Partial<SamlExpectations>; isPosted?: true } = {},
): void {
  Deno.test({
    name: `SAML refuses ${attack}: ${reason}`,
    ignore: isWithoutSigner,
    async fn() {
      const made = await message(await (usual ??= signed()));
      await rejects(
        verify(isPosted ? made : posted(made), { ...await expectations(), ...expected }),
        (error) => {
          equal(error instanceof SamlError, true, String(error));
          equal((error as SamlError).reason, reason, `${(error as SamlError).cause ?? error}`);
          return true;
        },
      );
    },
  });
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

// Signatures that are not there or not the provider's.
refuses("a message that was never signed", "signature_missing", () => responseXml());
refuses(
  "a message without its signature",
  "signature_missing",
  (xml) => xml.replace(SIGNATURE, ""),
);
refuses(
  "a signature without its value",
  "signature_malformed",
  (xml) => xml.replace(/<ds:SignatureValue>.*<\/ds:SignatureValue>/s, ""),
);
refuses(
  "a signature with an empty value",
  "signature_value",
  (xml) => xml.replace(/(<ds:SignatureValue>).*?</s, "$1<"),
);
refuses(
  "a signature without SignedInfo",
  "signature_malformed",
  (xml) => xml.replace(/<ds:SignedInfo>.*<\/ds:SignedInfo>/s, ""),
);
refuses("an empty signature", "signature_malformed", () =>
  responseXml({
    assertionSignature: `<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"/>`,
  }));
refuses("a changed NameID", "digest_mismatch", (xml) => replaced(xml, "ada@", "admin@"));
refuses("a changed attribute", "digest_mismatch", async () =>
  replaced(
    await signed("response", { attributes: { mail: "ada@example.test" }, nameId: "ada" }),
    "ada@example.test",
    "admin@example.test",
  ));
refuses("an added attribute", "digest_mismatch", (xml) =>
  replaced(
    xml,
    "</saml:AuthnStatement>",
    `</saml:AuthnStatement><saml:AttributeStatement><saml:Attribute Name="mail">` +
      `<saml:AttributeValue>admin@example.test</saml:AttributeValue></saml:Attribute>` +
      `</saml:AttributeStatement>`,
  ));
refuses("a changed status in a signed response", "digest_mismatch", async () =>
  replaced(
    await signed("response"),
    `status:Success"/>`,
    `status:Success"/><samlp:StatusMessage>x</samlp:StatusMessage>`,
  ));
refuses("a changed digest for a changed message", "signature_mismatch", async () => {
  const changed = replaced(await signed(), "ada@", "admin@");
  const other = await signedResponse(
    { key: (await allKeys()).foreign },
    { nameId: "admin@example.test" },
  );
  const digest = /<ds:DigestValue>.*?<\/ds:DigestValue>/;
  return changed.replace(digest, pick(other, digest))
    .replace(/<ds:KeyInfo>.*<\/ds:KeyInfo>/s, "");
});
refuses(
  "a foreign key's signature",
  "signature_mismatch",
  async () => await signedResponse({ key: (await allKeys()).foreign, keyInfo: "" }),
);
refuses(
  "a foreign key's signature with its certificate in KeyInfo",
  "key_info_certificate",
  async () => await signedResponse({ key: (await allKeys()).foreign }),
);
refuses(
  "a foreign key's signature that claims the stored certificate",
  "signature_mismatch",
  async () => {
    const own = /<ds:X509Certificate>.*?<\/ds:X509Certificate>/s;
    const message = await signedResponse({ key: (await allKeys()).foreign });
    return message.replace(own, pick(await signed(), own));
  },
);
refuses(
  "a right response around an assertion with a foreign key's signature",
  "key_info_certificate",
  async () => {
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
);
refuses(
  "a foreign key's response around a rightly signed assertion",
  "key_info_certificate",
  async () => {
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
);
refuses(
  "an HMAC with the public certificate as its key",
  "signature_hmac",
  async () =>
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
);
refuses("an HMAC with SHA-1", "signature_hmac", async () =>
  await signXml(
    responseXml({
      assertionSignature: signatureTemplate("_assertion-1", {
        algorithm: "http://www.w3.org/2000/09/xmldsig#hmac-sha1",
        keyInfo: "",
      }),
    }),
    new TextEncoder().encode((await allKeys()).stored.certificate),
    "Assertion",
  ));
refuses(
  "a signature with SHA-1",
  "signature_sha1",
  () => signed("assertion", {}, { algorithm: "http://www.w3.org/2000/09/xmldsig#rsa-sha1" }),
);
refuses(
  "a signature with MD5",
  "signature_algorithm",
  () => signed("assertion", {}, { algorithm: `${MORE}rsa-md5` }),
);
refuses(
  "a digest with SHA-1",
  "digest_sha1",
  () => signed("assertion", {}, { digest: "http://www.w3.org/2000/09/xmldsig#sha1" }),
);
refuses(
  "a digest with MD5",
  "digest_algorithm",
  () => signed("assertion", {}, { digest: `${MORE}md5` }),
);
refuses(
  "an ECDSA signature where an RSA key is stored",
  "signature_key_type",
  async () =>
    await signedResponse({
      key: (await allKeys()).curve,
      algorithm: `${MORE}ecdsa-sha256`,
    }),
);
refuses("a message where the stored certificate is none", "certificate", (xml) => xml, {
  expected: { certificate: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" },
});

// "On Breaking SAML: Be Whoever You Want to Be" (USENIX Security 2012). wording: allow
// Numbered as in SAML Raider.
refuses("XSW1, the signed response within the signature of another", "response_count", async () => {
  const original = await signed("response");
  const signature = pick(original, SIGNATURE);
  const bare = original.replace(signature, "").replace(DECLARATION, "");
  return evil(bare).replace(`ID="_response-1"`, `ID="_evil-response"`).replace(
    "</saml:Issuer>",
    `</saml:Issuer>${signature.replace("</ds:Signature>", `${bare}</ds:Signature>`)}`,
  );
});
refuses("XSW2, the signed response beside the signature in another", "response_count", async () => {
  const original = await signed("response");
  const signature = pick(original, SIGNATURE);
  const bare = original.replace(signature, "").replace(DECLARATION, "");
  return evil(bare).replace(`ID="_response-1"`, `ID="_evil-response"`)
    .replace("</saml:Issuer>", `</saml:Issuer>${bare}${signature}`);
});
refuses("XSW3, another assertion before the signed one", "assertion_count", (original) => {
  const assertion = pick(original, ASSERTION);
  const forged = evil(assertion).replace(SIGNATURE, "");
  return original.replace(assertion, `${forged}${assertion}`);
});
refuses("XSW4, the signed assertion within another", "assertion_count", (original) => {
  const assertion = pick(original, ASSERTION);
  const forged = evil(assertion).replace(SIGNATURE, "");
  return original.replace(
    assertion,
    forged.replace("</saml:Assertion>", `${assertion}</saml:Assertion>`),
  );
});
refuses(
  "XSW5, a changed assertion with the signature and the original after it",
  "assertion_count",
  (original) => {
    const assertion = pick(original, ASSERTION);
    return original.replace(assertion, `${evil(assertion)}${assertion.replace(SIGNATURE, "")}`);
  },
);
refuses(
  "XSW6, the original within the signature of a changed assertion",
  "assertion_count",
  (original) => {
    const assertion = pick(original, ASSERTION);
    const bare = assertion.replace(SIGNATURE, "");
    return original.replace(
      assertion,
      evil(assertion).replace("</ds:Signature>", `${bare}</ds:Signature>`),
    );
  },
);
refuses("XSW7, another assertion within Extensions", "assertion_count", (original) => {
  const forged = evil(pick(original, ASSERTION)).replace(SIGNATURE, "");
  return replaced(
    original,
    "<samlp:Status>",
    `<samlp:Extensions>${forged}</samlp:Extensions><samlp:Status>`,
  );
});
refuses(
  "XSW8, the original within an Object of the signature of a changed assertion",
  "assertion_count",
  (original) => {
    const assertion = pick(original, ASSERTION);
    const object = `<ds:Object>${assertion.replace(SIGNATURE, "")}</ds:Object>`;
    return original.replace(
      assertion,
      evil(assertion).replace("</ds:Signature>", `${object}</ds:Signature>`),
    );
  },
);
refuses("the signed response under another name, within another", "assertion_count", (xml) => {
  const original = stripped(xml).replaceAll("samlp:Response", "samlp:Wrapped");
  return replaced(
    responseXml({ responseId: "_evil-response", assertionId: "_evil", nameId: "admin" }),
    "<samlp:Status>",
    `<samlp:Extensions>${original}</samlp:Extensions><samlp:Status>`,
  );
});
refuses("an id that occurs twice", "id_duplicate", (original) => {
  const assertion = pick(original, ASSERTION);
  const forged = assertion.replace("ada@", "admin@").replace(SIGNATURE, "");
  return original.replace(assertion, `${forged}${assertion}`);
});
for (const name of ["Id", "id", "xml:id", "AssertionID", "saml:ID"]) {
  refuses(
    `the signed id once more as ${name}`,
    "id_duplicate",
    (xml) => replaced(xml, "<samlp:Status>", `<samlp:Status ${name}="_assertion-1">`),
  );
}
refuses(
  "an assertion with an id of another name besides",
  "id_variant",
  () => responseXml().replace(`ID="_assertion-1"`, `ID="_assertion-1" Id="_other"`),
);
refuses(
  "an assertion whose only id is xml:id",
  "id_variant",
  () => responseXml().replace(`ID="_assertion-1"`, `xml:id="_assertion-1"`),
);
refuses(
  "an assertion without an id",
  "id_missing",
  () => responseXml().replace(` ID="_assertion-1"`, ""),
);
refuses(
  "a response without an id",
  "id_missing",
  () => responseXml().replace(` ID="_response-1"`, ""),
);
refuses(
  "an id that is a query",
  "id_malformed",
  () => responseXml().replace(`ID="_assertion-1"`, `ID="a' or '1'='1"`),
);
refuses("two assertions that both are rightly signed", "assertion_count", async () => {
  const first = await signed();
  const second = await signed("assertion", { assertionId: "_assertion-2", nameId: "admin" });
  return first.replace(ASSERTION, (each) => each + pick(second, ASSERTION));
});
refuses("a second assertion in no namespace", "assertion_count", (xml) =>
  replaced(
    xml,
    "<samlp:Status>",
    `<Assertion ID="_evil"><Subject><NameID>admin</NameID></Subject></Assertion><samlp:Status>`,
  ));
refuses(
  "the only assertion in another namespace",
  "assertion_namespace",
  () =>
    responseXml().replace(
      `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"`,
      `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:1.0:assertion"`,
    ),
);
refuses(
  "the only assertion within Extensions",
  "assertion_place",
  (xml) => xml.replace(ASSERTION, (each) => `<samlp:Extensions>${each}</samlp:Extensions>`),
);
refuses("another assertion within Advice of the signed one", "assertion_count", (xml) =>
  replaced(
    xml,
    "<saml:AuthnStatement",
    `<saml:Advice>${
      assertionXml({ assertionId: "_evil", nameId: "admin" })
    }</saml:Advice><saml:AuthnStatement`,
  ));
refuses("another assertion within an Object of the signature", "assertion_count", (xml) =>
  replaced(
    xml,
    "</ds:Signature>",
    `<ds:Object>${
      assertionXml({ assertionId: "_evil", nameId: "admin" })
    }</ds:Object></ds:Signature>`,
  ));
refuses(
  "an Object in the signature, whatever it holds",
  "signature_object",
  (xml) => replaced(xml, "</ds:Signature>", "<ds:Object>x</ds:Object></ds:Signature>"),
);
refuses("an encrypted assertion", "assertion_encrypted", (xml) =>
  xml.replace(
    ASSERTION,
    (each) => `<saml:EncryptedAssertion>${each}</saml:EncryptedAssertion>`,
  ));
refuses(
  "an encrypted name identifier",
  "encrypted",
  (xml) => xml.replace(/<saml:NameID.*<\/saml:NameID>/, "<saml:EncryptedID/>"),
);
refuses(
  "an encrypted name identifier to come",
  "encrypted",
  (xml) => replaced(xml, "<samlp:Status>", "<saml:NewEncryptedID/><samlp:Status>"),
);
refuses(
  "another message than a response",
  "not_a_response",
  (xml) => xml.replaceAll("samlp:Response", "samlp:LogoutResponse"),
);
refuses("a response in another namespace", "not_a_response", (xml) =>
  replaced(
    xml,
    `"urn:oasis:names:tc:SAML:2.0:protocol"`,
    `"urn:oasis:names:tc:SAML:1.0:protocol"`,
  ));
refuses("a replaced type", "xsi_type", (xml) =>
  replaced(
    xml,
    "<saml:Subject>",
    `<saml:Subject xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="x">`,
  ));
refuses("a replaced type of the response", "xsi_type", (xml) =>
  replaced(
    xml,
    "<samlp:Status>",
    `<samlp:Status xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="x">`,
  ));
for (
  const [where, start, end] of [
    ["StatusDetail", "<samlp:StatusDetail>", "</samlp:StatusDetail>"],
    ["an attribute's value", "<saml:AttributeValue>", "</saml:AttributeValue>"],
    [
      "SubjectConfirmationData",
      "<saml:SubjectConfirmationData>",
      "</saml:SubjectConfirmationData>",
    ],
    ["KeyInfo", "<ds:KeyInfo xmlns:ds='http://www.w3.org/2000/09/xmldsig#'>", "</ds:KeyInfo>"],
    ["another vocabulary", "<x:Envelope xmlns:x='urn:x'>", "</x:Envelope>"],
  ]
) {
  refuses(
    `the signed assertion within ${where}, another in its place`,
    "assertion_count",
    (original) => {
      const assertion = pick(original, ASSERTION);
      const forged = evil(assertion).replace(SIGNATURE, "");
      return replaced(
        original.replace(assertion, () => forged),
        "<samlp:Status>",
        "<samlp:Status>" + start + assertion + end,
      );
    },
  );
  refuses(`the signed response within ${where} of another`, "response_count", async () => {
    const original = stripped(await signed("response"));
    return evil(original).replace(SIGNATURE, "").replace(
      `ID="_response-1"`,
      `ID="_evil-response"`,
    )
      .replace("<samlp:Status>", () => "<samlp:Status>" + start + original + end);
  });
}
refuses(
  "a prefix that means something else within the signed assertion",
  "digest_mismatch",
  (xml) =>
    replaced(
      xml,
      "<saml:Subject>",
      `<saml:Subject xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" xmlns="urn:x"><NameID>admin</NameID>`,
    ),
);
refuses("a signature in another namespace", "signature_namespace", async () =>
  replaced(
    await signed("assertion", {}, { keyInfo: "" }),
    `"http://www.w3.org/2000/09/xmldsig#"`,
    `"http://www.w3.org/2000/09/xmldsig"`,
  ));
refuses("a signature in something else than it signs", "signature_place", (original) => {
  const signature = pick(original, SIGNATURE);
  return original.replace(signature, "").replace(
    "<samlp:Status>",
    `<samlp:Status>${signature}`,
  );
});
refuses("the assertion's signature in the response", "reference_elsewhere", (original) => {
  const signature = pick(original, SIGNATURE);
  return original.replace(signature, "").replace(
    "<samlp:Status>",
    `${signature}<samlp:Status>`,
  );
});
refuses("the response's signature in the assertion", "reference_elsewhere", async () => {
  const original = await signed("response");
  const signature = pick(original, SIGNATURE);
  return original.replace(signature, "")
    .replace("<saml:Subject>", `${signature}<saml:Subject>`);
});
refuses(
  "two signatures of one assertion",
  "signature_count",
  (xml) => xml.replace(SIGNATURE, (each) => each + each),
);

const enveloped = `<ds:Transform Algorithm="${ENVELOPED_SIGNATURE}"/>`;
const exclusive = `<ds:Transform Algorithm="${EXCLUSIVE_C14N}"/>`;

refuses(
  "a reference to the whole document",
  "reference_empty",
  () => signed("response", {}, { uri: "" }),
);
refuses(
  "a reference without URI",
  "reference_empty",
  (xml) => replaced(xml, ` URI="#_assertion-1"`, ""),
);
refuses(
  "a reference to an XPointer",
  "reference_foreign",
  () => signed("response", {}, { uri: "#xpointer(/)" }),
);
refuses(
  "a reference to the id by XPointer",
  "reference_foreign",
  () => signed("assertion", {}, { uri: "#xpointer(id('_assertion-1'))" }),
);
for (const uri of ["https://evil.example.test/a.xml", "file:///etc/hostname", "_assertion-1"]) {
  refuses(
    `a reference to ${uri}`,
    "reference_foreign",
    (xml) => replaced(xml, `URI="#_assertion-1"`, `URI="${uri}"`),
  );
}
refuses(
  "a second reference",
  "reference_count",
  (xml) => xml.replace(/<ds:Reference .*<\/ds:Reference>/s, (each) => each + each),
);
refuses(
  "no reference",
  "reference_count",
  (xml) => xml.replace(/<ds:Reference .*<\/ds:Reference>/s, ""),
);
refuses("a Manifest instead of the reference", "reference_count", (xml) =>
  xml.replace(
    /<ds:Reference .*<\/ds:Reference>/s,
    (each) => `<ds:Manifest>${each}</ds:Manifest>`,
  ));
refuses("a transform that selects nothing", "transform_algorithm", () =>
  signed("assertion", {}, {
    transforms: `${enveloped}<ds:Transform ` +
      `Algorithm="http://www.w3.org/TR/1999/REC-xpath-19991116"><ds:XPath>false()</ds:XPath>` +
      `</ds:Transform>${exclusive}`,
  }));
refuses("a transform by XPath filter", "transform_algorithm", (xml) =>
  replaced(
    xml,
    enveloped,
    `${enveloped}<ds:Transform Algorithm="http://www.w3.org/2002/06/xmldsig-filter2"/>`,
  ));
refuses("a transform by base64", "transform_algorithm", (xml) =>
  replaced(
    xml,
    enveloped,
    `${enveloped}<ds:Transform Algorithm="http://www.w3.org/2000/09/xmldsig#base64"/>`,
  ));
refuses("XSLT", "transform_xslt", (xml) =>
  replaced(
    xml,
    enveloped,
    `${enveloped}<ds:Transform Algorithm="http://www.w3.org/TR/1999/REC-xslt-19991116">` +
      `<xsl:stylesheet xmlns:xsl="http://www.w3.org/1999/XSL/Transform"/></ds:Transform>`,
  ));
refuses(
  "a known transform twice",
  "transform_list",
  () => signed("assertion", {}, { transforms: enveloped + exclusive + exclusive }),
);
refuses(
  "the transforms in the other order",
  "transform_list",
  (xml) => replaced(xml, `${enveloped}${exclusive}`, exclusive + enveloped),
);
refuses(
  "one transform only",
  "transform_list",
  () => signed("assertion", {}, { transforms: enveloped }),
);
refuses("no transforms", "transform_list", () => signed("assertion", {}, { transforms: "" }));
for (
  const algorithm of [
    "http://www.w3.org/TR/2001/REC-xml-c14n-20010315",
    "http://www.w3.org/TR/2001/REC-xml-c14n-20010315#WithComments",
    "http://www.w3.org/2006/12/xml-c14n11",
    `${EXCLUSIVE_C14N}WithComments`,
  ]
) {
  refuses(
    `a signature canonicalized by ${algorithm}`,
    "canonicalization_algorithm",
    () => signed("assertion", {}, { canonicalization: algorithm }),
  );
  refuses(
    `an assertion canonicalized by ${algorithm}`,
    "transform_algorithm",
    () =>
      signed("assertion", {}, {
        transforms: `${enveloped}<ds:Transform Algorithm="${algorithm}"/>`,
      }),
  );
}
refuses("an unknown canonicalization", "canonicalization_algorithm", (xml) =>
  replaced(
    xml,
    `CanonicalizationMethod Algorithm="${EXCLUSIVE_C14N}"`,
    `CanonicalizationMethod Algorithm="urn:example:none"`,
  ));
refuses(
  "a comment in DigestValue",
  "signature_comment",
  (xml) => replaced(xml, "<ds:DigestValue>", "<ds:DigestValue><!--AAAA-->"),
);
refuses("a digest that a comment hides", "signature_comment", (xml) =>
  xml.replace(
    /<ds:DigestValue>(.*?)<\/ds:DigestValue>/,
    `<ds:DigestValue><!--AAAA-->$1</ds:DigestValue>`,
  ));
refuses(
  "a comment in SignatureValue",
  "signature_comment",
  (xml) => xml.replace(/(<ds:SignatureValue>.{10})/s, "$1<!--x-->"),
);
refuses(
  "a comment in SignedInfo",
  "signature_comment",
  (xml) => replaced(xml, "<ds:SignedInfo>", "<ds:SignedInfo><!--x-->"),
);
refuses(
  "a CDATA section in DigestValue",
  "cdata",
  (xml) => xml.replace(/<ds:DigestValue>(.*?)</, "<ds:DigestValue><![CDATA[$1]]><"),
);
refuses(
  "a processing instruction in SignatureValue",
  "processing_instruction",
  (xml) => xml.replace(/(<ds:SignatureValue>.{10})/s, "$1<?x y?>"),
);
refuses(
  "a character reference in DigestValue",
  "signature_character_reference",
  (xml) =>
    xml.replace(
      /<ds:DigestValue>(.)/,
      (_, first) => `<ds:DigestValue>&#${first.charCodeAt(0)};`,
    ),
);
refuses(
  "a character reference in SignatureValue",
  "signature_character_reference",
  (xml) =>
    xml.replace(
      /<ds:SignatureValue>(.)/s,
      (_, first) => `<ds:SignatureValue>&#x${first.charCodeAt(0).toString(16)};`,
    ),
);
refuses(
  "an element in DigestValue",
  "digest_value",
  (xml) => xml.replace(/<ds:DigestValue>(.*?)</, "<ds:DigestValue><ds:X>$1</ds:X><"),
);
refuses(
  "a second DigestValue",
  "signature_malformed",
  (xml) => xml.replace(/<ds:DigestValue>.*?<\/ds:DigestValue>/, (each) => each + each),
);
refuses(
  "a shortened digest",
  "digest_value",
  (xml) => xml.replace(/<ds:DigestValue>.*?</, "<ds:DigestValue>AAAA<"),
);
refuses(
  "a digest that is not base64",
  "digest_value",
  (xml) => xml.replace(/(<ds:DigestValue>.*?)=</, "$1<"),
);
refuses("a length of an HMAC", "signature_malformed", (xml) =>
  replaced(
    xml,
    `<ds:SignatureMethod Algorithm="${MORE}rsa-sha256"/>`,
    `<ds:SignatureMethod Algorithm="${MORE}rsa-sha256">` +
      `<ds:HMACOutputLength>1</ds:HMACOutputLength></ds:SignatureMethod>`,
  ));
refuses(
  "a SignedInfo without its canonicalization",
  "signature_malformed",
  (xml) => xml.replace(/<ds:CanonicalizationMethod[^>]*>/, "<ds:KeyName>x</ds:KeyName>"),
);
refuses(
  "a SignedInfo with a part more",
  "signature_malformed",
  (xml) => replaced(xml, "</ds:SignedInfo>", "<ds:X/></ds:SignedInfo>"),
);
refuses(
  "a canonicalization with something else than prefixes",
  "signature_malformed",
  (xml) =>
    xml.replace(/(<ds:CanonicalizationMethod[^>]*)\/>/, "$1><ds:X/></ds:CanonicalizationMethod>"),
);
refuses(
  "a transform under another name",
  "signature_malformed",
  (xml) => replaced(xml, exclusive, exclusive.replace("ds:Transform", "ds:Transformed")),
);
refuses(
  "a transform with something in it",
  "signature_malformed",
  (xml) =>
    replaced(xml, enveloped, enveloped.replace("/>", "><ds:XPath>x</ds:XPath></ds:Transform>")),
);
refuses(
  "a digest method with something in it",
  "signature_malformed",
  (xml) => xml.replace(/(<ds:DigestMethod[^>]*)\/>/, "$1><ds:X/></ds:DigestMethod>"),
);
refuses("a signature that is longer than any key's", "signature_value", (xml) =>
  xml.replace(
    /(<ds:SignatureValue>).*?</s,
    `$1${new Uint8Array(513).toBase64()}<`,
  ));
refuses(
  "a text between the parts of SignedInfo",
  "signature_malformed",
  (xml) => replaced(xml, "<ds:SignedInfo>", "<ds:SignedInfo>x"),
);
refuses(
  "a second KeyInfo",
  "signature_malformed",
  (xml) => xml.replace(/<ds:KeyInfo>.*<\/ds:KeyInfo>/s, (it) => it + it),
);
for (const name of ["KeyInfo", "SignatureMethod", "Transforms", "DigestMethod", "DigestValue"]) {
  refuses(
    `a ${name} under another name`,
    "signature_malformed",
    (xml) => xml.replaceAll(`ds:${name}`, `ds:Other${name}`),
  );
}
refuses(
  "a text between the parts of the reference",
  "signature_malformed",
  (xml) => replaced(xml, "<ds:Transforms>", "x<ds:Transforms>"),
);
refuses(
  "two lists of prefixes",
  "signature_malformed",
  async () =>
    (await signed("assertion", {}, { prefixes: "saml" }))
      .replace(/<ec:InclusiveNamespaces .*?\/>/s, (each) => each + each),
);
refuses(
  "a list of prefixes with something in it",
  "signature_malformed",
  async () =>
    (await signed("assertion", {}, { prefixes: "saml" }))
      .replace(/(<ec:InclusiveNamespaces .*?)\/>/s, "$1><ds:X/></ec:InclusiveNamespaces>"),
);
refuses(
  "exclusive canonicalization with something else than prefixes",
  "signature_malformed",
  (xml) =>
    replaced(xml, exclusive, exclusive.replace("/>", "><ds:XPath>x</ds:XPath></ds:Transform>")),
);
for (const transform of [enveloped, exclusive]) {
  refuses(
    `two of the same: ${transform.slice(24, -3)}`,
    "transform_list",
    (xml) => replaced(xml, `${enveloped}${exclusive}`, transform + transform),
  );
}
refuses(
  "a signature of more than 100 elements",
  "signature_malformed",
  (xml) => replaced(xml, "</ds:KeyInfo>", `${"<ds:KeyName/>".repeat(90)}</ds:KeyInfo>`),
);
refuses(
  "two SignedInfo",
  "signature_malformed",
  (xml) => xml.replace(/<ds:SignedInfo>.*<\/ds:SignedInfo>/s, (each) => each + each),
);
refuses(
  "one signature as that of the response and that of the assertion",
  "reference_elsewhere",
  (original) => {
    return original.replace("<samlp:Status>", `${pick(original, SIGNATURE)}<samlp:Status>`);
  },
);

refuses(
  "a CDATA section in NameID",
  "cdata",
  () => signed("assertion", { nameId: "ada@<![CDATA[example.test]]>" }),
);
refuses(
  "a processing instruction in NameID",
  "processing_instruction",
  () => signed("assertion", { nameId: "admin@example.test<?x?>.evil.test" }),
);
refuses(
  "an element in NameID",
  "name_id",
  () => signed("assertion", { nameId: "admin@example.test<saml:X/>.evil.test" }),
);
refuses(
  "an element in a mapped attribute",
  "attribute_value",
  () => signed("assertion", { attributes: { mail: "admin@example.test<x/>.evil.test" } }),
);
refuses(
  "a control character in NameID",
  "name_id",
  () => signed("assertion", { nameId: "ada@example.test&#10;admin" }),
);
refuses(
  "a control character in a mapped attribute",
  "attribute_value",
  () => signed("assertion", { attributes: { mail: "ada@example.test&#10;admin" } }),
);
refuses(
  "a name identifier of 1 025 characters",
  "name_id",
  () => signed("assertion", { nameId: "x".repeat(1_025) }),
);
refuses(
  "an issuer's name of 1 025 characters",
  "assertion_malformed",
  () => signed("assertion", { issuer: "x".repeat(1_025), responseIssuer: null }),
);
refuses(
  "a comment that was added to a signed value's end, with more text",
  "digest_mismatch",
  (xml) => replaced(xml, "ada@example.test", "ada@example.test<!---->.x"),
);
refuses("a document type definition", "dtd", (xml) => `<!DOCTYPE Response>${stripped(xml)}`);
refuses(
  "a document type definition in small letters",
  "dtd",
  (xml) => `<!doctype Response>${stripped(xml)}`,
);
refuses(
  "an external entity",
  "dtd",
  (xml) =>
    `<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>` +
    replaced(stripped(xml), "ada@", "&x;"),
);
refuses("an entity that was never defined", "entity", (xml) => replaced(xml, "ada@", "&x;"));
refuses("an entity of HTML", "entity", (xml) => replaced(xml, "ada@", "&nbsp;"));
refuses("entities that multiply", "dtd", () => {
  const levels = Array.from(
    { length: 9 },
    (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`,
  );
  return `<!DOCTYPE r [<!ENTITY l0 "lol">${levels.join("")}]>` + responseXml({ nameId: "&l9;" });
});
refuses(
  "a flood of character references",
  "too_many_references",
  () => responseXml({ nameId: "&#65;".repeat(1_001) }),
);
refuses(
  "a flood of references in attributes",
  "too_many_references",
  () => responseXml({ sessionIndex: "&amp;".repeat(1_001) }),
);
refuses(
  "a processing instruction before the response",
  "processing_instruction",
  (xml) => `<?xml-stylesheet href="x"?>${stripped(xml)}`,
);
refuses("a second XML declaration", "encoding", (xml) => `<?xml version="1.0"?>${xml}`);
refuses(
  "another encoding's declaration",
  "encoding",
  (xml) => `<?xml version="1.0" encoding="UTF-7"?>${stripped(xml)}`,
);
refuses("XML 1.1", "encoding", (xml) => `<?xml version="1.1"?>${stripped(xml)}`);
refuses("a NUL", "character", (xml) => replaced(xml, "ada@example.test", "ada@example.test\0.x"));
refuses("a NUL as a reference", "character", (xml) => replaced(xml, "ada@", "&#0;ada@"));
refuses(
  "a line separator that parsers disagree about",
  "character",
  (xml) => replaced(xml, "ada@", "\u2028ada@"),
);
refuses("a megabyte", "too_large", () => responseXml({ sessionIndex: "x".repeat(1024 * 1024) }));
refuses("a message just over 256 KiB", "too_large", () => {
  const rest = responseXml({ sessionIndex: "" }).length;
  return responseXml({ sessionIndex: "x".repeat(256 * 1024 - rest + 1) });
});
refuses(
  "deep nesting",
  "too_deep",
  () => responseXml({ nameId: `${"<a>".repeat(65)}${"</a>".repeat(65)}` }),
);
refuses("very deep nesting that never ends", "too_deep", () => "<a>".repeat(80_000));
refuses(
  "a flood of elements",
  "too_many_nodes",
  () => responseXml({ nameId: "<a/>".repeat(5_001) }),
);
refuses(
  "a flood of comments",
  "too_many_nodes",
  () => responseXml({ nameId: "<!---->".repeat(101) }),
);
// The end tag of each name is looked for in all of the text.
refuses("a flood of names", "too_many_nodes", () =>
  responseXml({
    nameId: Array.from({ length: 201 }, (_, i) => `<a${i}></a${i}>`).join(""),
  }));
refuses("a flood of prefixes in one place", "too_many_nodes", () => {
  const prefixes = Array.from({ length: 101 }, (_, i) => ` xmlns:a${i}="b"`);
  return responseXml({ nameId: `<a${prefixes.join("")}/>` });
});
refuses("a flood of prefixes one within another", "too_many_nodes", () => {
  const open = Array.from({ length: 50 }, (_, i) => `<a xmlns:b${i}="c" xmlns:d${i}="e">`);
  return responseXml({ nameId: open.join("") + "</a>".repeat(50) });
});
refuses(
  "a name that the library's parser stumbles over",
  "parsers_disagree",
  (xml) => replaced(xml, "<samlp:Status>", `<samlp:Status hasOwnProperty="" a="">`),
);
refuses(
  "a flood of namespaces",
  "too_many_nodes",
  () => responseXml({ nameId: `<a xmlns:b="c"/>`.repeat(2_001) }),
);
refuses("a bomb that is deflated", "compressed", async () => {
  const stream = new Blob([new Uint8Array(10 * 1024 * 1024).fill(0x41)]).stream()
    .pipeThrough(new CompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer()).toBase64();
}, { isPosted: true });
for (const format of (["deflate-raw", "deflate", "gzip"] as const)) {
  refuses(`a right message by ${format}`, "compressed", async () => {
    const stream = new Blob([await signed()]).stream()
      .pipeThrough(new CompressionStream(format));
    return new Uint8Array(await new Response(stream).arrayBuffer()).toBase64();
  }, { isPosted: true });
}
refuses("a flood of white space", "too_large", () => " ".repeat(400_000), { isPosted: true });
for (
  const bytes of [[0x41, 0], [0, 0x41], [0xff, 0x41], [0xfe, 0x41], [0x41, 0xfe], [0x41, 0xff]]
) {
  refuses(
    `a message that begins with ${bytes}`,
    "compressed",
    () => posted(new Uint8Array(bytes)),
    { isPosted: true },
  );
}
refuses("what is not base64", "base64", stripped, { isPosted: true });
refuses("base64 without its padding", "base64", (xml) => {
  return posted(xml + " ".repeat((4 - xml.length % 3) % 3 + 1)).replace(/=+$/, "");
}, { isPosted: true });
refuses("nothing", "base64", () => "", { isPosted: true });

const minutes = (count: number, ms = 0) => new Date(ISSUED_AT.getTime() + count * 60_000 + ms);

refuses(
  "another destination",
  "destination",
  () => signed("both", { destination: "https://other.example.test/acs" }),
);
refuses(
  "our address with a slash more as destination",
  "destination",
  () => signed("assertion", { destination: `${ACS_URL}/` }),
);
refuses("an empty destination", "destination", () => signed("assertion", { destination: "" }));
refuses(
  "another recipient",
  "recipient",
  () => signed("assertion", { acsUrl: "https://other.example.test/acs", destination: null }),
);
refuses("no recipient", "recipient", edited((xml) => replaced(xml, ` Recipient="${ACS_URL}"`, "")));
refuses(
  "another audience",
  "audience",
  () => signed("assertion", { audience: "https://other.example.test" }),
);
refuses(
  "our name with more after it as audience",
  "audience",
  () => signed("assertion", { audience: `${SP_ENTITY_ID}.evil.test` }),
);
refuses(
  "a second restriction to another audience",
  "audience",
  edited((xml) =>
    replaced(
      xml,
      "</saml:AudienceRestriction>",
      `</saml:AudienceRestriction><saml:AudienceRestriction><saml:Audience>https://other` +
        `.example.test</saml:Audience></saml:AudienceRestriction>`,
    )
  ),
);
refuses(
  "a restriction without an audience",
  "audience",
  edited((xml) => xml.replace(/<saml:Audience>.*<\/saml:Audience>/, "")),
);
refuses(
  "no restriction to an audience",
  "audience_missing",
  edited((xml) => xml.replace(/<saml:AudienceRestriction>.*<\/saml:AudienceRestriction>/, "")),
);
refuses(
  "no conditions",
  "conditions_missing",
  edited((xml) => xml.replace(/<saml:Conditions.*<\/saml:Conditions>/, "")),
);
refuses(
  "conditions without an end",
  "conditions_missing",
  edited((xml) => xml.replace(/(<saml:Conditions[^>]*) NotOnOrAfter="[^"]*"/, "$1")),
);
refuses(
  "an unknown condition",
  "condition_unknown",
  edited((xml) => replaced(xml, "</saml:Conditions>", "<saml:Condition/></saml:Conditions>")),
);
refuses(
  "a known condition's name in another vocabulary",
  "condition_unknown",
  edited((xml) =>
    replaced(xml, "</saml:Conditions>", `<x:OneTimeUse xmlns:x="urn:x"/></saml:Conditions>`)
  ),
);
refuses(
  "two sets of conditions",
  "assertion_malformed",
  edited((xml) => xml.replace(/<saml:Conditions.*<\/saml:Conditions>/, (each) => each + each)),
);
refuses(
  "two subjects",
  "assertion_malformed",
  edited((xml) => xml.replace(/<saml:Subject>.*<\/saml:Subject>/, (each) => each + each)),
);
refuses(
  "two name identifiers",
  "assertion_malformed",
  edited((xml) => xml.replace(/<saml:NameID.*<\/saml:NameID>/, (each) => each + each)),
);
refuses(
  "no subject",
  "name_id",
  edited((xml) => xml.replace(/<saml:Subject>.*<\/saml:Subject>/, "")),
);
refuses("an empty name identifier", "name_id", () => signed("assertion", { nameId: " \n " }));
refuses(
  "a confirmation that is not bearer",
  "subject_confirmation_missing",
  edited((xml) => replaced(xml, "cm:bearer", "cm:sender-vouches")),
);
refuses(
  "no confirmation",
  "subject_confirmation_missing",
  edited((xml) => xml.replace(/<saml:SubjectConfirmation .*<\/saml:SubjectConfirmation>/, "")),
);
refuses(
  "a confirmation that says nothing",
  "recipient",
  edited((xml) => xml.replace(/<saml:SubjectConfirmationData .*?\/>/, "")),
);
refuses(
  "a confirmation without an end",
  "subject_confirmation_times",
  edited((xml) => xml.replace(/(Recipient="[^"]*") NotOnOrAfter="[^"]*"/, "$1")),
);
refuses(
  "an ended confirmation",
  "subject_confirmation_times",
  edited((xml) =>
    xml.replace(
      /(Recipient="[^"]*") NotOnOrAfter="[^"]*"/,
      `$1 NotOnOrAfter="${minutes(-5).toISOString()}"`,
    )
  ),
);
refuses(
  "an ended assertion, at the very edge",
  "expired",
  () => signed("assertion", { notOnOrAfter: minutes(-5) }),
);
refuses(
  "an assertion that has not begun, just before the edge",
  "not_yet_valid",
  () => signed("assertion", { notBefore: minutes(5, 1) }),
);
refuses(
  "an assertion of the future",
  "issue_instant",
  () =>
    signed("assertion", { issuedAt: minutes(5, 1), notBefore: null, notOnOrAfter: minutes(20) }),
);
refuses(
  "an assertion of the future in a response of today",
  "issue_instant",
  edited((xml) =>
    xml.replace(
      /(<saml:Assertion .*?IssueInstant=")[^"]*/,
      `$1${minutes(5, 1).toISOString()}`,
    )
  ),
);
refuses(
  "a response of the future around an assertion of today",
  "issue_instant",
  (xml) => xml.replace(/(IssueInstant=")[^"]*/, `$1${minutes(5, 1).toISOString()}`),
);
refuses(
  "an ended session",
  "session_ended",
  () => signed("assertion", { sessionNotOnOrAfter: ISSUED_AT }),
);
refuses(
  "a time without its zone",
  "timestamp",
  edited((xml) => xml.replace(/(<saml:Conditions[^>]*NotOnOrAfter="[^"]*)Z"/, `$1"`)),
);
refuses(
  "a day that does not exist",
  "timestamp",
  edited((xml) => xml.replace(/(<saml:Conditions NotBefore=")[^"]*"/, `$12026-02-30T00:00:00Z"`)),
);
refuses(
  "another version of the assertion",
  "version",
  edited((xml) => xml.replace(/(<saml:Assertion.*?Version=")2\.0/, "$11.1")),
);
refuses(
  "another version of the response",
  "version",
  (xml) => xml.replace(`Version="2.0"`, `Version="2.1"`),
);
refuses(
  "a version in another vocabulary",
  "version",
  (xml) => replaced(xml, `ID="_response-1" Version=`, `ID="_response-1" saml:Version=`),
);
refuses(
  "a failed status",
  "status",
  () => signed("both", { status: "urn:oasis:names:tc:SAML:2.0:status:Requester" }),
);
refuses(
  "a failed status without an assertion or a signature",
  "status",
  () =>
    responseXml({ status: "urn:oasis:names:tc:SAML:2.0:status:Responder" })
      .replace(ASSERTION, ""),
);
refuses("no status", "status", (xml) => xml.replace(/<samlp:Status>.*<\/samlp:Status>/s, ""));
refuses(
  "two statuses",
  "status",
  (xml) => xml.replace(/<samlp:Status>.*<\/samlp:Status>/s, (each) => each + each),
);
refuses(
  "success without an assertion",
  "assertion_missing",
  () => responseXml().replace(ASSERTION, ""),
);
refuses(
  "another issuer",
  "issuer",
  () => signed("assertion", { issuer: "https://other.example.test" }),
);
refuses("no issuer", "issuer_missing", () => signed("assertion", { issuer: "" }));
refuses(
  "a response of another issuer",
  "response_issuer",
  () => signed("assertion", { responseIssuer: "https://other.example.test" }),
);
refuses(
  "an answer to two different requests",
  "in_response_to_mismatch",
  async () =>
    (await signed("assertion", { inResponseTo: "_request-1" }))
      .replace(`InResponseTo="_request-1"`, `InResponseTo="_request-2"`),
);
refuses(
  "a request that was written into the unsigned response",
  "in_response_to_unsigned",
  (xml) => xml.replace("<samlp:Response ", `<samlp:Response InResponseTo="_request-1" `),
);

/** Makes a message whose assertion is changed before it is signed. */
function edited(edit: (xml: string) => string): () => Promise<string> {
  return async () => {
    const template = responseXml({ assertionSignature: signatureTemplate("_assertion-1") });
    const changed = edit(template);
    equal(changed === template, false, "nothing was changed");
    return await signXml(changed, (await allKeys()).stored, "Assertion");
  };
}

function stripped(xml: string): string {
  return xml.replace(DECLARATION, "");
}

Deno.test({
  name: "a right message is taken, so that the attacks fail for what they are",
  ignore: isWithoutSigner,
  async fn() {
    for (const sign of ["assertion", "response", "both"] as const) {
      const { nameId } = await verify(posted(await signed(sign)), await expectations());
      deepEqual(nameId, "ada@example.test");
    }
  },
});
