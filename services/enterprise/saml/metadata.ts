/**
 * The metadata of this service provider, as XML.
 *
 * "Metadata for SAML V2.0" (OASIS), 2.
 *
 * @module
 */

import { PROTOCOL_NS } from "./message.ts";
import { escapeXml, POST_BINDING } from "./request.ts";

export interface ServiceProvider {
  entityId: string;
  /** The URL of the assertion consumer service. */
  acsUrl: string;
  /** The requested format of name identifiers; any if absent. */
  nameIdFormat?: string | undefined;
}

/** Creates the document, to be served as `application/samlmetadata+xml`. */
export function spMetadata({ entityId, acsUrl, nameIdFormat }: ServiceProvider): string {
  const format = nameIdFormat === undefined
    ? []
    : [`    <md:NameIDFormat>${escapeXml(nameIdFormat)}</md:NameIDFormat>`];
  return [
    `<?xml version="1.0" encoding="UTF-8"?>`,
    `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata"` +
    ` entityID="${escapeXml(entityId)}">`,
    // A signature of the response alone is accepted, too; signed assertions are preferred.
    `  <md:SPSSODescriptor AuthnRequestsSigned="false" WantAssertionsSigned="true"` +
    ` protocolSupportEnumeration="${PROTOCOL_NS}">`,
    ...format,
    `    <md:AssertionConsumerService Binding="${POST_BINDING}"` +
    ` Location="${escapeXml(acsUrl)}" index="0" isDefault="true"/>`,
    `  </md:SPSSODescriptor>`,
    `</md:EntityDescriptor>`,
    "",
  ].join("\n");
}
