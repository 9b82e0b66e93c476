/**
 * The metadata of an identity provider, from which its signing certificates are taken.
 *
 * "Metadata for SAML V2.0" (OASIS), 2.4.1.1.
 *
 * @module
 */

import { AppError } from "../../errors.ts";
import { pemOf } from "../mtls/certificates.ts";
import { decodeBase64, decodeSamlMessage } from "./document.ts";
import { SamlError } from "./error.ts";
import { SIGNATURE_NS } from "./message.ts";
import { attributeOf, childrenOf, elementsOf, isNamed, type XmlElement } from "./tree.ts";
import { readXml } from "./xml.ts";

const METADATA_NS = "urn:oasis:names:tc:SAML:2.0:metadata";

/** Whether a text given as certificates is XML. */
export const isMetadata = (text: string): boolean => /^\uFEFF?\s*</.test(text);

/**
 * All signing certificates of an identity provider: two while it changes its key. A key without a
 * `use` is for signing as well.
 *
 * @returns PEM.
 * @throws {AppError} `invalid`
 */
export function signingCertificates(metadata: string, entityId: string): string {
  const provider = descriptorsIn(metadata).find((each) =>
    attributeOf(each, "entityID") === entityId
  );
  if (!provider) throw unusable("the metadata is of another identity provider than entity_id");
  const keys = childrenOf(provider, METADATA_NS, "IDPSSODescriptor")
    .flatMap((each) => childrenOf(each, METADATA_NS, "KeyDescriptor"))
    .filter((key) => (attributeOf(key, "use") ?? "signing") === "signing");
  const certificates = keys.flatMap(elementsOf)
    .filter((each) => isNamed(each, SIGNATURE_NS, "X509Certificate"))
    .map(({ text }) => {
      const bytes = decodeBase64(text);
      if (!bytes) throw unusable("a certificate of the metadata is not base64");
      return pemOf(bytes);
    });
  if (certificates.length === 0) throw unusable("the metadata has no signing certificate");
  return [...new Set(certificates)].join("");
}

function descriptorsIn(metadata: string): XmlElement[] {
  try {
    const text = decodeSamlMessage(new TextEncoder().encode(metadata).toBase64());
    return elementsOf(readXml(text)).filter((each) =>
      isNamed(each, METADATA_NS, "EntityDescriptor")
    );
  } catch (error) {
    if (!(error instanceof SamlError)) throw error;
    throw unusable("the metadata is not XML that can be read", error);
  }
}

const unusable = (fault: string, cause?: unknown) =>
  new AppError("invalid", `body.certificate: ${fault}`, cause === undefined ? {} : { cause });
