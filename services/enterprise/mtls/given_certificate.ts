/**
 * The certificate in the body of a request.
 *
 * @module
 */

import { AppError } from "../../errors.ts";
import { generalFault } from "./certificate_faults.ts";
import { type Certificate, CertificateError, readCertificate } from "./certificates.ts";

/** @param fault As the end of a sentence, e.g. `has expired`. */
export const unfitCertificate = (fault: string, cause?: unknown) =>
  new AppError("invalid", `body.certificate: ${fault}`, { cause });

/**
 * Reads the certificate, and checks it.
 *
 * @param purposeFault What makes a certificate unfit for what it is given for.
 * @throws {AppError} `invalid`, with the first thing that is wrong.
 */
export async function givenCertificate(
  pem: string,
  at: Date,
  purposeFault: (certificate: Certificate) => string | undefined,
): Promise<Certificate> {
  const certificate = await readGiven(pem);
  const fault = generalFault(certificate, at) ?? purposeFault(certificate);
  if (fault !== undefined) throw unfitCertificate(fault);
  return certificate;
}

async function readGiven(pem: string): Promise<Certificate> {
  try {
    return await readCertificate(pem);
  } catch (error) {
    if (error instanceof CertificateError) throw unfitCertificate(error.message, error);
    throw error;
  }
}
