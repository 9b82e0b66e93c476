/**
 * What stands where in a SAML response: one response, in it one assertion, ids that are there
 * once, and signatures only where they sign what they stand in. Every known wrapping of a signed
 * assertion needs a second response, a second assertion, an id twice or a signature elsewhere.
 *
 * @module
 */

import { SamlError } from "./error.ts";
import { attributeOf, elementsOf, isNamed, type XmlElement } from "./tree.ts";

/** "Assertions and Protocols for SAML V2.0" (OASIS), 2 and 3. */
export const ASSERTION_NS = "urn:oasis:names:tc:SAML:2.0:assertion";
export const PROTOCOL_NS = "urn:oasis:names:tc:SAML:2.0:protocol";
/** "XML Signature Syntax and Processing" (W3C). */
export const SIGNATURE_NS = "http://www.w3.org/2000/09/xmldsig#";

const XSI_NS = "http://www.w3.org/2001/XMLSchema-instance";

/** Elements of one message, as far as their places are known to be right. */
export interface SamlMessage {
  response: XmlElement;
  /** Absent where the response only says why there is none. */
  assertion: XmlElement | undefined;
  /** The response's own signature. */
  responseSignature: XmlElement | undefined;
  assertionSignature: XmlElement | undefined;
}

/**
 * Finds the parts of a response and refuses what stands where it must not.
 *
 * @param root The document's root, or that of the bytes that a signature covers.
 * @throws {SamlError} `not_a_response`, `response_count`, `assertion_*`, `encrypted`, `id_*`,
 * `xsi_type`, `signature_namespace`, `signature_place`, `signature_count`.
 */
export function readMessage(root: XmlElement): SamlMessage {
  if (!isNamed(root, PROTOCOL_NS, "Response")) {
    throw new SamlError("not_a_response", "The message is not a SAML 2.0 response");
  }
  const all = elementsOf(root);
  if (all.filter(({ name }) => name === "Response").length > 1) {
    throw new SamlError("response_count", "The message holds more than one response");
  }
  assertDistinctIds(all);
  const assertion = findAssertion(root, all);
  assertPlainTypes(all);
  assertId(root);
  if (assertion) assertId(assertion);
  const signatures = findSignatures(all);
  return {
    response: root,
    assertion,
    responseSignature: signatures.find(({ parent }) => parent === root),
    assertionSignature: signatures.find(({ parent }) => parent === assertion),
  };
}

/** The one assertion, wherever it hides: in Extensions, Advice, Object, another namespace. */
function findAssertion(root: XmlElement, all: XmlElement[]): XmlElement | undefined {
  // Encrypted ones could not be looked into before they are decrypted, and nothing here decrypts.
  if (all.some(({ name }) => name === "EncryptedAssertion")) {
    throw new SamlError("assertion_encrypted", "Encrypted assertions are not supported");
  }
  if (all.some(({ name }) => name === "EncryptedID" || name === "NewEncryptedID")) {
    throw new SamlError("encrypted", "Encrypted name identifiers are not supported");
  }
  const assertions = all.filter(({ name }) => name === "Assertion");
  const [assertion, second] = assertions;
  if (second) {
    throw new SamlError("assertion_count", "The message holds more than one assertion");
  }
  if (assertion && assertion.namespace !== ASSERTION_NS) {
    throw new SamlError("assertion_namespace", "The assertion is in another namespace");
  }
  if (assertion && assertion.parent !== root) {
    throw new SamlError("assertion_place", "The assertion does not stand in the response itself");
  }
  return assertion;
}

function findSignatures(all: XmlElement[]): XmlElement[] {
  const signatures = all.filter(({ name }) => name === "Signature");
  for (const { namespace, parent } of signatures) {
    if (namespace !== SIGNATURE_NS) {
      throw new SamlError("signature_namespace", "A signature is in another namespace");
    }
    const signs = parent && (isNamed(parent, PROTOCOL_NS, "Response") ||
      isNamed(parent, ASSERTION_NS, "Assertion"));
    if (!signs) {
      throw new SamlError(
        "signature_place",
        "A signature stands in something else than the response or the assertion",
      );
    }
  }
  if (new Set(signatures.map(({ parent }) => parent)).size < signatures.length) {
    throw new SamlError("signature_count", "An element holds more than one signature");
  }
  return signatures;
}

/** Whether an attribute can be taken for an id by whatever looks for one. */
const isIdName = (name: string) => /^(?:id|assertionid|responseid|requestid)$/i.test(name);

function assertDistinctIds(all: XmlElement[]): void {
  const ids = all.flatMap(({ attributes }) => attributes.filter(({ name }) => isIdName(name)));
  if (new Set(ids.map(({ value }) => value)).size < ids.length) {
    throw new SamlError("id_duplicate", "An id occurs twice in the message");
  }
}

/** A response and an assertion are found by `ID`, and there is nothing else to find them by. */
function assertId(element: XmlElement): void {
  if (
    element.attributes.some(({ name, qualifiedName }) => isIdName(name) && qualifiedName !== "ID")
  ) {
    throw new SamlError("id_variant", `The ${element.name} has an id that is not called ID`);
  }
  const id = attributeOf(element, "ID");
  if (id === undefined) throw new SamlError("id_missing", `The ${element.name} has no ID`);
  if (!/^[A-Za-z_][\w.-]{0,255}$/.test(id)) {
    throw new SamlError("id_malformed", `The ${element.name}'s ID is no XML id`);
  }
}

/** `xsi:type` could make an element something else than its name says; values alone may have it. */
function assertPlainTypes(all: XmlElement[]): void {
  const isTyped = ({ attributes }: XmlElement) =>
    attributes.some(({ namespace, name }) => namespace === XSI_NS && name === "type");
  const typed = all.find((element) =>
    (element.namespace === ASSERTION_NS || element.namespace === PROTOCOL_NS) &&
    element.name !== "AttributeValue" && isTyped(element)
  );
  if (typed) throw new SamlError("xsi_type", `The type of a ${typed.name} is replaced`);
}
