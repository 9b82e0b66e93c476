/** Signatures by the real `ssh-keygen`. @module */

import { deepEqual, equal, rejects } from "node:assert/strict";
import { isNewer, readSignedSums, versionOf } from "../../../services/release/sums.ts";
import { SignatureError, verifySshSignature } from "../../../services/release/ssh_signature.ts";
import { temporaryDirectory } from "../../helpers/command.ts";
import { createKey, signText } from "../../helpers/ssh_keys.ts";

const MESSAGE = "some text\n";
const bytes = (text: string) => new TextEncoder().encode(text);

/** Two keys, and the signature of `MESSAGE` by the first one. */
async function signed(options: Parameters<typeof signText>[2] = {}) {
  const directory = temporaryDirectory();
  const [key, otherKey] = [await createKey(directory.path), await createKey(directory.path)];
  return {
    key,
    otherKey,
    signature: await signText(key, MESSAGE, options),
    [Symbol.dispose]: () => directory[Symbol.dispose](),
  };
}

/** Changes the bytes inside of a signature's armor. */
function changed(signature: string, change: (bytes: Uint8Array) => Uint8Array): string {
  const encoded = signature.split("\n").slice(1, -2).join("");
  const text = change(Uint8Array.fromBase64(encoded)).toBase64().replace(/.{70}/g, "$&\n");
  return `-----BEGIN SSH SIGNATURE-----\n${text.trim()}\n-----END SSH SIGNATURE-----\n`;
}

const refuses = (verification: Promise<unknown>, message: string) =>
  rejects(verification, new SignatureError(message));

for (const hash of ["sha256", "sha512"]) {
  Deno.test(`verifySshSignature() accepts a signature over ${hash} by one of the keys`, async () => {
    using given = await signed({ hash });
    const keys = [given.otherKey.publicKey, given.key.publicKey];

    await verifySshSignature(bytes(MESSAGE), given.signature, { keys, namespace: "file" });
  });
}

Deno.test("verifySshSignature() refuses other content, another key and another namespace", async () => {
  using given = await signed();
  const { signature, key, otherKey } = given;
  const verify = (message: string, { publicKey }: { publicKey: string }, namespace = "file") =>
    verifySshSignature(bytes(message), signature, { keys: [publicKey], namespace });

  await refuses(verify(`${MESSAGE} `, key), "the signature does not fit the content");
  await refuses(verify(MESSAGE, otherKey), "it was signed with a key that is not trusted");
  await refuses(verify(MESSAGE, key, "git"), `the signature is for "file", not for "git"`);
  await refuses(
    verify(MESSAGE, { publicKey: "ssh-rsa AAAA" }),
    "the key is not an Ed25519 key (ssh-ed25519 AAAA...)",
  );
  await refuses(
    verifySshSignature(bytes(MESSAGE), signature, { keys: [], namespace: "file" }),
    "it was signed with a key that is not trusted",
  );
});

Deno.test("verifySshSignature() refuses the signature of a key that is not an Ed25519 key", async () => {
  using directory = temporaryDirectory();
  const [ecdsa, ed25519] = [
    await createKey(directory.path, "ecdsa"),
    await createKey(directory.path),
  ];
  const signature = await signText(ecdsa, MESSAGE);

  await refuses(
    verifySshSignature(bytes(MESSAGE), signature, { keys: [ed25519.publicKey], namespace: "file" }),
    "the key is not an Ed25519 key",
  );
});

Deno.test("verifySshSignature() refuses a signature in which any byte differs", async () => {
  using given = await signed();
  const { signature, key: { publicKey } } = given;
  const trust = { keys: [publicKey], namespace: "file" };
  const { length } = Uint8Array.fromBase64(signature.split("\n").slice(1, -2).join(""));

  for (let at = 0; at < length; at++) {
    const other = changed(signature, (bytes) => bytes.with(at, bytes[at]! ^ 1));
    await rejects(verifySshSignature(bytes(MESSAGE), other, trust), SignatureError, `byte ${at}`);
  }
});

Deno.test("verifySshSignature() refuses a signature that is shorter, longer or not one", async () => {
  using given = await signed();
  const { signature, key: { publicKey } } = given;
  const verify = (signature: string) =>
    verifySshSignature(bytes(MESSAGE), signature, { keys: [publicKey], namespace: "file" });

  await refuses(verify(changed(signature, (all) => all.slice(0, -1))), "it ends too early");
  await refuses(
    verify(changed(signature, (all) => new Uint8Array([...all, 0]))),
    "it has trailing data",
  );
  for (const text of ["", "signature", `${signature}\n`, ` ${signature}`, signature.repeat(2)]) {
    await refuses(verify(text), "it is not an SSH signature");
  }
  await refuses(
    verify("-----BEGIN SSH SIGNATURE-----\nA\n-----END SSH SIGNATURE-----\n"),
    "it is not valid base64",
  );
});

Deno.test("readSignedSums() returns the names by their checksum", async () => {
  using directory = temporaryDirectory();
  const key = await createKey(directory.path);
  const [a, b] = ["a".repeat(64), "b".repeat(64)];
  const sums = `${a}  CHANGES.md\n${b}  longshore-1.2.3\n`;

  const read = await readSignedSums(sums, await signText(key, sums), [key.publicKey]);

  deepEqual([...read], [[a, "CHANGES.md"], [b, "longshore-1.2.3"]]);
  const wrong = `${a} CHANGES.md\n`;
  await refuses(
    readSignedSums(wrong, await signText(key, wrong), [key.publicKey]),
    "it has a line that is not a checksum and a name",
  );
});

Deno.test("versionOf() reads the version of an executable for one system", () => {
  const target = "x86_64-unknown-linux-gnu";
  equal(versionOf(`longshore-1.2.3-${target}`, target), "1.2.3");
  equal(versionOf(`longshore-1.2.3-rc.1-${target}`, target), "1.2.3-rc.1");
  equal(versionOf("longshore-1.2.3-aarch64-unknown-linux-gnu", target), undefined);
  equal(versionOf("longshore-1.2.3.cdx.json", target), undefined);
  equal(versionOf(`longshore-${target}`, target), undefined);
});

Deno.test("isNewer() orders versions and pre-releases", () => {
  const ascending = ["0.9.10", "0.10.0", "1.0.0-rc.2", "1.0.0-rc.10", "1.0.0", "1.0.1"];
  for (const [i, a] of ascending.entries()) {
    for (const [j, b] of ascending.entries()) equal(isNewer(a, b), i > j, `${a} and ${b}`);
  }
});
