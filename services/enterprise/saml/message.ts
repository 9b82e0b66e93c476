/**
 * The structure of a SAML response: one response with one assertion, unique IDs, and signatures only
 * in the element that they sign. This prevents signature wrapping attacks, all of which need a
 * second response or assertion, a duplicate ID or a signature elsewhere.
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

/**
 * Maximum number of elements, because the signature library searches all of them several times for
 * each signature. Keycloak writes two for each of 500 groups.
 */
export const ELEMENTS_MAX = 1_500;

const XSI_NS = "http://www.w3.org/2001/XMLSchema-instance";

/** The elements of a message whose structure is valid. */
export interface SamlMessage {
  response: XmlElement;
  /** `undefined` if the response only reports a failure. */
  assertion: XmlElement | undefined;
  responseSignature: XmlElement | undefined;
  assertionSignature: XmlElement | undefined;
}

/**
 * Finds the parts of a response and validates the structure.
 *
 * @param root The root element of the document or of signed bytes.
 * @throws {SamlError} `not_a_response`, `too_many_nodes`, `response_count`, `assertion_*`,
 * `encrypted`, `id_*`, `xsi_type`, `signature_namespace`, `signature_place`, `signature_count`.
 */
export function readMessage(root: XmlElement): SamlMessage {
  if (!isNamed(root, PROTOCOL_NS, "Response")) {
    throw new SamlError("not_a_response", "The message is not a SAML 2.0 response");
  }
  const all = elementsOf(root);
  if (all.length > ELEMENTS_MAX) {
    throw new SamlError("too_many_nodes", `The message has more than ${ELEMENTS_MAX} elements`);
  }
  if (all.filter(({ name }) => name === "Response").length > 1) {
    throw new SamlError("response_count", "The message contains more than one response");
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

/** Finds the assertion anywhere in the document, e.g. in Extensions, Advice or Object. */
function findAssertion(root: XmlElement, all: XmlElement[]): XmlElement | undefined {
  if (all.some(({ name }) => name === "EncryptedAssertion")) {
    throw new SamlError("assertion_encrypted", "Encrypted assertions are not supported");
  }
  if (all.some(({ name }) => name === "EncryptedID" || name === "NewEncryptedID")) {
    throw new SamlError("encrypted", "Encrypted name identifiers are not supported");
  }
  const assertions = all.filter(({ name }) => name === "Assertion");
  const [assertion, second] = assertions;
  if (second) {
    throw new SamlError("assertion_count", "The message contains more than one assertion");
  }
  if (assertion && assertion.namespace !== ASSERTION_NS) {
    throw new SamlError("assertion_namespace", "The assertion is in a wrong namespace");
  }
  if (assertion && assertion.parent !== root) {
    throw new SamlError("assertion_place", "The assertion is not a child of the response");
  }
  return assertion;
}

function findSignatures(all: XmlElement[]): XmlElement[] {
  const signatures = all.filter(({ name }) => name === "Signature");
  for (const { namespace, parent } of signatures) {
    if (namespace !== SIGNATURE_NS) {
      throw new SamlError("signature_namespace", "A signature is in a wrong namespace");
    }
    const isEnveloped = parent && (isNamed(parent, PROTOCOL_NS, "Response") ||
      isNamed(parent, ASSERTION_NS, "Assertion"));
    if (!isEnveloped) {
      throw new SamlError(
        "signature_place",
        "A signature is not a child of the response or the assertion",
      );
    }
  }
  if (new Set(signatures.map(({ parent }) => parent)).size < signatures.length) {
    throw new SamlError("signature_count", "An element contains more than one signature");
  }
  return signatures;
}

/** Whether a parser might treat an attribute as an ID. */
const isIdName = (name: string) => /^(?:id|assertionid|responseid|requestid)$/i.test(name);

function assertDistinctIds(all: XmlElement[]): void {
  const ids = all.flatMap(({ attributes }) => attributes.filter(({ name }) => isIdName(name)));
  if (new Set(ids.map(({ value }) => value)).size < ids.length) {
    throw new SamlError("id_duplicate", "An ID occurs twice in the message");
  }
}

/** A response and an assertion must have exactly one ID attribute, named `ID`. */
function assertId(element: XmlElement): void {
  if (
    element.attributes.some(({ name, qualifiedName }) => isIdName(name) && qualifiedName !== "ID")
  ) {
    throw new SamlError("id_variant", `The ${element.name} has an ID attribute not named ID`);
  }
  const id = attributeOf(element, "ID");
  if (id === undefined) throw new SamlError("id_missing", `The ${element.name} has no ID`);
  if (!/^[A-Za-z_][\w.-]{0,255}$/.test(id)) {
    throw new SamlError("id_malformed", `The ID of the ${element.name} is not a valid XML ID`);
  }
}

/** Only attribute values may have `xsi:type`, which replaces the type of an element. */
function assertPlainTypes(all: XmlElement[]): void {
  const isTyped = ({ attributes }: XmlElement) =>
    attributes.some(({ namespace, name }) => namespace === XSI_NS && name === "type");
  const typed = all.find((element) =>
    (element.namespace === ASSERTION_NS || element.namespace === PROTOCOL_NS) &&
    element.name !== "AttributeValue" && isTyped(element)
  );
  if (typed) throw new SamlError("xsi_type", `The element ${typed.name} must not have an xsi:type`);
}
