/**
 * The certificate in the body of a request.
 *
 * @module
 */

import { AppError } from "../errors.ts";
import {
  type Certificate,
  CertificateError,
  generalFault,
  readCertificate,
} from "./certificates.ts";

/** @param fault As the end of a sentence, e.g. `has expired`. */
export const unfitCertificate = (fault: string, cause?: unknown) =>
  new AppError("invalid", `body.certificate: ${fault}`, { cause });

/**
 * Reads it and checks what has to hold for every one.
 *
 * @throws {AppError} `invalid`, with the first thing that is wrong.
 */
export async function givenCertificate(pem: string, at: Date): Promise<Certificate> {
  const certificate = await readGiven(pem);
  const fault = generalFault(certificate, at);
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
