/** The certificate in the body of a request. @module */

import { AppError } from "../../errors.ts";
import { generalFault } from "./certificate_faults.ts";
import { type Certificate, CertificateError, readCertificate } from "./certificates.ts";

/** @param fault The end of a sentence, e.g. `has expired`. */
export const unsuitableCertificate = (fault: string, cause?: unknown) =>
  new AppError("invalid", `body.certificate: ${fault}`, { cause });

/**
 * Reads and checks the certificate.
 *
 * @param purposeFault Checks the certificate for its purpose.
 * @throws {AppError} `invalid`, with the first fault.
 */
export async function readSubmittedCertificate(
  pem: string,
  at: Date,
  purposeFault: (certificate: Certificate) => string | undefined,
): Promise<Certificate> {
  try {
    const certificate = await readCertificate(pem);
    const fault = generalFault(certificate, at) ?? purposeFault(certificate);
    if (fault !== undefined) throw unsuitableCertificate(fault);
    return certificate;
  } catch (error) {
    if (error instanceof CertificateError) throw unsuitableCertificate(error.message, error);
    throw error;
  }
}
