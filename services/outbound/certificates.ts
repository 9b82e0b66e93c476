/** Certificates of authorities that sign the certificates of registries. @module */

import { nodeCrypto } from "../builtins.ts";
import { AppError } from "../errors.ts";

/** Maximum length of a PEM text, in characters. */
export const CA_CERTIFICATE_MAX = 32 * 1024;

const BLOCK = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

/**
 * Checks that a text is one or more certificates in PEM and nothing else.
 *
 * @throws {AppError} `invalid`; the message does not quote the text, which may be a private key.
 */
export function assertCertificates(pem: string, field: string): void {
  const blocks = pem.match(BLOCK) ?? [];
  if (blocks.length === 0 || pem.replace(BLOCK, "").trim() !== "") {
    throw new AppError("invalid", `${field}: must be certificates in PEM and nothing else`);
  }
  const { X509Certificate } = nodeCrypto();
  for (const [at, block] of blocks.entries()) {
    try {
      new X509Certificate(block);
    } catch (cause) {
      throw new AppError("invalid", `${field}: certificate ${at + 1} cannot be read`, { cause });
    }
  }
}
