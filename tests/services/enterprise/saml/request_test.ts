import { deepEqual, equal, match } from "node:assert/strict";
import { inflateRawSync } from "node:zlib";
import { XMLParser, XMLValidator } from "fast-xml-parser";
import { spMetadata } from "../../../../services/enterprise/saml/metadata.ts";
import { createAuthnRequest } from "../../../../services/enterprise/saml/request.ts";

const request = {
  id: "_a1",
  issuedAt: new Date("2026-05-01T12:00:00.123Z"),
  destination: "https://idp.example.test/sso",
  acsUrl: "https://sp.example.test/acs?a=1&b=2",
  issuer: "https://sp.example.test/metadata",
  binding: "HTTP-POST",
} as const;

const xmlOf = (posted: string) => new TextDecoder().decode(Uint8Array.fromBase64(posted));

// Another reader than ours, and than the signature library's.
function read(xml: string): unknown {
  equal(XMLValidator.validate(xml), true);
  return new XMLParser({ ignoreAttributes: false, attributeNamePrefix: "@" }).parse(xml);
}

const expected = {
  "samlp:AuthnRequest": {
    "@xmlns:samlp": "urn:oasis:names:tc:SAML:2.0:protocol",
    "@xmlns:saml": "urn:oasis:names:tc:SAML:2.0:assertion",
    "@ID": "_a1",
    "@Version": "2.0",
    "@IssueInstant": "2026-05-01T12:00:00Z",
    "@Destination": "https://idp.example.test/sso",
    "@ProtocolBinding": "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST",
    "@AssertionConsumerServiceURL": "https://sp.example.test/acs?a=1&b=2",
    "saml:Issuer": "https://sp.example.test/metadata",
  },
};

Deno.test("a request by HTTP-POST is a form with the request as base64", async () => {
  const message = await createAuthnRequest({ ...request, relayState: `a"&b` });
  equal(message.kind, "post");
  if (message.kind !== "post") return;
  equal(message.url, "https://idp.example.test/sso");
  equal(message.fields.RelayState, `a"&b`);
  deepEqual(read(xmlOf(message.fields.SAMLRequest)), expected);
});

Deno.test("a form without relay state has no such field", async () => {
  const message = await createAuthnRequest(request);
  deepEqual(message.kind === "post" && Object.keys(message.fields), ["SAMLRequest"]);
});

Deno.test("a request by HTTP-Redirect is deflated into the query, after what is there", async () => {
  for (
    const [destination, others] of [
      ["https://idp.example.test/sso", []],
      ["https://idp.example.test/sso?tenant=a%26b", [["tenant", "a&b"]]],
    ] as const
  ) {
    const message = await createAuthnRequest({
      ...request,
      destination,
      binding: "HTTP-Redirect",
      relayState: "ä &=+#",
    });
    equal(message.kind, "redirect");
    const url = new URL(message.url);
    equal(url.origin + url.pathname, "https://idp.example.test/sso");
    const parameters = [...url.searchParams];
    deepEqual(parameters.slice(0, -2), others);
    deepEqual(parameters.at(-1), ["RelayState", "ä &=+#"]);
    equal(parameters.at(-2)![0], "SAMLRequest");
    const xml = inflateRawSync(Uint8Array.fromBase64(parameters.at(-2)![1])).toString();
    deepEqual(read(xml), {
      "samlp:AuthnRequest": {
        ...expected["samlp:AuthnRequest"],
        "@Destination": destination,
      },
    });
  }
});

Deno.test("a format of names is asked for where there is one", async () => {
  const message = await createAuthnRequest({ ...request, nameIdFormat: "urn:x" });
  const xml = message.kind === "post" ? xmlOf(message.fields.SAMLRequest) : "";
  match(xml, /<samlp:NameIDPolicy Format="urn:x" AllowCreate="true"\/>/);
});

const hostile = `"><x a='&lt;\n`;

Deno.test("no value gets out of its place in a request or in the metadata", async () => {
  const message = await createAuthnRequest({
    ...request,
    destination: `https://idp.example.test/sso?${hostile}`,
    issuer: hostile,
    nameIdFormat: hostile,
  });
  const xml = message.kind === "post" ? xmlOf(message.fields.SAMLRequest) : "";
  equal(XMLValidator.validate(xml), true);
  deepEqual(xml.match(/<[a-zA-Z:]+/g), [
    "<samlp:AuthnRequest",
    "<saml:Issuer",
    "<samlp:NameIDPolicy",
  ]);

  const metadata = spMetadata({ entityId: hostile, acsUrl: hostile, nameIdFormat: hostile });
  equal(XMLValidator.validate(metadata), true);
  deepEqual(metadata.match(/<[a-zA-Z:]+/g), [
    "<md:EntityDescriptor",
    "<md:SPSSODescriptor",
    "<md:NameIDFormat",
    "<md:AssertionConsumerService",
  ]);
});

Deno.test("the metadata name this service, where it takes responses, and what it asks for", () => {
  const describe = (nameIdFormat?: string) =>
    read(spMetadata({
      entityId: "https://sp.example.test/metadata",
      acsUrl: "https://sp.example.test/acs?a=1&b=2",
      nameIdFormat,
    }));
  const descriptor = {
    "@AuthnRequestsSigned": "false",
    "@WantAssertionsSigned": "true",
    "@protocolSupportEnumeration": "urn:oasis:names:tc:SAML:2.0:protocol",
    "md:AssertionConsumerService": {
      "@Binding": "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST",
      "@Location": "https://sp.example.test/acs?a=1&b=2",
      "@index": "0",
      "@isDefault": "true",
    },
  };
  const document = (inner: object) => ({
    "?xml": { "@version": "1.0", "@encoding": "UTF-8" },
    "md:EntityDescriptor": {
      "@xmlns:md": "urn:oasis:names:tc:SAML:2.0:metadata",
      "@entityID": "https://sp.example.test/metadata",
      "md:SPSSODescriptor": inner,
    },
  });
  deepEqual(describe(), document(descriptor));
  deepEqual(describe("urn:x"), document({ ...descriptor, "md:NameIDFormat": "urn:x" }));
});
