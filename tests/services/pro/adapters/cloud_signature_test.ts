import { equal } from "node:assert/strict";
import { Buffer } from "node:buffer";
import { signedHeaders, signingKey } from "../../../../services/pro/adapters/cloud_signature.ts";

// The test suite that AWS publishes for Signature Version 4, and the example of its documentation.
const signer = {
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
  region: "us-east-1",
  service: "service",
  now: new Date("2015-08-30T12:36:00Z"),
};

const UNRESERVED = "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

for (
  const { name, method = "GET", path = "/", headers = {}, body = "", signedNames, signature } of [
    {
      name: "get-vanilla",
      signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
    },
    {
      name: "get-vanilla-query-order-key-case",
      path: "/?Param2=value2&Param1=value1",
      signature: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
    },
    {
      name: "get-vanilla-empty-query-key",
      path: "/?Param1=value1",
      signature: "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb",
    },
    {
      name: "get-unreserved",
      path: `/${UNRESERVED}`,
      signature: "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f",
    },
    {
      name: "get-header-key-duplicate",
      headers: { "My-Header1": "value2,value2,value1" },
      signedNames: "host;my-header1;x-amz-date",
      signature: "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea",
    },
    {
      name: "get-header-value-multiline",
      headers: { "My-Header1": "value1,value2,value3" },
      signedNames: "host;my-header1;x-amz-date",
      signature: "ba17b383a53190154eb5fa66a1b836cc297cc0a3d70a5d00705980573d8ff790",
    },
    {
      name: "post-vanilla",
      method: "POST",
      signature: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
    },
    {
      name: "post-vanilla-query",
      method: "POST",
      path: "/?Param1=value1",
      signature: "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11",
    },
    {
      name: "post-header-key-sort",
      method: "POST",
      headers: { "My-Header1": "value1" },
      signedNames: "host;my-header1;x-amz-date",
      signature: "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c",
    },
    {
      name: "post-x-www-form-urlencoded",
      method: "POST",
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      body: "Param1=value1",
      signedNames: "content-type;host;x-amz-date",
      signature: "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
    },
  ]
) {
  Deno.test(`a request is signed as in AWS's ${name}`, () => {
    const url = new URL(`https://example.amazonaws.com${path}`);
    const signed = signedHeaders({ method, url, headers, body }, signer);
    equal(signed["x-amz-date"], "20150830T123600Z");
    equal(
      signed.authorization,
      "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, " +
        `SignedHeaders=${signedNames ?? "host;x-amz-date"}, Signature=${signature}`,
    );
  });
}

Deno.test("the documentation's ListUsers request is signed as it shows", () => {
  const url = new URL("https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08");
  const headers = { "content-type": "application/x-www-form-urlencoded; charset=utf-8" };
  const signed = signedHeaders({ method: "GET", url, headers, body: "" }, {
    ...signer,
    service: "iam",
  });
  equal(
    signed.authorization?.split("Signature=")[1],
    "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
  );
});

Deno.test("the signing key is derived as the documentation shows", () => {
  const key = signingKey(signer.secretAccessKey, {
    day: "20150830",
    region: "us-east-1",
    service: "iam",
  });
  equal(
    Buffer.from(key).toString("hex"),
    "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9",
  );
});
