/**
 * The structure of an XML signature. Before anything is computed, a signature must have exactly one
 * reference to its parent element, two known transforms and strong algorithms. `verification.ts`
 * then verifies it with the signature library.
 *
 * "XML Signature Syntax and Processing" (W3C); "Assertions and Protocols for SAML V2.0" (OASIS), 5.4,
 * which defines these restrictions.
 *
 * @module
 */

import { decodeBase64 } from "./document.ts";
import { SamlError, type SamlReason } from "./error.ts";
import { SIGNATURE_NS } from "./message.ts";
import { attributeOf, childrenOf, elementsOf, isNamed, trimXml, type XmlElement } from "./tree.ts";

/** The values of a structurally valid signature. */
export interface SignatureShape {
  signature: XmlElement;
  /** The parent element, which the signature covers. */
  signed: XmlElement;
  /** The ID of the signed element. */
  id: string;
  algorithm: SignatureAlgorithm;
  digest: DigestAlgorithm;
  digestBytes: Uint8Array;
  signatureBytes: Uint8Array;
  /** Certificates in KeyInfo, as base64. Only used for a better error message. */
  certificates: string[];
}

interface SignatureAlgorithm {
  uri: string;
  key: "rsa" | "ec";
  hash: Hash;
}

interface DigestAlgorithm {
  uri: string;
  hash: Hash;
}

type Hash = "sha256" | "sha384" | "sha512";

/**
 * Exclusive canonicalization without comments (5.4.3). The variant with comments is not supported,
 * because a comment within SignedInfo could split a value.
 */
export const EXCLUSIVE_C14N = "http://www.w3.org/2001/10/xml-exc-c14n#";
export const ENVELOPED_SIGNATURE = "http://www.w3.org/2000/09/xmldsig#enveloped-signature";

const XSLT = "http://www.w3.org/TR/1999/REC-xslt-19991116";
const MORE = "http://www.w3.org/2001/04/xmldsig-more#";

const SIGNATURE_ALGORITHMS: SignatureAlgorithm[] = [
  { uri: `${MORE}rsa-sha256`, key: "rsa", hash: "sha256" },
  { uri: `${MORE}rsa-sha384`, key: "rsa", hash: "sha384" },
  { uri: `${MORE}rsa-sha512`, key: "rsa", hash: "sha512" },
  { uri: `${MORE}ecdsa-sha256`, key: "ec", hash: "sha256" },
  { uri: `${MORE}ecdsa-sha384`, key: "ec", hash: "sha384" },
  { uri: `${MORE}ecdsa-sha512`, key: "ec", hash: "sha512" },
];

const DIGEST_ALGORITHMS: DigestAlgorithm[] = [
  { uri: "http://www.w3.org/2001/04/xmlenc#sha256", hash: "sha256" },
  { uri: `${MORE}sha384`, hash: "sha384" },
  { uri: "http://www.w3.org/2001/04/xmlenc#sha512", hash: "sha512" },
];

const HASH_BYTES: Record<Hash, number> = { sha256: 32, sha384: 48, sha512: 64 };

/** Maximum number of elements, which the library searches repeatedly. Ten certificates need 25. */
const ELEMENTS_MAX = 100;

/** Maximum number of inclusive prefixes, which the library searches for each attribute. */
const PREFIXES_MAX = 20;

/** Signature length of an RSA key of 4096 bits, the longest accepted one. */
const SIGNATURE_BYTES_MAX = 512;

/**
 * @param signature A child of a response or an assertion.
 * @throws {SamlError} `signature_*`, `reference_*`, `transform_*`, `digest_*`,
 * `canonicalization_algorithm`.
 */
export function readSignature(signature: XmlElement): SignatureShape {
  if (elementsOf(signature).length > ELEMENTS_MAX) {
    throw malformed(`at most ${ELEMENTS_MAX} elements`);
  }
  assertPlainText(signature);
  const [signedInfo, signatureValue, keyInfo] = signature.children;
  if (childrenOf(signature, SIGNATURE_NS, "Object").length > 0) {
    throw new SamlError("signature_object", "A signature contains an Object");
  }
  const isComplete = signature.children.length <= 3 && isPart(signedInfo, "SignedInfo") &&
    isPart(signatureValue, "SignatureValue") &&
    (keyInfo === undefined || isPart(keyInfo, "KeyInfo"));
  if (!isComplete) throw malformed("SignedInfo, SignatureValue and at most a KeyInfo");
  const [canonicalization, method, reference] = signedInfo.children;
  if (childrenOf(signedInfo, SIGNATURE_NS, "Reference").length !== 1) {
    throw new SamlError("reference_count", "A signature must have exactly one reference");
  }
  const isInfo = signedInfo.children.length === 3 &&
    isPart(canonicalization, "CanonicalizationMethod") && isPart(method, "SignatureMethod") &&
    isPart(reference, "Reference");
  if (!isInfo) throw malformed("CanonicalizationMethod, SignatureMethod and Reference");

  assertCanonicalization(canonicalization);
  const algorithm = signatureAlgorithm(method);
  const [transforms, digestMethod, digestValue] = reference.children;
  const isReference = reference.children.length === 3 && isPart(transforms, "Transforms") &&
    isPart(digestMethod, "DigestMethod") && isPart(digestValue, "DigestValue");
  const signed = signature.parent!;
  const id = attributeOf(signed, "ID")!;
  assertReferenceTo(id, attributeOf(reference, "URI"));
  if (!isReference) throw malformed("Transforms, DigestMethod and DigestValue");
  assertTransforms(transforms);
  const digest = digestAlgorithm(digestMethod);
  return {
    signature,
    signed,
    id,
    algorithm,
    digest,
    digestBytes: digestBytes(digestValue, digest),
    signatureBytes: signatureBytes(signatureValue),
    certificates: keyInfo ? certificatesOf(keyInfo) : [],
  };
}

// Parsers differ in whether a comment ends a value, and character references can hide a value.
// References to white space are accepted, because Java writes `&#13;` at line ends of base64.
function assertPlainText(signature: XmlElement): void {
  for (const { hasComment, hasReference, name } of elementsOf(signature)) {
    if (hasComment) {
      throw new SamlError("signature_comment", `The ${name} of a signature contains a comment`);
    }
    if (hasReference) {
      throw new SamlError(
        "signature_character_reference",
        `The ${name} of a signature contains a character reference`,
      );
    }
  }
}

function assertCanonicalization(method: XmlElement): void {
  if (attributeOf(method, "Algorithm") !== EXCLUSIVE_C14N) {
    throw new SamlError(
      "canonicalization_algorithm",
      "A signature must use exclusive canonicalization without comments",
    );
  }
  assertPrefixesOnly(method);
}

/** The only allowed parameter of exclusive canonicalization is a short list of inclusive prefixes. */
function assertPrefixesOnly(method: XmlElement): void {
  const [prefixes] = method.children;
  const isPlain = prefixes === undefined ||
    method.children.length === 1 && isNamed(prefixes, EXCLUSIVE_C14N, "InclusiveNamespaces") &&
      prefixes.children.length === 0;
  if (!isPlain) throw malformed("at most InclusiveNamespaces");
  const list = prefixes && attributeOf(prefixes, "PrefixList");
  // Separators count, because the library splits at each space. The reader has made tabs spaces.
  if (list !== undefined && list.split(" ", PREFIXES_MAX + 1).length > PREFIXES_MAX) {
    throw malformed(`at most ${PREFIXES_MAX} prefixes in a PrefixList`);
  }
}

function signatureAlgorithm(method: XmlElement): SignatureAlgorithm {
  const uri = attributeOf(method, "Algorithm") ?? "";
  const found = SIGNATURE_ALGORITHMS.find((each) => each.uri === uri);
  if (found === undefined) {
    // Every client could forge an HMAC with the public certificate as its key.
    if (uri.includes("#hmac-")) {
      throw new SamlError("signature_hmac", "HMAC signatures are not allowed");
    }
    if (/#(?:rsa|dsa|ecdsa)-sha1$/.test(uri)) {
      throw new SamlError("signature_sha1", "SHA-1 signatures are not allowed");
    }
    throw new SamlError("signature_algorithm", "The signature algorithm is not allowed");
  }
  if (method.children.length > 0) throw malformed("an Algorithm only");
  return found;
}

function assertReferenceTo(id: string, uri: string | undefined): void {
  if (uri === undefined || uri === "") {
    throw new SamlError("reference_empty", "The reference of a signature has no URI");
  }
  if (!/^#[A-Za-z_][\w.-]*$/.test(uri)) {
    throw new SamlError(
      "reference_foreign",
      "A signature refers to content outside of the message",
    );
  }
  if (uri !== `#${id}`) {
    throw new SamlError("reference_elsewhere", "A signature does not refer to its parent element");
  }
}

function assertTransforms(transforms: XmlElement): void {
  const algorithms = transforms.children.map((transform) => {
    if (!isPart(transform, "Transform")) throw malformed("only Transform elements");
    return attributeOf(transform, "Algorithm");
  });
  if (algorithms.includes(XSLT)) {
    throw new SamlError("transform_xslt", "XSLT transforms are not allowed");
  }
  if (!algorithms.every((each) => each === ENVELOPED_SIGNATURE || each === EXCLUSIVE_C14N)) {
    throw new SamlError("transform_algorithm", "A signature uses a transform that is not allowed");
  }
  const [enveloped, exclusive] = transforms.children;
  const isUsual = algorithms.length === 2 && algorithms[0] === ENVELOPED_SIGNATURE &&
    algorithms[1] === EXCLUSIVE_C14N;
  if (!isUsual) {
    throw new SamlError(
      "transform_list",
      "The transforms must be enveloped signature and exclusive canonicalization",
    );
  }
  if (enveloped!.children.length > 0) throw malformed("an Algorithm only");
  assertPrefixesOnly(exclusive!);
}

function digestAlgorithm(method: XmlElement): DigestAlgorithm {
  const uri = attributeOf(method, "Algorithm") ?? "";
  const found = DIGEST_ALGORITHMS.find((each) => each.uri === uri);
  if (found === undefined) {
    if (uri === `${SIGNATURE_NS}sha1`) {
      throw new SamlError("digest_sha1", "SHA-1 digests are not allowed");
    }
    throw new SamlError("digest_algorithm", "The digest algorithm is not allowed");
  }
  if (method.children.length > 0) throw malformed("an Algorithm only");
  return found;
}

function digestBytes(element: XmlElement, { hash }: DigestAlgorithm): Uint8Array {
  const bytes = bytesOf(element, "digest_value");
  if (bytes.length !== HASH_BYTES[hash]) {
    throw new SamlError("digest_value", "The digest does not have the length of its algorithm");
  }
  return bytes;
}

function signatureBytes(element: XmlElement): Uint8Array {
  const bytes = bytesOf(element, "signature_value");
  if (bytes.length > SIGNATURE_BYTES_MAX) {
    throw new SamlError("signature_value", "The signature value is too long");
  }
  return bytes;
}

function bytesOf(element: XmlElement, reason: SamlReason): Uint8Array {
  const bytes = element.children.length > 0 ? undefined : decodeBase64(element.text);
  if (bytes === undefined || bytes.length === 0) {
    throw new SamlError(reason, `The ${element.name} of a signature is not base64`);
  }
  return bytes;
}

function certificatesOf(keyInfo: XmlElement): string[] {
  return elementsOf(keyInfo)
    .filter((element) => isNamed(element, SIGNATURE_NS, "X509Certificate"))
    .map(({ text }) => trimXml(text).replace(/[ \t\r\n]/g, ""));
}

function isPart(element: XmlElement | undefined, name: string): element is XmlElement {
  return element !== undefined && isNamed(element, SIGNATURE_NS, name) &&
    // Text between the parts would be signed, but ignored.
    (element.children.length === 0 || trimXml(element.text) === "");
}

const malformed = (expected: string) =>
  new SamlError("signature_malformed", `A signature is malformed: expected ${expected}`);
