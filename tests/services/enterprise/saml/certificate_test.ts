import { doesNotThrow, equal, match, throws } from "node:assert/strict";
import { AppError } from "../../../../services/errors.ts";
import {
  assertUsableIdpCertificates,
  readIdpKeys,
} from "../../../../services/enterprise/saml/certificate.ts";
import { createAuthority, daysFromNow, selfSigned } from "../../../helpers/certificates.ts";
import { createSigningKey } from "../../../helpers/saml_idp.ts";

const rsa = await createSigningKey("RSA-2048");
const { certificate: pem } = rsa;
const der = Uint8Array.fromBase64(pem.replace(/-----.*?-----/g, ""));
const block = (bytes: Uint8Array, type = "CERTIFICATE") =>
  `-----BEGIN ${type}-----\n${bytes.toBase64()}\n-----END ${type}-----\n`;

function refuses(certificate: string, because: RegExp): void {
  throws(() => assertUsableIdpCertificates(certificate), (error) => {
    equal(error instanceof AppError ? error.code : error, "invalid");
    match((error as AppError).message, because);
    return true;
  });
}

Deno.test("certificates with RSA keys of 2048 bits and on the three curves are taken", async () => {
  assertUsableIdpCertificates(pem);
  for (const kind of ["P-256", "P-384", "P-521"] as const) {
    assertUsableIdpCertificates((await createSigningKey(kind)).certificate);
  }
});

Deno.test("two certificates are taken, in one text", async () => {
  const second = (await createSigningKey("P-256")).certificate;
  for (const text of [pem + second, `${pem}\n\n${second}\n`, pem.trim() + second.trim()]) {
    equal(readIdpKeys(text).map(({ type }) => type).join(), "rsa,ec");
  }
});

Deno.test("line ends and width of a PEM do not matter", () => {
  for (const each of [pem.replaceAll("\n", "\r\n"), block(der), `\n  ${pem}\n\n`]) {
    doesNotThrow(() => assertUsableIdpCertificates(each));
  }
});

Deno.test("SAML trusts a key: an ended certificate is taken, and one that others signed", async () => {
  const ended = await selfSigned({ name: "x", from: daysFromNow(-9), to: daysFromNow(-8) });
  assertUsableIdpCertificates(ended.cert);
  const authority = await createAuthority("a");
  assertUsableIdpCertificates((await authority.issue({ name: "x" })).cert);
});

Deno.test("keys that are too weak or of another kind are refused", async () => {
  refuses((await createSigningKey("RSA-1024")).certificate, /RSA key of 1024 bits/);
  for (
    const algorithm of [
      ["-newkey", "ed25519"],
      ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:secp256k1"],
      ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:secp224r1"],
      ["-newkey", "rsa-pss", "-pkeyopt", "rsa_keygen_bits:2048"],
    ]
  ) {
    const { success, stdout } = await new Deno.Command("openssl", {
      args: ["req", "-x509", ...algorithm, "-nodes", "-keyout", "/dev/null", "-subj", "/CN=x"],
      stderr: "null",
    }).output();
    equal(success, true);
    refuses(new TextDecoder().decode(stdout), /RSA key of 2048 to 4096 bits, or an ECDSA key on/);
  }
});

Deno.test("RSA keys that prove nothing, or whose checks take too long, are refused", async () => {
  assertUsableIdpCertificates(await withRsaKey(4_096, [1, 0, 1]));
  refuses(await withRsaKey(4_104, [1, 0, 1]), /an RSA key of 2048 to 4096 bits/);
  refuses(await withRsaKey(2_048, [1]), /RSA key/);
  refuses(await withRsaKey(2_048, [1, 0, 0]), /RSA key/);
});

/** A certificate (signed by another key) with an RSA key of these numbers, in DER by hand. */
async function withRsaKey(bits: number, exponent: number[]): Promise<string> {
  const value = (tag: number, ...parts: (number[] | Uint8Array)[]): Uint8Array => {
    const content = parts.flatMap((part) => [...part]);
    const { length } = content;
    const size = length < 0x80 ? [length] : [0x82, length >> 8, length & 0xff];
    return new Uint8Array([tag, ...size, ...content]);
  };
  // Any odd number: whether it has two prime factors is not checked.
  const modulus = value(0x02, [0], new Uint8Array(bits / 8).fill(0xff));
  const rsaEncryption = [0x06, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1, 0x05, 0];
  const key = value(0x30, modulus, value(0x02, exponent));
  const info = value(0x30, value(0x30, rsaEncryption), value(0x03, [0], key));
  const folder = await Deno.makeTempDir({ prefix: "longshore-key-" });
  try {
    await Deno.writeTextFile(`${folder}/public.pem`, block(info, "PUBLIC KEY"));
    await Deno.writeTextFile(`${folder}/ca.pem`, rsa.privateKey + rsa.certificate);
    const { success, stdout } = await new Deno.Command("sh", {
      args: [
        "-c",
        "openssl req -new -key ca.pem -subj /CN=x | openssl x509 -req -force_pubkey public.pem " +
        "-CA ca.pem -set_serial 1",
      ],
      cwd: folder,
      stderr: "null",
    }).output();
    equal(success, true);
    return new TextDecoder().decode(stdout);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

for (
  const [what, certificate, because] of [
    ["nothing", "", /one certificate in PEM/],
    ["any text", "certificate", /one certificate in PEM/],
    ["base64 alone", der.toBase64(), /one certificate in PEM/],
    ["a private key", rsa.privateKey, /contains a private key/],
    ["a certificate called a key", block(der, "PUBLIC KEY"), /one certificate in PEM/],
    ["text before it", `subject=x\n${pem}`, /one certificate in PEM/],
    ["text after it", `${pem}x`, /one certificate in PEM/],
    ["six", pem.repeat(6), /contains 6 certificates; send at most 5/],
    [
      "a damaged second one",
      `${pem}-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----`,
      /is damaged/,
    ],
    ["text between two", `${pem}and${pem}`, /must be one certificate in PEM and nothing else/],
    ["text after two", `${pem}${pem}and`, /must be one certificate in PEM and nothing else/],
    [
      "a key after one",
      `${pem}-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n`,
      /contains a private key/,
    ],
    ["two in one block", block(new Uint8Array([...der, ...der])), /is damaged/],
    ["a byte more", block(new Uint8Array([...der, 0])), /is damaged/],
    ["a byte less", block(der.slice(0, -1)), /is damaged/],
    ["an empty block", block(new Uint8Array()), /is damaged/],
    ["any bytes", block(new Uint8Array([0x30, 3, 1, 2, 3])), /cannot be read/],
    ["wrong base64", pem.replace(/\n([A-Za-z])/, "\n$1="), /is damaged/],
    ["more than 50 KB", pem + "\n".repeat(50 * 1024), /longer than 51200/],
  ] as const
) {
  Deno.test(`a provider's certificate must not be ${what}`, () => refuses(certificate, because));
}
