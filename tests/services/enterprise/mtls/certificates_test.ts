import { deepEqual, equal, match, ok, rejects, throws } from "node:assert/strict";
import {
  authorityFault,
  clientFault,
  dateFault,
  generalFault,
} from "../../../../services/enterprise/mtls/certificate_faults.ts";
import {
  certificateBytes,
  CertificateError,
  isSignedBy,
  PEM_MAX,
  readCertificate,
} from "../../../../services/enterprise/mtls/certificates.ts";
import { createAuthority, type Identity } from "../../../helpers/certificates.ts";
import {
  derOf,
  oddCertificate,
  type OddIssue,
  opensslFingerprint,
  pemOf,
} from "../../../helpers/odd_certificates.ts";
import { processorMsOf } from "../../../helpers/in_time.ts";

// Within the day for which the certificates are made.
const now = new Date(Date.now() + 60 * 60 * 1000);
const authority = await createAuthority("Root");
const plain = await authority.issue({ name: "web-1" });

Deno.test("a certificate says who it is for, who signed it, and its dates and hash", async () => {
  const from = new Date("2026-01-02T03:04:05Z");
  const to = new Date("2049-12-31T23:59:59Z");
  const { cert } = await authority.issue({ name: "web-1", from, to });
  const { facts } = await readCertificate(cert);
  deepEqual(facts, {
    certificate: cert,
    fingerprint: `sha256:${(await opensslFingerprint(cert)).replaceAll(":", "").toLowerCase()}`,
    subject: "CN=web-1",
    issuer: "CN=Root",
    serial: facts.serial,
    not_before: from.toISOString(),
    not_after: to.toISOString(),
  });
  match(facts.serial, /^[0-9a-f]{2,40}$/);
});

Deno.test("a date after 2049 is read as well", async () => {
  const { cert } = await authority.issue({ name: "x", to: new Date("9999-12-31T23:59:59Z") });
  equal((await readCertificate(cert)).facts.not_after, "9999-12-31T23:59:59.000Z");
});

Deno.test("line ends, indentation and space around do not matter", async () => {
  const { facts } = await readCertificate(plain.cert);
  for (
    const text of [
      plain.cert.replaceAll("\n", "\r\n"),
      `\n\n ${plain.cert}\n`,
      plain.cert.trimEnd(),
      plain.cert.replaceAll("\n", "\n  "),
    ]
  ) deepEqual((await readCertificate(text)).facts, facts);
});

const der = derOf(plain.cert);
const body = plain.cert.split("\n").slice(1, -2).join("\n");
const wrapped = (text: string) =>
  `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`;

for (
  const [what, text, reason] of [
    ["nothing", "", /^must be one certificate in PEM and nothing else/],
    ["a text", "hello", /^must be one certificate/],
    ["its base64 alone", body, /^must be one certificate/],
    ["a text before it", `subject=web-1\n${plain.cert}`, /^must be one certificate/],
    ["a text after it", `${plain.cert}and more`, /^must be one certificate/],
    [
      "another kind of PEM",
      plain.cert.replaceAll("CERTIFICATE", "TRUSTED CERTIFICATE"),
      /^must be/,
    ],
    ["a request", plain.cert.replaceAll("CERTIFICATE", "CERTIFICATE REQUEST"), /^must be one/],
    ["no end", plain.cert.replace("-----END CERTIFICATE-----", ""), /^must be one certificate/],
    ["two certificates", plain.cert + authority.cert, /^contains 2 PEM blocks/],
    ["the same one twice", plain.cert + plain.cert, /^contains 2 PEM blocks/],
    ["its private key after it", plain.cert + plain.key, /^contains a private key/],
    ["its private key before it", plain.key + plain.cert, /^contains a private key/],
    ["a private key alone", plain.key, /^contains a private key/],
    [
      "an RSA private key",
      wrapped(body) + "-----BEGIN RSA PRIVATE KEY-----",
      /^contains a private/,
    ],
    [
      "a lower-case one",
      wrapped(body) + "-----begin ec private key-----",
      /^contains a private key/,
    ],
    ["an encrypted one", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIE", /^contains a private key/],
    ["no bytes", wrapped(""), /^is damaged/],
    ["headers in it", wrapped(`Proc-Type: 4,ENCRYPTED\n\n${body}`), /^is damaged/],
    ["no base64", wrapped("*".repeat(64)), /^is damaged/],
    [
      "base64 of a URL",
      wrapped(`${body.replaceAll("+", "-").replaceAll("/", "_")}-_--`),
      /^is dam/,
    ],
    ["a bit too many", wrapped("MIIB="), /^is damaged/],
    ["bits in the padding", wrapped("MAB="), /^is damaged/],
    ["a byte after it", pemOf(new Uint8Array([...der, 0])), /^is damaged/],
    ["a byte too few", pemOf(der.subarray(0, -1)), /^is damaged/],
    ["two in one block", pemOf(new Uint8Array([...der, ...der])), /^is damaged/],
    ["no sequence", pemOf(new Uint8Array([0x31, 0])), /^is damaged/],
    ["an indefinite length", pemOf(new Uint8Array([0x30, 0x80, 0, 0])), /^is damaged/],
    ["too long a text", plain.cert + " ".repeat(PEM_MAX), /^is longer than 51200 characters$/],
    [
      "an empty sequence",
      pemOf(new Uint8Array([0x30, 0])),
      /^is not a readable X\.509 certificate/,
    ],
  ] as const
) {
  Deno.test(`${what} is refused as a certificate, and nothing of it is repeated`, async () => {
    await rejects(readCertificate(text), (error) => {
      ok(error instanceof CertificateError);
      match(error.message, reason);
      for (const line of body.split("\n").concat(plain.key.split("\n").slice(1, -2))) {
        ok(!error.message.includes(line));
      }
      return true;
    });
  });
}

Deno.test("a text of many beginnings of a PEM block is refused quickly", async () => {
  for (
    const text of [
      "-----BEGIN ".repeat(PEM_MAX / 11),
      `-----BEGIN ${"A ".repeat(25_000)}`,
      wrapped(" ".repeat(51_000)),
      wrapped("\n".repeat(51_000) + "*"),
    ]
  ) {
    ok(await processorMsOf(() => throws(() => certificateBytes(text), CertificateError)) < 500);
  }
});

Deno.test("a certificate that nests without end is refused", async () => {
  // Sequences in sequences, with lengths that fit.
  let nested = new Uint8Array(0);
  const parts: Uint8Array[] = [];
  let length = 0;
  while (length < 36_000) {
    const head = length < 0x80
      ? [0x30, length]
      : length < 0x100
      ? [0x30, 0x81, length]
      : [0x30, 0x82, length >> 8, length & 0xff];
    parts.push(new Uint8Array(head));
    length += head.length;
  }
  nested = new Uint8Array(length);
  let at = 0;
  for (const part of parts.reverse()) {
    nested.set(part, at);
    at += part.length;
  }
  const pem = pemOf(nested);
  ok(await processorMsOf(() => rejects(readCertificate(pem), CertificateError)) < 5_000);
});

Deno.test("a certificate with any byte changed is read or refused, and never signed", async () => {
  const ca = await readCertificate(authority.cert);
  const original = await readCertificate(plain.cert);
  ok(await isSignedBy(original, ca));
  for (let index = 0; index < der.length; index += 3) {
    const changed = der.slice();
    changed[index]! ^= 1 << (index % 8);
    try {
      const certificate = await readCertificate(pemOf(changed));
      ok(certificate.facts.fingerprint !== original.facts.fingerprint);
      equal(await isSignedBy(certificate, ca), false, `byte ${index}`);
      generalFault(certificate, now);
      clientFault(certificate);
    } catch (error) {
      ok(error instanceof CertificateError, `byte ${index}: ${error}`);
    }
  }
});

const EC = (curve: string) => ["ec", "-pkeyopt", `ec_paramgen_curve:${curve}`];
const PSS = ["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:-1"];

for (
  const [what, issue] of [
    ["RSA with 2 048 bits", { key: ["rsa:2048"] }],
    ["RSA and SHA-512", { key: ["rsa:2048"], options: ["-sha512"] }],
    ["RSA-PSS", { key: ["rsa:2048"], options: PSS }],
    ["P-256", { key: EC("P-256") }],
    ["P-384 and SHA-384", { key: EC("P-384"), options: ["-sha384"] }],
    ["P-521", { key: EC("P-521") }],
    ["Ed25519", { key: ["ed25519"] }],
  ] as [string, OddIssue][]
) {
  Deno.test(`${what} is accepted, signs, and is not mistaken for another authority of the same name`, async () => {
    const extensions = ["basicConstraints = critical,CA:TRUE"];
    const ca = await oddCertificate({ ...issue, name: "CA", extensions });
    const impostor = await oddCertificate({ ...issue, name: "CA", extensions });
    const [good, other] = [await readCertificate(ca.cert), await readCertificate(impostor.cert)];
    equal(generalFault(good, now), undefined);
    equal(authorityFault(good), undefined);
    const options = issue.options ?? [];
    const leaf = await readCertificate(
      (await oddCertificate({ name: "leaf", issuer: ca, options })).cert,
    );
    equal(generalFault(leaf, now), undefined);
    deepEqual([await isSignedBy(leaf, good), await isSignedBy(leaf, other)], [true, false]);
  });
}

for (
  const [what, issue, reason] of [
    ["RSA with 1 024 bits", { key: ["rsa:1024"] }, /^has an RSA key of 1024 bits; at least 2048$/],
    [
      "an exponent that is too long",
      { key: ["rsa:2048", "-pkeyopt", "rsa_keygen_pubexp:36893488147419103233"] },
      /^has an RSA key with an unusable exponent$/,
    ],
    ["MD5", { key: ["rsa:2048"], options: ["-md5"] }, /^has a weak or unknown/],
    ["SHA-1", { key: ["rsa:2048"], options: ["-sha1"] }, /^has a weak or unknown/],
    ["SHA-1 and ECDSA", { options: ["-sha1"] }, /^has a weak or unknown/],
    ["SHA-224", { key: ["rsa:2048"], options: ["-sha224"] }, /^has a weak or unknown/],
    [
      "SHA-1 in RSA-PSS",
      { key: ["rsa:2048"], options: ["-sha1", ...PSS] },
      /^has a weak or unknown/,
    ],
    ["P-192", { key: EC("prime192v1") }, /^has an? (key|unsupported key type)/],
    [
      "secp256k1",
      { key: EC("secp256k1") },
      /^has a key on a curve other than P-256, P-384, P-521$/,
    ],
    ["Ed448", { key: ["ed448"] }, /^has an unsupported key type/],
    ["X25519", undefined, /^has an unsupported key type/],
  ] as [string, OddIssue | undefined, RegExp][]
) {
  Deno.test(`${what} is refused`, async () => {
    const { cert } = issue ? await oddCertificate(issue) : await keyAgreementCertificate();
    match(generalFault(await readCertificate(cert), now) ?? "", reason);
  });
}

/** A certificate over a key that cannot sign. */
async function keyAgreementCertificate(): Promise<Identity> {
  const { cert, key } = await oddCertificate({ key: ["ed25519"] });
  const bytes = derOf(cert);
  // The object identifier 1.3.101.112 (Ed25519) of the key becomes 1.3.101.110 (X25519).
  const key25519 = [0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
  const index = bytes.findIndex((_, i) => key25519.every((byte, j) => bytes[i + j] === byte));
  bytes[index + 6] = 0x6e;
  return { cert: pemOf(bytes), key };
}

Deno.test("an RSA key with the exponent 1, which allows forgery, is refused", async () => {
  const bytes = derOf((await oddCertificate({ key: ["rsa:2048"] })).cert);
  const exponent = [0x02, 0x03, 0x01, 0x00, 0x01];
  const index = bytes.findIndex((_, i) => exponent.every((byte, j) => bytes[i + j] === byte));
  for (
    const [value, isGood] of [[[0, 0, 1], false], [[0, 0, 2], false], [[1, 0, 1], true]] as const
  ) {
    bytes.set(value, index + 2);
    const fault = generalFault(await readCertificate(pemOf(bytes)), now);
    equal(fault, isGood ? undefined : "has an RSA key with an unusable exponent");
  }
});

for (
  const [what, extensions, reason] of [
    ["CA:TRUE", ["basicConstraints = CA:TRUE"], undefined],
    [
      "CA:TRUE and keyCertSign",
      ["basicConstraints = CA:TRUE", "keyUsage = keyCertSign,cRLSign"],
      undefined,
    ],
    ["no extension", [], /^is not a CA certificate/],
    ["CA:FALSE", ["basicConstraints = CA:FALSE"], /^is not a CA certificate/],
    ["keyCertSign alone", ["keyUsage = keyCertSign"], /^is not a CA certificate/],
    [
      "CA:TRUE without keyCertSign",
      ["basicConstraints = CA:TRUE", "keyUsage = digitalSignature"],
      /^cannot sign certificates/,
    ],
  ] as const
) {
  Deno.test(`as an authority, ${what} is ${reason ? "refused" : "good"}`, async () => {
    const { cert } = await oddCertificate({ extensions: [...extensions] });
    const fault = authorityFault(await readCertificate(cert));
    if (reason) match(fault ?? "", reason);
    else equal(fault, undefined);
  });
}

for (
  const [usage, isGood] of [
    [undefined, true],
    ["clientAuth", true],
    ["serverAuth,clientAuth", true],
    ["anyExtendedKeyUsage", true],
    ["serverAuth", false],
    ["codeSigning,emailProtection", false],
  ] as const
) {
  Deno.test(`as a client, extendedKeyUsage ${usage ?? "missing"} is ${isGood ? "good" : "refused"}`, async () => {
    const extensions = usage === undefined ? [] : [`extendedKeyUsage = ${usage}`];
    const fault = clientFault(await readCertificate((await oddCertificate({ extensions })).cert));
    if (isGood) equal(fault, undefined);
    else match(fault ?? "", /^is not a client certificate/);
  });
}

Deno.test("a certificate is valid from its first to its last second", () => {
  const dates = { not_before: "2026-01-01T00:00:00.000Z", not_after: "2026-12-31T23:59:59.000Z" };
  const at = (time: string) => dateFault(dates, new Date(time));
  equal(at("2025-12-31T23:59:59.999Z"), "is not yet valid (from 2026-01-01T00:00:00.000Z)");
  equal(at("2026-01-01T00:00:00.000Z"), undefined);
  equal(at("2026-12-31T23:59:59.000Z"), undefined);
  equal(at("2026-12-31T23:59:59.001Z"), "has expired (2026-12-31T23:59:59.000Z)");
  equal(dateFault({ not_before: null, not_after: null }, now), undefined);
});

Deno.test("a name with invisible characters is refused", async () => {
  const bytes = derOf((await oddCertificate({ name: "good.example,evil" })).cert);
  const text = new TextDecoder("latin1").decode(bytes);
  bytes[text.lastIndexOf(",evil")] = 0;
  await rejects(readCertificate(pemOf(bytes)), /has a subject with invisible characters$/);
  for (const name of ["a\u200bb", "a\u202eb", "a\u0085b"]) {
    const { cert } = await oddCertificate({ name });
    await rejects(readCertificate(cert), /has a (subject|issuer) with invisible characters$/);
  }
});

Deno.test("a name of more than 1000 characters is refused", async () => {
  const extensions = ["basicConstraints = CA:TRUE"];
  const name = "x" + Array(20).fill(`/OU=${"z".repeat(60)}`).join("");
  const { cert } = await oddCertificate({ name, extensions });
  await rejects(readCertificate(cert), /has a subject of more than 1000 characters$/);
});

Deno.test("an issuer is recognized by name and by key", async () => {
  const [root, other] = [await createAuthority("Root"), await createAuthority("Other")];
  const leaf = await readCertificate(plain.cert);
  equal(await isSignedBy(leaf, await readCertificate(authority.cert)), true);
  equal(await isSignedBy(leaf, await readCertificate(root.cert)), false);
  equal(await isSignedBy(leaf, await readCertificate(other.cert)), false);
  equal(await isSignedBy(leaf, leaf), false);
  const sub = await authority.issueAuthority({ name: "Sub" });
  const below = await readCertificate((await sub.issue({ name: "deep" })).cert);
  equal(await isSignedBy(below, await readCertificate(sub.cert)), true);
  equal(await isSignedBy(below, await readCertificate(authority.cert)), false);
  // A signature of another kind than the key's.
  const rsa = await oddCertificate({
    name: "Root",
    key: ["rsa:2048"],
    extensions: ["basicConstraints = CA:TRUE"],
  });
  equal(await isSignedBy(leaf, await readCertificate(rsa.cert)), false);
});
