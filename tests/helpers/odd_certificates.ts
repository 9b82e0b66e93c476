/**
 * Certificates of every kind of key, signature and extension, made for a test by `openssl`.
 *
 * @module
 */

import type { Identity } from "./certificates.ts";

export interface OddIssue {
  /** The subject's common name; default `odd`. */
  name?: string;
  /** As `openssl req -newkey` takes it with its options, e.g. `["rsa:1024"]`; default P-256. */
  key?: string[];
  /** Further options of `openssl req`, e.g. `["-sha1"]`. */
  options?: string[];
  /** As in an extension section, e.g. `basicConstraints = CA:TRUE`; default none. */
  extensions?: string[];
  /** The issuer; default: self-signed. */
  issuer?: Identity;
}

const P256 = ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"];

/** A certificate that is valid now, for a day. */
export async function oddCertificate(what: OddIssue = {}): Promise<Identity> {
  const { name = "odd", key = P256, options = [], extensions = [], issuer } = what;
  const folder = await Deno.makeTempDir({ prefix: "longshore-odd-certificates-" });
  const own = { key: `${folder}/own.key`, cert: `${folder}/own.pem`, csr: `${folder}/own.csr` };
  const config = `${folder}/openssl.cnf`;
  try {
    await Deno.writeTextFile(
      config,
      ["[req]", "distinguished_name = dn", "[dn]", "[x]", ...extensions, ""].join("\n"),
    );
    const subject = ["-utf8", "-subj", `/CN=${name}`];
    const newKey = ["-newkey", ...key, "-nodes", "-keyout", own.key];
    const section = extensions.length ? ["-extensions", "x"] : [];
    if (issuer) {
      await Deno.writeTextFile(`${folder}/ca.pem`, issuer.cert);
      await Deno.writeTextFile(`${folder}/ca.key`, issuer.key);
      await openssl(["req", "-config", config, ...newKey, "-out", own.csr, ...subject]);
      await openssl([
        ...["x509", "-req", "-in", own.csr, "-out", own.cert, "-days", "1"],
        ...["-CA", `${folder}/ca.pem`, "-CAkey", `${folder}/ca.key`, "-CAcreateserial"],
        ...["-extfile", config, ...section, ...options],
      ]);
    } else {
      await openssl([
        ...["req", "-x509", "-config", config, ...newKey, "-out", own.cert, ...subject],
        ...["-days", "1", ...section, ...options],
      ]);
    }
    const [cert, privateKey] = await Promise.all([
      Deno.readTextFile(own.cert),
      Deno.readTextFile(own.key),
    ]);
    return { cert, key: privateKey };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function openssl(args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command("openssl", {
    args,
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(`openssl ${args[0]}: ${new TextDecoder().decode(stderr)}`);
}

/** The bytes of a PEM text. */
export const derOf = (pem: string): Uint8Array =>
  Uint8Array.fromBase64(pem.replace(/-----[^-]+-----/g, "").replace(/\s/g, ""));

/** Bytes as a PEM text. */
export const pemOf = (der: Uint8Array): string =>
  `-----BEGIN CERTIFICATE-----\n${
    der.toBase64().replace(/.{64}/g, "$&\n").trimEnd()
  }\n-----END CERTIFICATE-----\n`;

/** The output of `openssl x509 -fingerprint -sha256`: pairs with colons. */
export async function opensslFingerprint(pem: string): Promise<string> {
  const child = new Deno.Command("openssl", {
    args: ["x509", "-noout", "-fingerprint", "-sha256"],
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const input = child.stdin.getWriter();
  await input.write(new TextEncoder().encode(pem));
  await input.close();
  const { stdout } = await child.output();
  return new TextDecoder().decode(stdout).trim().split("=")[1]!;
}
