/** Shapes of mTLS that several endpoints share. @module */

import * as z from "zod";
import { PEM_MAX, pemFault } from "../../../services/enterprise/mtls/certificates.ts";

export const PEM_EXAMPLE =
  "-----BEGIN CERTIFICATE-----\nMIIBtTCCAVugAwIBAgIUQ2xpZW50Q2VydGlmaWNhdGUxMjM0NTYwCgYIKoZIzj0E\n..." +
  "\n-----END CERTIFICATE-----\n";

/** Requirements for keys and signatures of certificates, for descriptions. */
export const KEY_RULE = "Its key must be RSA of at least 2048 bits, on the curve P-256, P-384 or " +
  "P-521, or Ed25519, and its signature must use SHA-256, SHA-384, SHA-512 or Ed25519.";

/** The text of one certificate. The service checks its content. */
export const CertificatePem = z.string().max(PEM_MAX).superRefine((pem, context) => {
  const fault = pemFault(pem);
  if (fault !== undefined) context.addIssue({ code: "custom", message: fault });
}).meta({
  description: "Exactly one certificate in PEM, at most 50 KB. Never send a private key",
  example: PEM_EXAMPLE,
});

export const Fingerprint = z.string().meta({
  description: "SHA-256 of the certificate's DER bytes",
  example: "sha256:7d865e959b2466918c9863afca942d0fb89d7c9ac0c99bafc3749504ded97730",
});
