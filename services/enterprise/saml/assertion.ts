/**
 * Reads the content of a response and its assertion. The caller has to pass elements that come from
 * signed bytes.
 *
 * @module
 */

import { type Conditions, readInstant, type SubjectConfirmation } from "./conditions.ts";
import { SamlError } from "./error.ts";
import { ASSERTION_NS, PROTOCOL_NS } from "./message.ts";
import { attributeOf, childrenOf, elementsOf, textOf, type XmlElement } from "./tree.ts";

export interface SamlResponse {
  issueInstant: Date;
  destination: string | undefined;
  inResponseTo: string | undefined;
  issuer: string | undefined;
}

export interface SamlAssertion {
  id: string;
  issuer: string;
  issueInstant: Date;
  nameId: NameId;
  /** The confirmations with the method bearer. */
  confirmations: SubjectConfirmation[];
  conditions: Conditions;
  /** The first SessionIndex of the authentication statements. */
  sessionIndex: string | undefined;
  /** The earliest SessionNotOnOrAfter of the authentication statements. */
  sessionNotOnOrAfter: Date | undefined;
  /** Whether each authentication statement says that several factors were used. */
  isMultiFactor: boolean;
  /** The first AttributeValue by the attribute's Name. */
  attributes: Map<string, XmlElement>;
}

/** The name identifier of the subject ("Assertions and Protocols for SAML V2.0", 2.2.2). */
interface NameId {
  value: string;
  format: string | undefined;
  /** The domain of the name identifier. Default: the issuer. */
  nameQualifier: string | undefined;
  /** The service provider that it was created for. Default: the requesting one. */
  spNameQualifier: string | undefined;
}

/** Maximum length of name identifiers and attribute values, in characters. */
const VALUE_MAX = 1_024;

/** Authentication contexts with several factors: of REFEDS, Microsoft, and SAML itself. */
const MULTI_FACTOR = [
  "https://refeds.org/profile/mfa",
  "http://schemas.microsoft.com/claims/multipleauthn",
  "urn:oasis:names:tc:SAML:2.0:ac:classes:MobileTwoFactorContract",
  "urn:oasis:names:tc:SAML:2.0:ac:classes:MobileTwoFactorUnregistered",
];

const SUCCESS = "urn:oasis:names:tc:SAML:2.0:status:Success";
const STATUS = /^urn:oasis:names:tc:SAML:2\.0:status:([A-Za-z]{1,40})$/;
const BEARER = "urn:oasis:names:tc:SAML:2.0:cm:bearer";
const XSI_NS = "http://www.w3.org/2001/XMLSchema-instance";

/** @throws {SamlError} `status`, with the status that the identity provider reports. */
export function assertSuccess(response: XmlElement): void {
  const [status, second] = childrenOf(response, PROTOCOL_NS, "Status");
  const codes = status ? childrenOf(status, PROTOCOL_NS, "StatusCode") : [];
  const [code] = codes;
  if (second || codes.length !== 1) {
    throw new SamlError("status", "The response must have exactly one status");
  }
  if (attributeOf(code!, "Value") === SUCCESS) return;
  const names = elementsOf(code!).map((each) =>
    STATUS.exec(attributeOf(each, "Value") ?? "")?.[1] ?? "an unknown status"
  );
  throw new SamlError("status", `The identity provider reports ${names.slice(0, 2).join(", ")}`);
}

/** @throws {SamlError} `version`, `timestamp`, `assertion_malformed`. */
export function readResponse(response: XmlElement): SamlResponse {
  assertVersion(response);
  const issuer = atMostOne(response, ASSERTION_NS, "Issuer");
  return {
    issueInstant: instantOf(response, "IssueInstant") ?? missing("response", "IssueInstant"),
    destination: attributeOf(response, "Destination"),
    inResponseTo: attributeOf(response, "InResponseTo"),
    issuer: issuer && textOf(issuer, "assertion_malformed"),
  };
}

/**
 * Reads the issuer of an assertion or response.
 *
 * @throws {SamlError} `issuer_missing`, `assertion_malformed`.
 */
export function issuerOf(element: XmlElement): string {
  const issuer = atMostOne(element, ASSERTION_NS, "Issuer");
  const text = issuer && textOf(issuer, "assertion_malformed");
  if (!text) throw new SamlError("issuer_missing", `The ${element.name} has no issuer`);
  if (text.length > VALUE_MAX) throw malformed("An issuer's name is too long");
  return text;
}

/**
 * @throws {SamlError} `version`, `timestamp`, `name_id`, `issuer_missing`, `conditions_missing`,
 * `subject_confirmation_missing`, `assertion_malformed`.
 */
export function readAssertion(assertion: XmlElement): SamlAssertion {
  assertVersion(assertion);
  const subject = atMostOne(assertion, ASSERTION_NS, "Subject");
  const conditions = atMostOne(assertion, ASSERTION_NS, "Conditions");
  if (subject === undefined) throw new SamlError("name_id", "The assertion has no subject");
  if (conditions === undefined) {
    throw new SamlError("conditions_missing", "The assertion has no conditions");
  }
  const statements = childrenOf(assertion, ASSERTION_NS, "AuthnStatement");
  return {
    id: attributeOf(assertion, "ID")!,
    issuer: issuerOf(assertion),
    issueInstant: instantOf(assertion, "IssueInstant") ?? missing("assertion", "IssueInstant"),
    nameId: readNameId(subject),
    confirmations: childrenOf(subject, ASSERTION_NS, "SubjectConfirmation")
      .filter((each) => attributeOf(each, "Method") === BEARER)
      .map(readConfirmation),
    conditions: readConditions(conditions),
    sessionIndex: statements.map((each) => attributeOf(each, "SessionIndex"))
      .find((each) => each !== undefined)?.slice(0, VALUE_MAX),
    sessionNotOnOrAfter: statements.map((each) => instantOf(each, "SessionNotOnOrAfter"))
      .filter((each) => each !== undefined)
      .sort((a, b) => a.getTime() - b.getTime())[0],
    isMultiFactor: statements.length > 0 && statements.every(isMultiFactor),
    attributes: readAttributes(assertion),
  };
}

const isMultiFactor = (statement: XmlElement): boolean =>
  childrenOf(statement, ASSERTION_NS, "AuthnContext")
    .flatMap((context) => childrenOf(context, ASSERTION_NS, "AuthnContextClassRef"))
    .some((classRef) => MULTI_FACTOR.includes(classRef.text.trim()));

/**
 * Returns the text of an AttributeValue.
 *
 * @returns `undefined` if the value is absent, nil or empty.
 * @throws {SamlError} `attribute_value`, if it is not plain text or too long.
 */
export function attributeText(value: XmlElement | undefined): string | undefined {
  if (value === undefined) return undefined;
  const isNil = value.attributes.some(({ namespace, name, value }) =>
    namespace === XSI_NS && name === "nil" && (value === "true" || value === "1")
  );
  const text = textOf(value, "attribute_value");
  if (isNil || text === "") return undefined;
  if (!isPlain(text)) {
    throw new SamlError("attribute_value", "The value of a mapped attribute is not plain text");
  }
  return text;
}

function readNameId(subject: XmlElement): NameId {
  const element = atMostOne(subject, ASSERTION_NS, "NameID");
  const value = element && textOf(element, "name_id");
  if (!element || !value) throw new SamlError("name_id", "The subject has no name identifier");
  if (!isPlain(value)) {
    throw new SamlError("name_id", "The name identifier is not plain text");
  }
  return {
    value,
    format: attributeOf(element, "Format"),
    nameQualifier: attributeOf(element, "NameQualifier"),
    spNameQualifier: attributeOf(element, "SPNameQualifier"),
  };
}

/** Whether a text has no control characters and a reasonable length. */
function isPlain(text: string): boolean {
  return text.length <= VALUE_MAX && !/\p{Cc}/u.test(text);
}

function readConfirmation(confirmation: XmlElement): SubjectConfirmation {
  const data = atMostOne(confirmation, ASSERTION_NS, "SubjectConfirmationData");
  return {
    recipient: data && attributeOf(data, "Recipient"),
    notBefore: data && instantOf(data, "NotBefore"),
    notOnOrAfter: data && instantOf(data, "NotOnOrAfter"),
    inResponseTo: data && attributeOf(data, "InResponseTo"),
  };
}

function readConditions(conditions: XmlElement): Conditions {
  const restrictions = childrenOf(conditions, ASSERTION_NS, "AudienceRestriction");
  const known = ["AudienceRestriction", "OneTimeUse", "ProxyRestriction"];
  return {
    notBefore: instantOf(conditions, "NotBefore"),
    notOnOrAfter: instantOf(conditions, "NotOnOrAfter"),
    audiences: restrictions.map((restriction) =>
      childrenOf(restriction, ASSERTION_NS, "Audience")
        .map((audience) => textOf(audience, "assertion_malformed"))
    ),
    unknown: conditions.children
      .filter(({ namespace, name }) => namespace !== ASSERTION_NS || !known.includes(name))
      .map(({ name }) => name.slice(0, 100)),
  };
}

function readAttributes(assertion: XmlElement): Map<string, XmlElement> {
  const attributes = childrenOf(assertion, ASSERTION_NS, "AttributeStatement")
    .flatMap((statement) => childrenOf(statement, ASSERTION_NS, "Attribute"));
  const first = new Map<string, XmlElement>();
  for (const attribute of attributes) {
    const name = attributeOf(attribute, "Name");
    const [value] = childrenOf(attribute, ASSERTION_NS, "AttributeValue");
    if (name !== undefined && value && !first.has(name)) first.set(name, value);
  }
  return first;
}

function assertVersion(element: XmlElement): void {
  if (attributeOf(element, "Version") !== "2.0") {
    throw new SamlError("version", `The ${element.name} does not have the version 2.0`);
  }
}

function instantOf(element: XmlElement, name: string): Date | undefined {
  const text = attributeOf(element, name);
  return text === undefined ? undefined : readInstant(text);
}

function atMostOne(parent: XmlElement, namespace: string, name: string): XmlElement | undefined {
  const [first, second] = childrenOf(parent, namespace, name);
  if (second) throw malformed(`The ${parent.name} contains more than one ${name}`);
  return first;
}

function missing(where: string, what: string): never {
  throw malformed(`The ${where} has no ${what}`);
}

const malformed = (message: string) => new SamlError("assertion_malformed", message);
