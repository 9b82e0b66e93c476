/**
 * Shapes of mTLS that several endpoints share.
 *
 * @module
 */

import * as z from "zod";
import { certificateProblem, PEM_MAX } from "../../services/enterprise/certificates.ts";

export const PEM_EXAMPLE =
  "-----BEGIN CERTIFICATE-----\nMIIBtTCCAVugAwIBAgIUQ2xpZW50Q2VydGlmaWNhdGUxMjM0NTYwCgYIKoZIzj0E\n..." +
  "\n-----END CERTIFICATE-----\n";

/** One certificate; what it says is looked at when it is read. */
export const CertificatePem = z.string().max(PEM_MAX).superRefine((pem, context) => {
  const problem = certificateProblem(pem);
  if (problem !== undefined) context.addIssue({ code: "custom", message: problem });
}).meta({
  description: "One certificate in PEM, at most 50 KB, and nothing else; above all no private key",
  example: PEM_EXAMPLE,
});

export const Fingerprint = z.string().meta({
  description: "SHA-256 of the certificate's DER bytes",
  example: "sha256:7d865e959b2466918c9863afca942d0fb89d7c9ac0c99bafc3749504ded97730",
});
