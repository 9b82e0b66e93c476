/**
 * The request for a login at an identity provider, by the browser's hand.
 *
 * "Assertions and Protocols for SAML V2.0" (OASIS), 3.4; "Bindings for SAML V2.0", 3.4 and 3.5.
 *
 * @module
 */

import { ASSERTION_NS, PROTOCOL_NS } from "./message.ts";

export interface AuthnRequest {
  /** A new XML id, e.g. `_` and hexadecimal digits: it must not begin with a digit. */
  id: string;
  issuedAt: Date;
  /** The identity provider's address; may have a query. */
  destination: string;
  acsUrl: string;
  /** Our entity id. */
  issuer: string;
  /** The format of name identifiers that is asked for; any, if absent. */
  nameIdFormat?: string | undefined;
  binding: "HTTP-POST" | "HTTP-Redirect";
  /** Comes back with the response, as it is. */
  relayState?: string | undefined;
}

export type AuthnRequestMessage =
  | { kind: "redirect"; url: string }
  | { kind: "post"; url: string; fields: { SAMLRequest: string; RelayState?: string } };

export const POST_BINDING = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST";

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** An address to go to, or a form to send. */
export async function authnRequest(request: AuthnRequest): Promise<AuthnRequestMessage> {
  const { destination, binding, relayState } = request;
  const xml = new TextEncoder().encode(requestXml(request));
  if (binding === "HTTP-POST") {
    const fields = {
      SAMLRequest: xml.toBase64(),
      ...(relayState === undefined ? {} : { RelayState: relayState }),
    };
    return { kind: "post", url: destination, fields };
  }
  const query = new URLSearchParams({ SAMLRequest: (await deflated(xml)).toBase64() });
  if (relayState !== undefined) query.set("RelayState", relayState);
  const url = new URL(destination);
  url.search = [url.search.slice(1), query].filter((each) => `${each}` !== "").join("&");
  return { kind: "redirect", url: url.href };
}

/** A text as it stands between tags or quotes. Line ends would not survive in an attribute. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"'\t\n\r]/g, (each) => ENTITIES[each] ?? `&#${each.charCodeAt(0)};`);
}

function requestXml({ id, issuedAt, destination, acsUrl, issuer, nameIdFormat }: AuthnRequest) {
  // AllowCreate: the identity provider may make up an identifier for one who was never here.
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

/** Deflated without the header of zlib (Bindings, 3.4.4.1). */
async function deflated(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
