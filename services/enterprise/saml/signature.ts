/**
 * The shape of an XML signature. Before anything is computed, a signature has to be exactly what
 * identity providers write: one reference, to the very element that the signature stands in, by
 * two known transforms and strong algorithms. What is left is checked by the signature library in
 * `saml_verification.ts`.
 *
 * "XML Signature Syntax and Processing" (W3C), and "Assertions and Protocols for SAML V2.0"
 * (OASIS), 5.4, which is this narrow already.
 *
 * @module
 */

import { decodeBase64 } from "./document.ts";
import { SamlError, type SamlReason } from "./error.ts";
import { SIGNATURE_NS } from "./message.ts";
import { attributeOf, childrenOf, elementsOf, isNamed, trimmed, type XmlElement } from "./tree.ts";

/** What a signature says about itself. */
export interface SignatureShape {
  signature: XmlElement;
  /** The element that it stands in and that it covers. */
  signed: XmlElement;
  /** The signed element's ID. */
  id: string;
  algorithm: SignatureAlgorithm;
  digest: DigestAlgorithm;
  digestBytes: Uint8Array;
  signatureBytes: Uint8Array;
  /** Certificates in KeyInfo, as base64. Never used but to tell why a signature is not right. */
  certificates: string[];
}

export interface SignatureAlgorithm {
  uri: string;
  key: "rsa" | "ec";
  hash: Hash;
}

export interface DigestAlgorithm {
  uri: string;
  hash: Hash;
}

type Hash = "sha256" | "sha384" | "sha512";

/**
 * Exclusive canonicalization without comments, the one that OASIS names first (5.4.3). With
 * comments it would be the same for what a reference covers, as references to an id leave comments
 * out whatever they say; but within SignedInfo a comment could then cut a value in two.
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

/** Most elements: the library looks through all of them several times. Ten certificates take 25. */
const ELEMENTS_MAX = 100;

/** An RSA key of 4096 bits, the longest that is taken, signs with this many bytes. */
const SIGNATURE_BYTES_MAX = 512;

/**
 * @param signature Stands in a response or an assertion.
 * @throws {SamlError} One reason per rule: `signature_*`, `reference_*`, `transform_*`,
 * `digest_*`, `canonicalization_algorithm`.
 */
export function readSignature(signature: XmlElement): SignatureShape {
  if (elementsOf(signature).length > ELEMENTS_MAX) {
    throw malformed(`at most ${ELEMENTS_MAX} elements`);
  }
  assertPlainText(signature);
  const [signedInfo, signatureValue, keyInfo] = signature.children;
  if (childrenOf(signature, SIGNATURE_NS, "Object").length > 0) {
    throw new SamlError("signature_object", "A signature holds an Object");
  }
  const isComplete = signature.children.length <= 3 && isPart(signedInfo, "SignedInfo") &&
    isPart(signatureValue, "SignatureValue") &&
    (keyInfo === undefined || isPart(keyInfo, "KeyInfo"));
  if (!isComplete) throw malformed("SignedInfo, SignatureValue and at most a KeyInfo");
  const [canonicalization, method, reference] = signedInfo.children;
  if (childrenOf(signedInfo, SIGNATURE_NS, "Reference").length !== 1) {
    throw new SamlError("reference_count", "A signature does not have exactly one reference");
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

// A comment may end a value for one reader and not for another, a reference may hide what the
// value is. References to white space stay: Java ends the lines of base64 with `&#13;`.
function assertPlainText(signature: XmlElement): void {
  for (const { hasComment, hasReference, name } of elementsOf(signature)) {
    if (hasComment) {
      throw new SamlError("signature_comment", `A comment stands in a signature's ${name}`);
    }
    if (hasReference) {
      throw new SamlError(
        "signature_character_reference",
        `A character reference stands in a signature's ${name}`,
      );
    }
  }
}

function assertCanonicalization(method: XmlElement): void {
  if (attributeOf(method, "Algorithm") !== EXCLUSIVE_C14N) {
    throw new SamlError(
      "canonicalization_algorithm",
      "A signature is not canonicalized by exclusive canonicalization without comments",
    );
  }
  assertPrefixesOnly(method);
}

/** Exclusive canonicalization may be told of prefixes that count as inclusive, and nothing else. */
function assertPrefixesOnly(method: XmlElement): void {
  const [prefixes] = method.children;
  const isPlain = prefixes === undefined ||
    method.children.length === 1 && isNamed(prefixes, EXCLUSIVE_C14N, "InclusiveNamespaces") &&
      prefixes.children.length === 0;
  if (!isPlain) throw malformed("InclusiveNamespaces at most");
}

function signatureAlgorithm(method: XmlElement): SignatureAlgorithm {
  const uri = attributeOf(method, "Algorithm") ?? "";
  const found = SIGNATURE_ALGORITHMS.find((each) => each.uri === uri);
  if (found === undefined) {
    // HMAC with the public certificate as its key would be a signature that anybody can make.
    if (uri.includes("#hmac-")) {
      throw new SamlError("signature_hmac", "A signature is an HMAC, which has no public key");
    }
    if (/#(?:rsa|dsa|ecdsa)-sha1$/.test(uri)) {
      throw new SamlError("signature_sha1", "A signature is made with SHA-1");
    }
    throw new SamlError("signature_algorithm", "A signature's algorithm is not allowed");
  }
  if (method.children.length > 0) throw malformed("an Algorithm only");
  return found;
}

function assertReferenceTo(id: string, uri: string | undefined): void {
  if (uri === undefined || uri === "") {
    throw new SamlError("reference_empty", "A signature does not name what it covers");
  }
  if (!/^#[A-Za-z_][\w.-]*$/.test(uri)) {
    throw new SamlError("reference_foreign", "A signature covers something outside of the message");
  }
  if (uri !== `#${id}`) {
    throw new SamlError(
      "reference_elsewhere",
      "A signature covers another element than the one it stands in",
    );
  }
}

function assertTransforms(transforms: XmlElement): void {
  const algorithms = transforms.children.map((transform) => {
    if (!isPart(transform, "Transform")) throw malformed("Transform only");
    return attributeOf(transform, "Algorithm");
  });
  if (algorithms.includes(XSLT)) {
    throw new SamlError("transform_xslt", "A signature covers what a program makes of the message");
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
      "A signature's transforms are not the enveloped signature and exclusive canonicalization",
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
      throw new SamlError("digest_sha1", "A signature's digest is made with SHA-1");
    }
    throw new SamlError("digest_algorithm", "A signature's digest algorithm is not allowed");
  }
  if (method.children.length > 0) throw malformed("an Algorithm only");
  return found;
}

function digestBytes(element: XmlElement, { hash }: DigestAlgorithm): Uint8Array {
  const bytes = bytesOf(element, "digest_value");
  if (bytes.length !== HASH_BYTES[hash]) {
    throw new SamlError(
      "digest_value",
      "A signature's digest does not have its algorithm's length",
    );
  }
  return bytes;
}

function signatureBytes(element: XmlElement): Uint8Array {
  const bytes = bytesOf(element, "signature_value");
  if (bytes.length > SIGNATURE_BYTES_MAX) {
    throw new SamlError("signature_value", "A signature is longer than any key's");
  }
  return bytes;
}

function bytesOf(element: XmlElement, reason: SamlReason): Uint8Array {
  const bytes = element.children.length > 0 ? undefined : decodeBase64(element.text);
  if (bytes === undefined || bytes.length === 0) {
    throw new SamlError(reason, `A signature's ${element.name} is not base64`);
  }
  return bytes;
}

function certificatesOf(keyInfo: XmlElement): string[] {
  return elementsOf(keyInfo)
    .filter((element) => isNamed(element, SIGNATURE_NS, "X509Certificate"))
    .map(({ text }) => trimmed(text).replace(/[ \t\r\n]/g, ""));
}

function isPart(element: XmlElement | undefined, name: string): element is XmlElement {
  return element !== undefined && isNamed(element, SIGNATURE_NS, name) &&
    // What stands between the parts would be signed and read by nobody.
    (element.children.length === 0 || trimmed(element.text) === "");
}

const malformed = (expected: string) =>
  new SamlError("signature_malformed", `A signature does not consist of ${expected}`);
