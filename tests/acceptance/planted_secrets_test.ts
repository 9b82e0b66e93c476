import { deepEqual, equal } from "node:assert/strict";
import { plantedSecrets } from "./planted_secrets.ts";

const SECRET = `s3cr"t\\of <the> h&rbour/ma$ter + 'ü'`;

for (
  const { form, text } of [
    { form: "as it is", text: `key=${SECRET};` },
    { form: "as it is", text: SECRET.toUpperCase() },
    { form: "as it is", text: `cut off: ${SECRET.slice(0, 17)}...` },
    { form: "as it is", text: `the end: ...${SECRET.slice(-17)}` },
    { form: "base64", text: btoa(`Ada:s3cr"t\\of <the> h&rbour`) },
    { form: "base64", text: btoa(`Eve: s3cr"t\\of <the> h&rbour`) },
    { form: "base64", text: btoa(`\0Adam\0s3cr"t\\of <the> h&rbour`) },
    {
      form: "hexadecimal",
      text: `0x${new TextEncoder().encode(SECRET).toHex().toUpperCase()}`,
    },
    { form: "URL-encoded", text: `?q=${encodeURIComponent("ü" + SECRET.slice(3, 9) + SECRET)}` },
    { form: "JSON", text: JSON.stringify({ password: SECRET.slice(3, 9) + SECRET }) },
    { form: "XML", text: "h&amp;rbour/ma$ter" },
  ]
) {
  Deno.test(`a secret is found ${form}: ${text.slice(0, 40)}`, () => {
    const secrets = plantedSecrets();
    secrets.keep("the key", SECRET);
    deepEqual(secrets.leaksIn(text).map(({ secret }) => secret), ["the key"]);
  });
}

Deno.test("a planted secret is found in encoded forms, and other text is not mistaken for it", () => {
  const secrets = plantedSecrets();
  const url = secrets.plant("the token", (secret) => `https://chat.example/${secret}/hook`);
  equal(secrets.leaksIn(url)[0]?.secret, "the token");
  deepEqual(secrets.leaksIn("https://chat.example/"), []);
  deepEqual(secrets.leaksIn(crypto.randomUUID().repeat(100)), []);
});
