import { doesNotThrow, equal, match, throws } from "node:assert/strict";
import { AppError } from "../../../services/errors.ts";
import { assertUsableIdpCertificate } from "../../../services/enterprise/saml_certificate.ts";
import { createAuthority, daysFromNow, selfSigned } from "../../helpers/certificates.ts";
import { createSigningKey } from "../../helpers/saml_idp.ts";

const rsa = await createSigningKey("RSA-2048");
const { certificate: pem } = rsa;
const der = Uint8Array.fromBase64(pem.replace(/-----.*?-----/g, ""));
const block = (bytes: Uint8Array, type = "CERTIFICATE") =>
  `-----BEGIN ${type}-----\n${bytes.toBase64()}\n-----END ${type}-----\n`;

function refuses(certificate: string, because: RegExp): void {
  throws(() => assertUsableIdpCertificate(certificate), (error) => {
    equal(error instanceof AppError ? error.code : error, "invalid");
    match((error as AppError).message, because);
    return true;
  });
}

Deno.test("certificates with RSA keys of 2048 bits and on the three curves are taken", async () => {
  assertUsableIdpCertificate(pem);
  for (const kind of ["P-256", "P-384", "P-521"] as const) {
    assertUsableIdpCertificate((await createSigningKey(kind)).certificate);
  }
});

Deno.test("line ends and width of a PEM do not matter", () => {
  for (const each of [pem.replaceAll("\n", "\r\n"), block(der), `\n  ${pem}\n\n`]) {
    doesNotThrow(() => assertUsableIdpCertificate(each));
  }
});

Deno.test("SAML trusts a key: an ended certificate is taken, and one that others signed", async () => {
  const ended = await selfSigned({ name: "x", from: daysFromNow(-9), to: daysFromNow(-8) });
  assertUsableIdpCertificate(ended.cert);
  const authority = await createAuthority("a");
  assertUsableIdpCertificate((await authority.issue({ name: "x" })).cert);
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
    refuses(new TextDecoder().decode(stdout), /RSA key, or one on the curve/);
  }
});

for (
  const [what, certificate, because] of [
    ["nothing", "", /one PEM block/],
    ["any text", "certificate", /one PEM block/],
    ["base64 alone", der.toBase64(), /one PEM block/],
    ["a private key", rsa.privateKey, /one PEM block/],
    ["a certificate called a key", block(der, "PUBLIC KEY"), /one PEM block/],
    ["text before it", `subject=x\n${pem}`, /one PEM block/],
    ["text after it", `${pem}x`, /one PEM block/],
    ["two", pem + pem, /exactly one/],
    ["two in one block", block(new Uint8Array([...der, ...der])), /exactly one/],
    ["a byte more", block(new Uint8Array([...der, 0])), /exactly one/],
    ["a byte less", block(der.slice(0, -1)), /exactly one/],
    ["an empty block", block(new Uint8Array()), /one PEM block/],
    ["any bytes", block(new Uint8Array([0x30, 3, 1, 2, 3])), /cannot be read/],
    ["wrong base64", pem.replace(/\n([A-Za-z])/, "\n$1="), /one PEM block/],
    ["more than 50 KB", pem + "\n".repeat(50 * 1024), /longer than 51200/],
  ] as const
) {
  Deno.test(`a provider's certificate must not be ${what}`, () => refuses(certificate, because));
}
