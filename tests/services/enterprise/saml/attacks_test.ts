/**
 * Attacks on SAML responses. Every message begins as one that a real, independent program signed;
 * each is refused for a reason of its own.
 *
 * @module
 */

import { deepEqual, equal, rejects } from "node:assert/strict";
import type { SamlReason } from "../../../../services/enterprise/saml/error.ts";
import { ELEMENTS_MAX } from "../../../../services/enterprise/saml/message.ts";
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

async function signedTwice(inner: "stored" | "foreign", outer: "stored" | "foreign") {
  const keys = await allKeys();
  const template = responseXml({
    assertionSignature: signatureTemplate("_assertion-1"),
    responseSignature: signatureTemplate("_response-1"),
  });
  return await signXml(await signXml(template, keys[inner], "Assertion"), keys[outer], "Response");
}

/** The public certificate is the secret of the HMAC. */
const signedByHmac = async (algorithm: string) =>
  await signXml(
    responseXml({
      assertionSignature: signatureTemplate("_assertion-1", { algorithm, keyInfo: "" }),
    }),
    new TextEncoder().encode((await allKeys()).stored.certificate),
    "Assertion",
  );

/** Made once, because most attacks change it. */
let usual: Promise<string> | undefined;

/** Makes a message from one that is correctly signed. */
type Attack = (xml: string) => string | Promise<string>;

/**
 * Registers a test for each attack: the message is refused for the reason.
 *
 * @param attacks Each returns XML, or the value of the form field with `isPosted`.
 * @param options `expected` replaces some of the usual expectations.
 */
function refuses(
  reason: SamlReason,
  attacks: Record<string, Attack>,
  { expected, isPosted }: { expected?: Partial<SamlExpectations>; isPosted?: true } = {},
): void {
  for (const [attack, message] of Object.entries(attacks)) {
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
}

/** Replaces exactly one place, so that no attack is one by mistake only. */
function replaced(xml: string, what: string | RegExp, by: string): string {
  const parts = xml.split(what);
  equal(parts.length, 2, `${what} is not there exactly once`);
  return parts.join(by);
}

const replacing = (what: string, by: string) => (xml: string) => replaced(xml, what, by);

/** Inserts before the status, which only a signature of the response covers. */
const beforeStatus = (inserted: string) => replacing("<samlp:Status>", inserted + "<samlp:Status>");

const removing = (what: RegExp | string) => (xml: string) => xml.replace(what, "");

const doubling = (what: RegExp) => (xml: string) => xml.replace(what, (each) => each + each);

const assertionWith = (parts: Partial<ResponseParts>) => () => signed("assertion", parts);

const signatureWith = (options: SignatureOptions) => () => signed("assertion", {}, options);

const DECLARATION = /^<\?xml.*?\?>\s*/;
const SIGNATURE = /<ds:Signature .*?<\/ds:Signature>/s;
const ASSERTION = /<saml:Assertion.*<\/saml:Assertion>/s;
const evil = (xml: string) =>
  xml.replace("ada@example.test", "admin@example.test")
    .replace(`ID="_assertion-1"`, `ID="_evil"`);

const pick = (xml: string, pattern: RegExp) => pattern.exec(xml)![0];

/** Replaces the signed assertion by what is built of it and its forgery. */
const forging = (build: (signed: string, forged: string) => string) => (xml: string) =>
  xml.replace(ASSERTION, (each) => build(each, evil(each)));

// Signatures that are not there or not the provider's.
refuses("signature_missing", {
  "a message that was never signed": () => responseXml(),
  "a message without its signature": removing(SIGNATURE),
});
refuses("signature_malformed", {
  "a signature without its value": removing(/<ds:SignatureValue>.*<\/ds:SignatureValue>/s),
  "a signature without SignedInfo": removing(/<ds:SignedInfo>.*<\/ds:SignedInfo>/s),
  "an empty signature": () =>
    responseXml({
      assertionSignature: `<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"/>`,
    }),
});
refuses("signature_value", {
  "a signature with an empty value": (xml) => xml.replace(/(<ds:SignatureValue>).*?</s, "$1<"),
});
refuses("digest_mismatch", {
  "a changed NameID": replacing("ada@", "admin@"),
  "a changed attribute": async () =>
    replaced(
      await signed("response", { attributes: { mail: "ada@example.test" }, nameId: "ada" }),
      "ada@example.test",
      "admin@example.test",
    ),
  "an added attribute": replacing(
    "</saml:AuthnStatement>",
    `</saml:AuthnStatement><saml:AttributeStatement><saml:Attribute Name="mail">` +
      `<saml:AttributeValue>admin@example.test</saml:AttributeValue></saml:Attribute>` +
      `</saml:AttributeStatement>`,
  ),
  "a changed status in a signed response": async () =>
    replaced(
      await signed("response"),
      `status:Success"/>`,
      `status:Success"/><samlp:StatusMessage>x</samlp:StatusMessage>`,
    ),
});
refuses("signature_mismatch", {
  "a changed digest for a changed message": async () => {
    const changed = replaced(await signed(), "ada@", "admin@");
    const other = await signedResponse(
      { key: (await allKeys()).foreign },
      { nameId: "admin@example.test" },
    );
    const digest = /<ds:DigestValue>.*?<\/ds:DigestValue>/;
    return changed.replace(digest, pick(other, digest))
      .replace(/<ds:KeyInfo>.*<\/ds:KeyInfo>/s, "");
  },
  "a foreign key's signature": async () =>
    await signedResponse({ key: (await allKeys()).foreign, keyInfo: "" }),
  "a foreign key's signature that claims the stored certificate": async () => {
    const own = /<ds:X509Certificate>.*?<\/ds:X509Certificate>/s;
    const message = await signedResponse({ key: (await allKeys()).foreign });
    return message.replace(own, pick(await signed(), own));
  },
});
refuses("key_info_certificate", {
  "a foreign key's signature with its certificate in KeyInfo": async () =>
    await signedResponse({ key: (await allKeys()).foreign }),
  "a right response around an assertion with a foreign key's signature": () =>
    signedTwice("foreign", "stored"),
  "a foreign key's response around a rightly signed assertion": () =>
    signedTwice("stored", "foreign"),
});
refuses("signature_hmac", {
  "an HMAC with the public certificate as its key": () => signedByHmac(`${MORE}hmac-sha256`),
  "an HMAC with SHA-1": () => signedByHmac("http://www.w3.org/2000/09/xmldsig#hmac-sha1"),
});
refuses("signature_sha1", {
  "a signature with SHA-1": signatureWith({
    algorithm: "http://www.w3.org/2000/09/xmldsig#rsa-sha1",
  }),
});
refuses("signature_algorithm", {
  "a signature with MD5": signatureWith({ algorithm: `${MORE}rsa-md5` }),
});
refuses("digest_sha1", {
  "a digest with SHA-1": signatureWith({ digest: "http://www.w3.org/2000/09/xmldsig#sha1" }),
});
refuses("digest_algorithm", {
  "a digest with MD5": signatureWith({ digest: `${MORE}md5` }),
});
refuses("signature_key_type", {
  "an ECDSA signature where an RSA key is stored": async () =>
    await signedResponse({
      key: (await allKeys()).curve,
      algorithm: `${MORE}ecdsa-sha256`,
    }),
});
refuses("certificate", {
  "a message where the stored certificate is none": (xml) => xml,
}, {
  expected: { certificate: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" },
});

// "On Breaking SAML: Be Whoever You Want to Be" (USENIX Security 2012). wording: allow
// Numbered as in SAML Raider.
refuses("response_count", {
  "XSW1, the signed response within the signature of another": async () => {
    const original = await signed("response");
    const signature = pick(original, SIGNATURE);
    const bare = original.replace(signature, "").replace(DECLARATION, "");
    return evil(bare).replace(`ID="_response-1"`, `ID="_evil-response"`).replace(
      "</saml:Issuer>",
      `</saml:Issuer>${signature.replace("</ds:Signature>", `${bare}</ds:Signature>`)}`,
    );
  },
  "XSW2, the signed response beside the signature in another": async () => {
    const original = await signed("response");
    const signature = pick(original, SIGNATURE);
    const bare = original.replace(signature, "").replace(DECLARATION, "");
    return evil(bare).replace(`ID="_response-1"`, `ID="_evil-response"`)
      .replace("</saml:Issuer>", `</saml:Issuer>${bare}${signature}`);
  },
});
refuses("assertion_count", {
  "XSW3, another assertion before the signed one": forging((signed, forged) =>
    forged.replace(SIGNATURE, "") + signed
  ),
  "XSW4, the signed assertion within another": forging((signed, forged) =>
    forged.replace(SIGNATURE, "").replace("</saml:Assertion>", `${signed}</saml:Assertion>`)
  ),
  "XSW5, a changed assertion with the signature and the original after it": forging(
    (signed, forged) => forged + signed.replace(SIGNATURE, ""),
  ),
  "XSW6, the original within the signature of a changed assertion": forging((signed, forged) =>
    forged.replace("</ds:Signature>", `${signed.replace(SIGNATURE, "")}</ds:Signature>`)
  ),
  "XSW7, another assertion within Extensions": (original) => {
    const forged = evil(pick(original, ASSERTION)).replace(SIGNATURE, "");
    return beforeStatus(`<samlp:Extensions>${forged}</samlp:Extensions>`)(original);
  },
  "XSW8, the original within an Object of the signature of a changed assertion": forging(
    (signed, forged) =>
      forged.replace(
        "</ds:Signature>",
        `<ds:Object>${signed.replace(SIGNATURE, "")}</ds:Object></ds:Signature>`,
      ),
  ),
  "the signed response under another name, within another": (xml) => {
    const original = stripped(xml).replaceAll("samlp:Response", "samlp:Wrapped");
    return replaced(
      responseXml({ responseId: "_evil-response", assertionId: "_evil", nameId: "admin" }),
      "<samlp:Status>",
      `<samlp:Extensions>${original}</samlp:Extensions><samlp:Status>`,
    );
  },
});
refuses("id_duplicate", {
  "an id that occurs twice": forging((signed) =>
    signed.replace("ada@", "admin@").replace(SIGNATURE, "") + signed
  ),
});
for (const name of ["Id", "id", "xml:id", "AssertionID", "saml:ID"]) {
  refuses("id_duplicate", {
    [`the signed id once more as ${name}`]: replacing(
      "<samlp:Status>",
      `<samlp:Status ${name}="_assertion-1">`,
    ),
  });
}
refuses("id_variant", {
  "an assertion with an id of another name besides": () =>
    responseXml().replace(`ID="_assertion-1"`, `ID="_assertion-1" Id="_other"`),
  "an assertion whose only id is xml:id": () =>
    responseXml().replace(`ID="_assertion-1"`, `xml:id="_assertion-1"`),
});
refuses("id_missing", {
  "an assertion without an id": () => responseXml().replace(` ID="_assertion-1"`, ""),
  "a response without an id": () => responseXml().replace(` ID="_response-1"`, ""),
});
refuses("id_malformed", {
  "an id that is a query": () => responseXml().replace(`ID="_assertion-1"`, `ID="a' or '1'='1"`),
});
refuses("assertion_count", {
  "two assertions that both are rightly signed": async () => {
    const first = await signed();
    const second = await signed("assertion", { assertionId: "_assertion-2", nameId: "admin" });
    return first.replace(ASSERTION, (each) => each + pick(second, ASSERTION));
  },
  "a second assertion in no namespace": beforeStatus(
    `<Assertion ID="_evil"><Subject><NameID>admin</NameID></Subject></Assertion>`,
  ),
  "another assertion within Advice of the signed one": replacing(
    "<saml:AuthnStatement",
    `<saml:Advice>${
      assertionXml({ assertionId: "_evil", nameId: "admin" })
    }</saml:Advice><saml:AuthnStatement`,
  ),
  "another assertion within an Object of the signature": replacing(
    "</ds:Signature>",
    `<ds:Object>${
      assertionXml({ assertionId: "_evil", nameId: "admin" })
    }</ds:Object></ds:Signature>`,
  ),
});
refuses("assertion_namespace", {
  "the only assertion in another namespace": () =>
    responseXml().replace(
      `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"`,
      `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:1.0:assertion"`,
    ),
});
refuses("assertion_place", {
  "the only assertion within Extensions": (xml) =>
    xml.replace(ASSERTION, (each) => `<samlp:Extensions>${each}</samlp:Extensions>`),
});
refuses("signature_object", {
  "an Object in the signature, whatever it holds": replacing(
    "</ds:Signature>",
    "<ds:Object>x</ds:Object></ds:Signature>",
  ),
});
refuses("assertion_encrypted", {
  "an encrypted assertion": (xml) =>
    xml.replace(
      ASSERTION,
      (each) => `<saml:EncryptedAssertion>${each}</saml:EncryptedAssertion>`,
    ),
});
refuses("encrypted", {
  "an encrypted name identifier": (xml) =>
    xml.replace(/<saml:NameID.*<\/saml:NameID>/, "<saml:EncryptedID/>"),
  "an encrypted name identifier to come": beforeStatus("<saml:NewEncryptedID/>"),
});
refuses("not_a_response", {
  "another message than a response": (xml) =>
    xml.replaceAll("samlp:Response", "samlp:LogoutResponse"),
  "a response in another namespace": replacing(
    `"urn:oasis:names:tc:SAML:2.0:protocol"`,
    `"urn:oasis:names:tc:SAML:1.0:protocol"`,
  ),
});
refuses("xsi_type", {
  "a replaced type": replacing(
    "<saml:Subject>",
    `<saml:Subject xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="x">`,
  ),
  "a replaced type of the response": replacing(
    "<samlp:Status>",
    `<samlp:Status xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="x">`,
  ),
});
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
  refuses("assertion_count", {
    [`the signed assertion within ${where}, another in its place`]: (original) => {
      const assertion = pick(original, ASSERTION);
      const forged = evil(assertion).replace(SIGNATURE, "");
      return replaced(
        original.replace(assertion, () => forged),
        "<samlp:Status>",
        "<samlp:Status>" + start + assertion + end,
      );
    },
  });
  refuses("response_count", {
    [`the signed response within ${where} of another`]: async () => {
      const original = stripped(await signed("response"));
      return evil(original).replace(SIGNATURE, "").replace(
        `ID="_response-1"`,
        `ID="_evil-response"`,
      )
        .replace("<samlp:Status>", () => "<samlp:Status>" + start + original + end);
    },
  });
}
refuses("digest_mismatch", {
  "a prefix that means something else within the signed assertion": replacing(
    "<saml:Subject>",
    `<saml:Subject xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" xmlns="urn:x"><NameID>admin</NameID>`,
  ),
});
refuses("signature_namespace", {
  "a signature in another namespace": async () =>
    replaced(
      await signed("assertion", {}, { keyInfo: "" }),
      `"http://www.w3.org/2000/09/xmldsig#"`,
      `"http://www.w3.org/2000/09/xmldsig"`,
    ),
});
refuses("signature_place", {
  "a signature in something else than it signs": (original) => {
    const signature = pick(original, SIGNATURE);
    return original.replace(signature, "").replace(
      "<samlp:Status>",
      `<samlp:Status>${signature}`,
    );
  },
});
refuses("reference_elsewhere", {
  "the assertion's signature in the response": (original) => {
    const signature = pick(original, SIGNATURE);
    return original.replace(signature, "").replace(
      "<samlp:Status>",
      `${signature}<samlp:Status>`,
    );
  },
  "the response's signature in the assertion": async () => {
    const original = await signed("response");
    const signature = pick(original, SIGNATURE);
    return original.replace(signature, "")
      .replace("<saml:Subject>", `${signature}<saml:Subject>`);
  },
});
refuses("signature_count", {
  "two signatures of one assertion": doubling(SIGNATURE),
});

const enveloped = `<ds:Transform Algorithm="${ENVELOPED_SIGNATURE}"/>`;
const exclusive = `<ds:Transform Algorithm="${EXCLUSIVE_C14N}"/>`;

refuses("reference_empty", {
  "a reference to the whole document": () => signed("response", {}, { uri: "" }),
  "a reference without URI": replacing(` URI="#_assertion-1"`, ""),
});
refuses("reference_foreign", {
  "a reference to an XPointer": () => signed("response", {}, { uri: "#xpointer(/)" }),
  "a reference to the id by XPointer": signatureWith({ uri: "#xpointer(id('_assertion-1'))" }),
});
for (const uri of ["https://evil.example.test/a.xml", "file:///etc/hostname", "_assertion-1"]) {
  refuses("reference_foreign", {
    [`a reference to ${uri}`]: replacing(`URI="#_assertion-1"`, `URI="${uri}"`),
  });
}
refuses("reference_count", {
  "a second reference": doubling(/<ds:Reference .*<\/ds:Reference>/s),
  "no reference": removing(/<ds:Reference .*<\/ds:Reference>/s),
  "a Manifest instead of the reference": (xml) =>
    xml.replace(
      /<ds:Reference .*<\/ds:Reference>/s,
      (each) => `<ds:Manifest>${each}</ds:Manifest>`,
    ),
});
refuses("transform_algorithm", {
  "a transform that selects nothing": signatureWith({
    transforms: `${enveloped}<ds:Transform ` +
      `Algorithm="http://www.w3.org/TR/1999/REC-xpath-19991116"><ds:XPath>false()</ds:XPath>` +
      `</ds:Transform>${exclusive}`,
  }),
  "a transform by XPath filter": replacing(
    enveloped,
    `${enveloped}<ds:Transform Algorithm="http://www.w3.org/2002/06/xmldsig-filter2"/>`,
  ),
  "a transform by base64": replacing(
    enveloped,
    `${enveloped}<ds:Transform Algorithm="http://www.w3.org/2000/09/xmldsig#base64"/>`,
  ),
});
refuses("transform_xslt", {
  "XSLT": replacing(
    enveloped,
    `${enveloped}<ds:Transform Algorithm="http://www.w3.org/TR/1999/REC-xslt-19991116">` +
      `<xsl:stylesheet xmlns:xsl="http://www.w3.org/1999/XSL/Transform"/></ds:Transform>`,
  ),
});
refuses("transform_list", {
  "a known transform twice": signatureWith({ transforms: enveloped + exclusive + exclusive }),
  "the transforms in the other order": replacing(`${enveloped}${exclusive}`, exclusive + enveloped),
  "one transform only": signatureWith({ transforms: enveloped }),
  "no transforms": signatureWith({ transforms: "" }),
});
for (
  const algorithm of [
    "http://www.w3.org/TR/2001/REC-xml-c14n-20010315",
    "http://www.w3.org/TR/2001/REC-xml-c14n-20010315#WithComments",
    "http://www.w3.org/2006/12/xml-c14n11",
    `${EXCLUSIVE_C14N}WithComments`,
  ]
) {
  refuses("canonicalization_algorithm", {
    [`a signature canonicalized by ${algorithm}`]: signatureWith({ canonicalization: algorithm }),
  });
  refuses("transform_algorithm", {
    [`an assertion canonicalized by ${algorithm}`]: signatureWith({
      transforms: `${enveloped}<ds:Transform Algorithm="${algorithm}"/>`,
    }),
  });
}
refuses("canonicalization_algorithm", {
  "an unknown canonicalization": replacing(
    `CanonicalizationMethod Algorithm="${EXCLUSIVE_C14N}"`,
    `CanonicalizationMethod Algorithm="urn:example:none"`,
  ),
});
refuses("signature_comment", {
  "a comment in DigestValue": replacing("<ds:DigestValue>", "<ds:DigestValue><!--AAAA-->"),
  "a digest that a comment hides": (xml) =>
    xml.replace(
      /<ds:DigestValue>(.*?)<\/ds:DigestValue>/,
      `<ds:DigestValue><!--AAAA-->$1</ds:DigestValue>`,
    ),
  "a comment in SignatureValue": (xml) => xml.replace(/(<ds:SignatureValue>.{10})/s, "$1<!--x-->"),
  "a comment in SignedInfo": replacing("<ds:SignedInfo>", "<ds:SignedInfo><!--x-->"),
});
refuses("cdata", {
  "a CDATA section in DigestValue": (xml) =>
    xml.replace(/<ds:DigestValue>(.*?)</, "<ds:DigestValue><![CDATA[$1]]><"),
});
refuses("processing_instruction", {
  "a processing instruction in SignatureValue": (xml) =>
    xml.replace(/(<ds:SignatureValue>.{10})/s, "$1<?x y?>"),
});
refuses("signature_character_reference", {
  "a character reference in DigestValue": (xml) =>
    xml.replace(
      /<ds:DigestValue>(.)/,
      (_, first) => `<ds:DigestValue>&#${first.charCodeAt(0)};`,
    ),
  "a character reference in SignatureValue": (xml) =>
    xml.replace(
      /<ds:SignatureValue>(.)/s,
      (_, first) => `<ds:SignatureValue>&#x${first.charCodeAt(0).toString(16)};`,
    ),
});
refuses("digest_value", {
  "an element in DigestValue": (xml) =>
    xml.replace(/<ds:DigestValue>(.*?)</, "<ds:DigestValue><ds:X>$1</ds:X><"),
  "a shortened digest": (xml) => xml.replace(/<ds:DigestValue>.*?</, "<ds:DigestValue>AAAA<"),
  "a digest that is not base64": (xml) => xml.replace(/(<ds:DigestValue>.*?)=</, "$1<"),
});
refuses("signature_malformed", {
  "a second DigestValue": doubling(/<ds:DigestValue>.*?<\/ds:DigestValue>/),
  "a length of an HMAC": replacing(
    `<ds:SignatureMethod Algorithm="${MORE}rsa-sha256"/>`,
    `<ds:SignatureMethod Algorithm="${MORE}rsa-sha256">` +
      `<ds:HMACOutputLength>1</ds:HMACOutputLength></ds:SignatureMethod>`,
  ),
  "a SignedInfo without its canonicalization": (xml) =>
    xml.replace(/<ds:CanonicalizationMethod[^>]*>/, "<ds:KeyName>x</ds:KeyName>"),
  "a SignedInfo with a part more": replacing("</ds:SignedInfo>", "<ds:X/></ds:SignedInfo>"),
  "a canonicalization with something else than prefixes": (xml) =>
    xml.replace(/(<ds:CanonicalizationMethod[^>]*)\/>/, "$1><ds:X/></ds:CanonicalizationMethod>"),
  "a transform under another name": replacing(
    exclusive,
    exclusive.replace("ds:Transform", "ds:Transformed"),
  ),
  "a transform with something in it": replacing(
    enveloped,
    enveloped.replace("/>", "><ds:XPath>x</ds:XPath></ds:Transform>"),
  ),
  "a digest method with something in it": (xml) =>
    xml.replace(/(<ds:DigestMethod[^>]*)\/>/, "$1><ds:X/></ds:DigestMethod>"),
  "a text between the parts of SignedInfo": replacing("<ds:SignedInfo>", "<ds:SignedInfo>x"),
  "a second KeyInfo": doubling(/<ds:KeyInfo>.*<\/ds:KeyInfo>/s),
});
refuses("signature_value", {
  "a signature that is longer than any key's": (xml) =>
    xml.replace(
      /(<ds:SignatureValue>).*?</s,
      `$1${new Uint8Array(513).toBase64()}<`,
    ),
});
for (const name of ["KeyInfo", "SignatureMethod", "Transforms", "DigestMethod", "DigestValue"]) {
  refuses("signature_malformed", {
    [`a ${name} under another name`]: (xml) => xml.replaceAll(`ds:${name}`, `ds:Other${name}`),
  });
}
refuses("signature_malformed", {
  "a text between the parts of the reference": replacing("<ds:Transforms>", "x<ds:Transforms>"),
  "two lists of prefixes": async () =>
    (await signed("assertion", {}, { prefixes: "saml" }))
      .replace(/<ec:InclusiveNamespaces .*?\/>/s, (each) => each + each),
  "a list of 21 prefixes": async () =>
    (await signed("assertion", {}, { prefixes: "saml" }))
      .replace(`PrefixList="saml"`, `PrefixList="${"saml ".repeat(20)}samlp"`),
  "a list of 21 prefixes for the signature itself": replacing(
    `<ds:CanonicalizationMethod Algorithm="${EXCLUSIVE_C14N}"/>`,
    `<ds:CanonicalizationMethod Algorithm="${EXCLUSIVE_C14N}"><ec:InclusiveNamespaces ` +
      `xmlns:ec="${EXCLUSIVE_C14N}" PrefixList="${"saml&#x20;".repeat(20)}samlp"/>` +
      `</ds:CanonicalizationMethod>`,
  ),
  "a list of prefixes with something in it": async () =>
    (await signed("assertion", {}, { prefixes: "saml" }))
      .replace(/(<ec:InclusiveNamespaces .*?)\/>/s, "$1><ds:X/></ec:InclusiveNamespaces>"),
  "exclusive canonicalization with something else than prefixes": replacing(
    exclusive,
    exclusive.replace("/>", "><ds:XPath>x</ds:XPath></ds:Transform>"),
  ),
});
for (const transform of [enveloped, exclusive]) {
  refuses("transform_list", {
    [`two of the same: ${transform.slice(24, -3)}`]: replacing(
      `${enveloped}${exclusive}`,
      transform + transform,
    ),
  });
}
refuses("signature_malformed", {
  "a signature of more than 100 elements": replacing(
    "</ds:KeyInfo>",
    `${"<ds:KeyName/>".repeat(90)}</ds:KeyInfo>`,
  ),
  "two SignedInfo": doubling(/<ds:SignedInfo>.*<\/ds:SignedInfo>/s),
});
refuses("reference_elsewhere", {
  "one signature as that of the response and that of the assertion": (original) => {
    return original.replace("<samlp:Status>", `${pick(original, SIGNATURE)}<samlp:Status>`);
  },
});

refuses("cdata", {
  "a CDATA section in NameID": assertionWith({ nameId: "ada@<![CDATA[example.test]]>" }),
});
refuses("processing_instruction", {
  "a processing instruction in NameID": assertionWith({
    nameId: "admin@example.test<?x?>.evil.test",
  }),
  "a processing instruction before the response": (xml) =>
    `<?xml-stylesheet href="x"?>${stripped(xml)}`,
});
refuses("name_id", {
  "an element in NameID": assertionWith({ nameId: "admin@example.test<saml:X/>.evil.test" }),
  "a control character in NameID": assertionWith({ nameId: "ada@example.test&#10;admin" }),
  "a name identifier of 1 025 characters": assertionWith({ nameId: "x".repeat(1_025) }),
});
refuses("attribute_value", {
  "an element in a mapped attribute": assertionWith({
    attributes: { mail: "admin@example.test<x/>.evil.test" },
  }),
  "a control character in a mapped attribute": assertionWith({
    attributes: { mail: "ada@example.test&#10;admin" },
  }),
});
refuses("assertion_malformed", {
  "an issuer's name of 1 025 characters": assertionWith({
    issuer: "x".repeat(1_025),
    responseIssuer: null,
  }),
});
refuses("digest_mismatch", {
  "a comment that was added to a signed value's end, with more text": replacing(
    "ada@example.test",
    "ada@example.test<!---->.x",
  ),
});
refuses("dtd", {
  "a document type definition": (xml) => `<!DOCTYPE Response>${stripped(xml)}`,
  "a document type definition in small letters": (xml) => `<!doctype Response>${stripped(xml)}`,
  "an external entity": (xml) =>
    `<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>` +
    replaced(stripped(xml), "ada@", "&x;"),
  "entities that multiply": () => {
    const levels = Array.from(
      { length: 9 },
      (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`,
    );
    return `<!DOCTYPE r [<!ENTITY l0 "lol">${levels.join("")}]>` + responseXml({ nameId: "&l9;" });
  },
});
refuses("entity", {
  "an entity that was never defined": replacing("ada@", "&x;"),
  "an entity of HTML": replacing("ada@", "&nbsp;"),
});
refuses("too_many_references", {
  "a flood of character references": () => responseXml({ nameId: "&#65;".repeat(1_001) }),
  "a flood of references in attributes": () => responseXml({ sessionIndex: "&amp;".repeat(1_001) }),
});
refuses("encoding", {
  "a second XML declaration": (xml) => `<?xml version="1.0"?>${xml}`,
  "another encoding's declaration": (xml) =>
    `<?xml version="1.0" encoding="UTF-7"?>${stripped(xml)}`,
  "XML 1.1": (xml) => `<?xml version="1.1"?>${stripped(xml)}`,
});
refuses("character", {
  "a NUL": replacing("ada@example.test", "ada@example.test\0.x"),
  "a NUL as a reference": replacing("ada@", "&#0;ada@"),
  "a line separator that parsers disagree about": replacing("ada@", "\u2028ada@"),
});
refuses("too_large", {
  "a megabyte": () => responseXml({ sessionIndex: "x".repeat(1024 * 1024) }),
  "a message just over 256 KiB": () => {
    const rest = responseXml({ sessionIndex: "" }).length;
    return responseXml({ sessionIndex: "x".repeat(256 * 1024 - rest + 1) });
  },
});
refuses("too_deep", {
  "deep nesting": () => responseXml({ nameId: `${"<a>".repeat(65)}${"</a>".repeat(65)}` }),
  "very deep nesting that never ends": () => "<a>".repeat(80_000),
});
refuses("too_many_nodes", {
  "a flood of elements": () => responseXml({ nameId: "<a/>".repeat(5_001) }),
  "more elements than the signature library may search": () =>
    responseXml({ nameId: "<a/>".repeat(ELEMENTS_MAX) }),
  "a flood of comments": () => responseXml({ nameId: "<!---->".repeat(101) }),
});
// The end tag of each name is looked for in all of the text.
refuses("too_many_nodes", {
  "a flood of names": () =>
    responseXml({
      nameId: Array.from({ length: 201 }, (_, i) => `<a${i}></a${i}>`).join(""),
    }),
  "a flood of prefixes in one place": () => {
    const prefixes = Array.from({ length: 33 }, (_, i) => ` xmlns:a${i}="b"`);
    return responseXml({ nameId: `<a${prefixes.join("")}/>` });
  },
  "a flood of prefixes one within another": () => {
    const open = Array.from({ length: 32 }, (_, i) => `<a xmlns:b${i}="c">`);
    return responseXml({ nameId: open.join("") + "</a>".repeat(32) });
  },
  "a prefix that is declared again and again": () =>
    responseXml({
      nameId: `<b:a xmlns:b="c"><b:a xmlns:b="d">`.repeat(16) + "</b:a>".repeat(32),
    }),
  "a flood of namespaces": () => responseXml({ nameId: `<a xmlns:b="c"/>`.repeat(2_001) }),
});
refuses("parsers_disagree", {
  "a name that the library's parser stumbles over": replacing(
    "<samlp:Status>",
    `<samlp:Status hasOwnProperty="" a="">`,
  ),
});
refuses("compressed", {
  "a bomb that is deflated": async () => {
    const stream = new Blob([new Uint8Array(10 * 1024 * 1024).fill(0x41)]).stream()
      .pipeThrough(new CompressionStream("deflate-raw"));
    return new Uint8Array(await new Response(stream).arrayBuffer()).toBase64();
  },
}, { isPosted: true });
for (const format of (["deflate-raw", "deflate", "gzip"] as const)) {
  refuses("compressed", {
    [`a right message by ${format}`]: async () => {
      const stream = new Blob([await signed()]).stream()
        .pipeThrough(new CompressionStream(format));
      return new Uint8Array(await new Response(stream).arrayBuffer()).toBase64();
    },
  }, { isPosted: true });
}
refuses("too_large", {
  "a flood of white space": () => " ".repeat(400_000),
}, { isPosted: true });
for (
  const bytes of [[0x41, 0], [0, 0x41], [0xff, 0x41], [0xfe, 0x41], [0x41, 0xfe], [0x41, 0xff]]
) {
  refuses("compressed", {
    [`a message that begins with ${bytes}`]: () => posted(new Uint8Array(bytes)),
  }, { isPosted: true });
}
refuses("base64", {
  "what is not base64": stripped,
  "base64 without its padding": (xml) => {
    return posted(xml + " ".repeat((4 - xml.length % 3) % 3 + 1)).replace(/=+$/, "");
  },
  "nothing": () => "",
}, { isPosted: true });

const minutes = (count: number, ms = 0) => new Date(ISSUED_AT.getTime() + count * 60_000 + ms);

refuses("destination", {
  "another destination": () => signed("both", { destination: "https://other.example.test/acs" }),
  "our address with a slash more as destination": assertionWith({ destination: `${ACS_URL}/` }),
  "an empty destination": assertionWith({ destination: "" }),
});
refuses("recipient", {
  "another recipient": assertionWith({
    acsUrl: "https://other.example.test/acs",
    destination: null,
  }),
  "no recipient": edited(replacing(` Recipient="${ACS_URL}"`, "")),
  "a confirmation that says nothing": edited(removing(/<saml:SubjectConfirmationData .*?\/>/)),
});
refuses("audience", {
  "another audience": assertionWith({ audience: "https://other.example.test" }),
  "our name with more after it as audience": assertionWith({
    audience: `${SP_ENTITY_ID}.evil.test`,
  }),
  "a second restriction to another audience": edited(
    replacing(
      "</saml:AudienceRestriction>",
      `</saml:AudienceRestriction><saml:AudienceRestriction><saml:Audience>https://other` +
        `.example.test</saml:Audience></saml:AudienceRestriction>`,
    ),
  ),
  "a restriction without an audience": edited(removing(/<saml:Audience>.*<\/saml:Audience>/)),
});
refuses("audience_missing", {
  "no restriction to an audience": edited(
    removing(/<saml:AudienceRestriction>.*<\/saml:AudienceRestriction>/),
  ),
});
refuses("conditions_missing", {
  "no conditions": edited(removing(/<saml:Conditions.*<\/saml:Conditions>/)),
  "conditions without an end": edited((xml) =>
    xml.replace(/(<saml:Conditions[^>]*) NotOnOrAfter="[^"]*"/, "$1")
  ),
});
refuses("condition_unknown", {
  "an unknown condition": edited(
    replacing("</saml:Conditions>", "<saml:Condition/></saml:Conditions>"),
  ),
  "a known condition's name in another vocabulary": edited(
    replacing("</saml:Conditions>", `<x:OneTimeUse xmlns:x="urn:x"/></saml:Conditions>`),
  ),
});
refuses("assertion_malformed", {
  "two sets of conditions": edited(doubling(/<saml:Conditions.*<\/saml:Conditions>/)),
  "two subjects": edited(doubling(/<saml:Subject>.*<\/saml:Subject>/)),
  "two name identifiers": edited(doubling(/<saml:NameID.*<\/saml:NameID>/)),
});
refuses("name_id", {
  "no subject": edited(removing(/<saml:Subject>.*<\/saml:Subject>/)),
  "an empty name identifier": assertionWith({ nameId: " \n " }),
});
refuses("subject_confirmation_missing", {
  "a confirmation that is not bearer": edited(replacing("cm:bearer", "cm:sender-vouches")),
  "no confirmation": edited(removing(/<saml:SubjectConfirmation .*<\/saml:SubjectConfirmation>/)),
});
refuses("subject_confirmation_times", {
  "a confirmation without an end": edited((xml) =>
    xml.replace(/(Recipient="[^"]*") NotOnOrAfter="[^"]*"/, "$1")
  ),
  "an ended confirmation": edited((xml) =>
    xml.replace(
      /(Recipient="[^"]*") NotOnOrAfter="[^"]*"/,
      `$1 NotOnOrAfter="${minutes(-5).toISOString()}"`,
    )
  ),
});
refuses("expired", {
  "an ended assertion, at the very edge": assertionWith({ notOnOrAfter: minutes(-5) }),
});
refuses("not_yet_valid", {
  "an assertion that has not begun, just before the edge": assertionWith({
    notBefore: minutes(5, 1),
  }),
});
refuses("issue_instant", {
  "an assertion of the future": assertionWith({
    issuedAt: minutes(5, 1),
    notBefore: null,
    notOnOrAfter: minutes(20),
  }),
  "an assertion of the future in a response of today": edited((xml) =>
    xml.replace(
      /(<saml:Assertion .*?IssueInstant=")[^"]*/,
      `$1${minutes(5, 1).toISOString()}`,
    )
  ),
  "a response of the future around an assertion of today": (xml) =>
    xml.replace(/(IssueInstant=")[^"]*/, `$1${minutes(5, 1).toISOString()}`),
});
refuses("session_ended", {
  "an ended session": assertionWith({ sessionNotOnOrAfter: ISSUED_AT }),
});
refuses("timestamp", {
  "a time without its zone": edited((xml) =>
    xml.replace(/(<saml:Conditions[^>]*NotOnOrAfter="[^"]*)Z"/, `$1"`)
  ),
  "a day that does not exist": edited((xml) =>
    xml.replace(/(<saml:Conditions NotBefore=")[^"]*"/, `$12026-02-30T00:00:00Z"`)
  ),
});
refuses("version", {
  "another version of the assertion": edited((xml) =>
    xml.replace(/(<saml:Assertion.*?Version=")2\.0/, "$11.1")
  ),
  "another version of the response": (xml) => xml.replace(`Version="2.0"`, `Version="2.1"`),
  "a version in another vocabulary": replacing(
    `ID="_response-1" Version=`,
    `ID="_response-1" saml:Version=`,
  ),
});
refuses("status", {
  "a failed status": () =>
    signed("both", { status: "urn:oasis:names:tc:SAML:2.0:status:Requester" }),
  "a failed status without an assertion or a signature": () =>
    responseXml({ status: "urn:oasis:names:tc:SAML:2.0:status:Responder" })
      .replace(ASSERTION, ""),
  "no status": removing(/<samlp:Status>.*<\/samlp:Status>/s),
  "two statuses": doubling(/<samlp:Status>.*<\/samlp:Status>/s),
});
refuses("assertion_missing", {
  "success without an assertion": () => responseXml().replace(ASSERTION, ""),
});
refuses("issuer", {
  "another issuer": assertionWith({ issuer: "https://other.example.test" }),
});
refuses("issuer_missing", {
  "no issuer": assertionWith({ issuer: "" }),
});
refuses("response_issuer", {
  "a response of another issuer": assertionWith({ responseIssuer: "https://other.example.test" }),
});
refuses("in_response_to_mismatch", {
  "an answer to two different requests": async () =>
    (await signed("assertion", { inResponseTo: "_request-1" }))
      .replace(`InResponseTo="_request-1"`, `InResponseTo="_request-2"`),
});
refuses("in_response_to_unsigned", {
  "a request that was written into the unsigned response": (xml) =>
    xml.replace("<samlp:Response ", `<samlp:Response InResponseTo="_request-1" `),
});

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
