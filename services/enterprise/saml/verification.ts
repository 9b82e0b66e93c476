/**
 * Verifies the signatures of a message with the signature library.
 *
 * The library has its own parser, and two parsers that disagree can be exploited to bypass a
 * signature. So both trees are compared first, and the result is read from the canonical bytes whose
 * digest was signed, not from the message.
 *
 * @module
 */

import type { SignedXml as SignedXmlClass } from "xml-crypto";
import { nodeCrypto } from "../../builtins.ts";
import { type IdpKey, readIdpKeys } from "./certificate.ts";
import { SamlError } from "./error.ts";
import type { SamlMessage } from "./message.ts";
import {
  ENVELOPED_SIGNATURE,
  EXCLUSIVE_C14N,
  readSignature,
  type SignatureShape,
} from "./signature.ts";
import { attributeOf, isNamed, type XmlAttribute, type XmlElement } from "./tree.ts";
import { readXml } from "./xml.ts";

/** The signed elements, read from the signed bytes, without their signatures. */
export interface SignedParts {
  response: XmlElement | undefined;
  assertion: XmlElement | undefined;
}

/**
 * Verifies every signature of a message with the keys of the configured certificates; one of them has
 * to match.
 *
 * @param message The message and its text.
 * @param certificates PEM. Keys and certificates in the message are ignored.
 * @returns At least one signed element.
 * @throws {SamlError} `signature_missing`, the reasons of `readSignature()`, `signature_key_type`,
 * `digest_mismatch`, `signature_mismatch`, `key_info_certificate`, `parsers_disagree`,
 * `certificate`.
 */
export async function verifySignatures(
  message: SamlMessage & { text: string },
  certificates: string,
): Promise<SignedParts> {
  const { text, responseSignature, assertionSignature } = message;
  if (!responseSignature && !assertionSignature) {
    throw new SamlError("signature_missing", "Neither the response nor the assertion is signed");
  }
  const ofResponse = responseSignature && readSignature(responseSignature);
  const ofAssertion = assertionSignature && readSignature(assertionSignature);
  const keys = storedKeys(certificates);
  const verify = await createVerifier(text, message.response, keys);
  return {
    response: ofResponse && verify(ofResponse),
    assertion: ofAssertion && verify(ofAssertion),
  };
}

function storedKeys(certificates: string): IdpKey[] {
  try {
    return readIdpKeys(certificates);
  } catch (cause) {
    throw new SamlError("certificate", "The provider's certificate cannot be used", { cause });
  }
}

async function createVerifier(
  text: string,
  root: XmlElement,
  keys: readonly IdpKey[],
): Promise<(shape: SignatureShape) => XmlElement> {
  // In the bundle, CommonJS packages have only a default export.
  const [{ default: { SignedXml } }, { default: { DOMParser } }] = await Promise.all([
    import("xml-crypto"),
    import("@xmldom/xmldom"),
  ]);
  const document = parseStrictly(DOMParser, text);
  const nodes = new Map<XmlElement, DomNode>();
  if (!isSameTree(root, document, nodes)) throw parserDisagreement();

  return (shape) => {
    const suitable = keys.filter(({ type }) => type === shape.algorithm.key);
    if (suitable.length === 0) {
      throw new SamlError(
        "signature_key_type",
        "The signature algorithm does not match the type of the configured key",
      );
    }
    const library = new SignedXml({ publicCert: "(stored)", getCertFromKeyInfo: () => null });
    const node = nodes.get(shape.signature)! as unknown as Node;
    const canonical = signedBytes(library, node, text, shape, suitable);
    const signed = readXml(canonical);
    const isExpected = isNamed(signed, shape.signed.namespace, shape.signed.name) &&
      attributeOf(signed, "ID") === shape.id;
    if (!isExpected) throw parserDisagreement();
    return signed;
  };
}

/**
 * Verifies digest and signature, and returns the canonical text of the signed element. The library
 * only gets the algorithms of this signature, which have been checked, and the configured keys.
 */
function signedBytes(
  library: SignedXmlClass,
  node: Node,
  text: string,
  shape: SignatureShape,
  keys: readonly IdpKey[],
): string {
  const { algorithm, digest, signatureBytes, certificates } = shape;
  const { createHash, verify } = nodeCrypto();
  /** Whether the signature is valid; set by the library after it has verified the digest. */
  let isSigned: boolean | undefined;

  const { CanonicalizationAlgorithms: transforms } = library;
  library.CanonicalizationAlgorithms = {
    [ENVELOPED_SIGNATURE]: transforms[ENVELOPED_SIGNATURE]!,
    [EXCLUSIVE_C14N]: transforms[EXCLUSIVE_C14N]!,
  };
  // The library searches the whole message for each name; other ID attributes were refused before.
  library.idAttributes = ["ID"];
  library.HashAlgorithms = {
    [digest.uri]: class {
      getAlgorithmName = () => digest.uri;
      getHash = (canonical: string) => createHash(digest.hash).update(canonical).digest("base64");
    },
  };
  library.SignatureAlgorithms = {
    [algorithm.uri]: class {
      getAlgorithmName = () => algorithm.uri;
      getSignature = () => unreachable();
      verifySignature = (signedInfo: string) =>
        isSigned = keys.some(({ key }) =>
          verify(
            algorithm.hash,
            new TextEncoder().encode(signedInfo),
            // XML signatures concatenate the two numbers of ECDSA (RFC 4050) instead of using DER.
            { key, dsaEncoding: "ieee-p1363" },
            signatureBytes,
          )
        );
    },
  };

  let isValid: boolean;
  try {
    library.loadSignature(node);
    isValid = library.checkSignature(text);
  } catch (cause) {
    if (isSigned === false) throw signatureMismatch(certificates, keys);
    throw new SamlError("signature_unverifiable", "A signature cannot be verified", { cause });
  }
  if (!isValid) {
    throw new SamlError("digest_mismatch", `The signed ${shape.signed.name} has been changed`);
  }
  const [reference, second] = library.getReferences();
  const isAsChecked = isSigned === true && second === undefined &&
    reference?.uri === `#${shape.id}` &&
    reference.digestAlgorithm === digest.uri &&
    reference.transforms.join(" ") === `${ENVELOPED_SIGNATURE} ${EXCLUSIVE_C14N}`;
  const [canonical, more] = library.getSignedReferences();
  if (!isAsChecked || canonical === undefined || more !== undefined) throw parserDisagreement();
  return canonical;
}

/** The unverified certificate in the message helps to explain the failure. */
function signatureMismatch(certificates: string[], keys: readonly IdpKey[]): SamlError {
  const isConfigured = keys.some(({ certificate }) => certificates.includes(certificate));
  return certificates.length > 0 && !isConfigured
    ? new SamlError(
      "key_info_certificate",
      "The message is signed with another certificate than the configured one",
    )
    : new SamlError("signature_mismatch", "A signature does not match the configured certificate");
}

/** The used fields of a DOM node. */
interface DomNode {
  nodeType: number;
  nodeName: string;
  nodeValue: string | null;
  namespaceURI?: string | null;
  attributes?: ArrayLike<DomNode>;
  childNodes: ArrayLike<DomNode>;
}

const ELEMENT_NODE = 1;
const TEXT_NODE = 3;
const COMMENT_NODE = 8;

/** Parses with the library's parser, whose warnings count as errors. Returns the root element. */
function parseStrictly(
  Parser: new (options: { errorHandler: (level: string, message: string) => void }) => {
    parseFromString(text: string, type: string): unknown;
  },
  text: string,
): DomNode {
  const problems: string[] = [];
  const parser = new Parser({ errorHandler: (_level, message) => problems.push(message) });
  try {
    const document = parser.parseFromString(text, "text/xml") as {
      documentElement: DomNode | null;
    };
    if (problems.length === 0 && document.documentElement) return document.documentElement;
  } catch (cause) {
    throw parserDisagreement(cause);
  }
  throw parserDisagreement();
}

/** @param nodes Receives the node of each element. */
function isSameTree(element: XmlElement, node: DomNode, nodes: Map<XmlElement, DomNode>): boolean {
  nodes.set(element, node);
  const attributes = Array.from(node.attributes ?? []);
  const children = Array.from(node.childNodes);
  const elements = children.filter(({ nodeType }) => nodeType === ELEMENT_NODE);
  const texts = children.filter(({ nodeType }) => nodeType === TEXT_NODE);
  const comments = children.filter(({ nodeType }) => nodeType === COMMENT_NODE);
  return node.nodeName === element.qualifiedName &&
    (node.namespaceURI ?? "") === element.namespace &&
    attributes.length === element.attributes.length &&
    attributes.every((each, i) => isSameAttribute(element.attributes[i]!, each)) &&
    elements.length + texts.length + comments.length === children.length &&
    (comments.length > 0) === element.hasComment &&
    texts.map(({ nodeValue }) => nodeValue).join("") === element.text &&
    elements.length === element.children.length &&
    elements.every((each, i) => isSameTree(element.children[i]!, each, nodes));
}

function isSameAttribute(attribute: XmlAttribute, node: DomNode): boolean {
  return node.nodeName === attribute.qualifiedName && node.nodeValue === attribute.value &&
    (node.namespaceURI ?? "") === attribute.namespace;
}

function parserDisagreement(cause?: unknown): SamlError {
  return new SamlError("parsers_disagree", "The message is ambiguous XML", { cause });
}

function unreachable(): never {
  throw new Error("Signing is not supported");
}
