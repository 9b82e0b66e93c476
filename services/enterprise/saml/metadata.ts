/**
 * What an identity provider has to know about this service, as XML.
 *
 * "Metadata for SAML V2.0" (OASIS), 2.
 *
 * @module
 */

import { PROTOCOL_NS } from "./message.ts";
import { escapeXml, POST_BINDING } from "./request.ts";

export interface ServiceProvider {
  /** How this service calls itself. */
  entityId: string;
  /** Where responses are taken. */
  acsUrl: string;
  /** The format of name identifiers that is asked for; any, if absent. */
  nameIdFormat?: string | undefined;
}

/** The document, to be served as `application/samlmetadata+xml`. */
export function spMetadata({ entityId, acsUrl, nameIdFormat }: ServiceProvider): string {
  const format = nameIdFormat === undefined
    ? []
    : [`    <md:NameIDFormat>${escapeXml(nameIdFormat)}</md:NameIDFormat>`];
  return [
    `<?xml version="1.0" encoding="UTF-8"?>`,
    `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata"` +
    ` entityID="${escapeXml(entityId)}">`,
    // A signature over the response alone is accepted as well; one over the assertion is better.
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
