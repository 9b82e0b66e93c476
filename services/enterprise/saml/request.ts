/**
 * Creates the AuthnRequest that the browser carries to the identity provider.
 *
 * "Assertions and Protocols for SAML V2.0" (OASIS), 3.4; "Bindings for SAML V2.0", 3.4 and 3.5.
 *
 * @module
 */

import { escapeMarkup } from "../../text/escape_markup.ts";
import { ASSERTION_NS, PROTOCOL_NS } from "./message.ts";

export interface AuthnRequest {
  /** A new XML ID, which must not start with a digit, e.g. `_` and hexadecimal digits. */
  id: string;
  issuedAt: Date;
  /** The SSO URL of the identity provider; may have a query. */
  destination: string;
  acsUrl: string;
  /** The entity ID of this service. */
  issuer: string;
  /** The requested format of name identifiers; any if absent. */
  nameIdFormat?: string | undefined;
  binding: "HTTP-POST" | "HTTP-Redirect";
  /** Returned unchanged with the response. */
  relayState?: string | undefined;
}

export type AuthnRequestMessage =
  | { kind: "redirect"; url: string }
  | { kind: "post"; url: string; fields: { SAMLRequest: string; RelayState?: string } };

export const POST_BINDING = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST";

/** Creates a URL to redirect to, or a form to post. */
export async function createAuthnRequest(request: AuthnRequest): Promise<AuthnRequestMessage> {
  const { destination, binding, relayState } = request;
  const xml = new TextEncoder().encode(requestXml(request));
  if (binding === "HTTP-POST") {
    const fields = {
      SAMLRequest: xml.toBase64(),
      ...(relayState === undefined ? {} : { RelayState: relayState }),
    };
    return { kind: "post", url: destination, fields };
  }
  const query = new URLSearchParams({ SAMLRequest: (await deflate(xml)).toBase64() });
  if (relayState !== undefined) query.set("RelayState", relayState);
  const url = new URL(destination);
  url.search = [url.search.slice(1), query].filter((each) => `${each}` !== "").join("&");
  return { kind: "redirect", url: url.href };
}

/** Escapes a text for elements and attributes, including line breaks, which XML normalizes. */
export function escapeXml(text: string): string {
  return escapeMarkup(text).replace(/[\t\n]/g, (each) => `&#${each.charCodeAt(0)};`);
}

function requestXml({ id, issuedAt, destination, acsUrl, issuer, nameIdFormat }: AuthnRequest) {
  // AllowCreate: the identity provider may create an identifier for a new user.
  const policy = nameIdFormat === undefined
    ? ""
    : `<samlp:NameIDPolicy Format="${escapeXml(nameIdFormat)}" AllowCreate="true"/>`;
  const attributes = {
    "xmlns:samlp": PROTOCOL_NS,
    "xmlns:saml": ASSERTION_NS,
    ID: id,
    Version: "2.0",
    // Some identity providers cannot read fractions of a second.
    IssueInstant: issuedAt.toISOString().replace(/\.\d+/, ""),
    Destination: destination,
    ProtocolBinding: POST_BINDING,
    AssertionConsumerServiceURL: acsUrl,
  };
  const written = Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${escapeXml(value)}"`).join("");
  return `<samlp:AuthnRequest${written}>` +
    `<saml:Issuer>${escapeXml(issuer)}</saml:Issuer>${policy}</samlp:AuthnRequest>`;
}

/** Compresses without the zlib header (Bindings, 3.4.4.1). */
async function deflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
