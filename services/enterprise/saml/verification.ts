/**
 * The check of a message's signatures by the signature library, and the bytes that they cover.
 *
 * The library reads the message with a parser of its own. Reading one document in two ways is how
 * signatures are got around, so its tree is compared with ours first, and what comes out is not a
 * place in the message but the canonical bytes whose digest was signed.
 *
 * @module
 */

import type { SignedXml as SignedXmlClass } from "xml-crypto";
import { nodeCrypto } from "../../builtins.ts";
import { type IdpKey, readIdpKey } from "./certificate.ts";
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

/** What of a message is signed, read from the signed bytes; without the covering signatures. */
export interface SignedParts {
  response: XmlElement | undefined;
  assertion: XmlElement | undefined;
}

/**
 * Checks every signature of a message with the key of one certificate.
 *
 * @param message The message, with the text that it was read from.
 * @param certificate PEM. Keys and certificates in the message are ignored.
 * @returns At least one of the two.
 * @throws {SamlError} `signature_missing`, the reasons of `readSignature()`, `signature_key_type`,
 * `digest_mismatch`, `signature_mismatch`, `key_info_certificate`, `parsers_disagree`,
 * `certificate`.
 */
export async function verifySignatures(
  message: SamlMessage & { text: string },
  certificate: string,
): Promise<SignedParts> {
  const { text, responseSignature, assertionSignature } = message;
  if (!responseSignature && !assertionSignature) {
    throw new SamlError("signature_missing", "Neither the response nor the assertion is signed");
  }
  const ofResponse = responseSignature && readSignature(responseSignature);
  const ofAssertion = assertionSignature && readSignature(assertionSignature);
  const key = storedKey(certificate);
  const verify = await signatureCheck(text, message.response, key);
  return {
    response: ofResponse && verify(ofResponse),
    assertion: ofAssertion && verify(ofAssertion),
  };
}

function storedKey(certificate: string): IdpKey {
  try {
    return readIdpKey(certificate);
  } catch (cause) {
    throw new SamlError("certificate", "The provider's certificate cannot be used", { cause });
  }
}

async function signatureCheck(
  text: string,
  root: XmlElement,
  key: IdpKey,
): Promise<(shape: SignatureShape) => XmlElement> {
  const [{ SignedXml }, { DOMParser }] = await Promise.all([
    import("xml-crypto"),
    import("@xmldom/xmldom"),
  ]);
  const document = parseStrictly(DOMParser, text);
  const nodes = new Map<XmlElement, DomNode>();
  if (!isSameTree(root, document, nodes)) throw disagreement();

  return (shape) => {
    if (shape.algorithm.key !== key.type) {
      throw new SamlError(
        "signature_key_type",
        "A signature needs another type of key than stored",
      );
    }
    const library = new SignedXml({ publicCert: "(stored)", getCertFromKeyInfo: () => null });
    const node = nodes.get(shape.signature)! as unknown as Node;
    const canonical = signedBytes(library, node, text, shape, key);
    const signed = readXml(canonical);
    const isMeant = isNamed(signed, shape.signed.namespace, shape.signed.name) &&
      attributeOf(signed, "ID") === shape.id;
    if (!isMeant) throw disagreement();
    return signed;
  };
}

/**
 * The canonical bytes of the element that a signature covers, as text, once digest and signature
 * are right. The library is left with the algorithms that this signature names, which are allowed
 * ones, and with the one key.
 */
function signedBytes(
  library: SignedXmlClass,
  node: Node,
  text: string,
  shape: SignatureShape,
  { key, certificate }: IdpKey,
): string {
  const { algorithm, digest, signatureBytes, certificates } = shape;
  const { createHash, verify } = nodeCrypto();
  /** Whether the signature is right; the library asks after it found the digest right. */
  let isSigned: boolean | undefined;

  const { CanonicalizationAlgorithms: transforms } = library;
  library.CanonicalizationAlgorithms = {
    [ENVELOPED_SIGNATURE]: transforms[ENVELOPED_SIGNATURE]!,
    [EXCLUSIVE_C14N]: transforms[EXCLUSIVE_C14N]!,
  };
  // It looks through the whole message for each; others than this one are refused before.
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
        isSigned = verify(
          algorithm.hash,
          new TextEncoder().encode(signedInfo),
          // XML signatures hold the two numbers of ECDSA side by side (RFC 4050), not as DER.
          { key, dsaEncoding: "ieee-p1363" },
          signatureBytes,
        );
    },
  };

  let isRight: boolean;
  try {
    library.loadSignature(node);
    isRight = library.checkSignature(text);
  } catch (cause) {
    if (isSigned === false) throw mismatch(certificates, certificate);
    throw new SamlError("signature_unverifiable", "A signature cannot be checked", { cause });
  }
  if (!isRight) {
    throw new SamlError("digest_mismatch", `The signed ${shape.signed.name} has been changed`);
  }
  const [reference, second] = library.getReferences();
  const isRead = isSigned === true && second === undefined && reference?.uri === `#${shape.id}` &&
    reference.digestAlgorithm === digest.uri &&
    reference.transforms.join(" ") === `${ENVELOPED_SIGNATURE} ${EXCLUSIVE_C14N}`;
  const [canonical, more] = library.getSignedReferences();
  if (!isRead || canonical === undefined || more !== undefined) throw disagreement();
  return canonical;
}

/** The certificate in the message, which nobody vouches for, at least tells what went wrong. */
function mismatch(certificates: string[], stored: string): SamlError {
  return certificates.length > 0 && !certificates.includes(stored)
    ? new SamlError(
      "key_info_certificate",
      "A signature is made with another certificate than the stored one",
    )
    : new SamlError("signature_mismatch", "A signature is not made with the stored certificate");
}

/** As much of a DOM node as is looked at. */
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

/** The root element as the library's parser sees it, which must not have a single complaint. */
function parseStrictly(
  Parser: new (options: { errorHandler: (level: string, message: string) => void }) => {
    parseFromString(text: string, type: string): unknown;
  },
  text: string,
): DomNode {
  const complaints: string[] = [];
  const parser = new Parser({ errorHandler: (_level, message) => complaints.push(message) });
  try {
    const document = parser.parseFromString(text, "text/xml") as {
      documentElement: DomNode | null;
    };
    if (complaints.length === 0 && document.documentElement) return document.documentElement;
  } catch (cause) {
    throw disagreement(cause);
  }
  throw disagreement();
}

/** @param nodes Takes up which node each element is. */
function isSameTree(
  element: XmlElement,
  node: DomNode,
  nodes: Map<XmlElement, DomNode>,
): boolean {
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

function disagreement(cause?: unknown): SamlError {
  return new SamlError("parsers_disagree", "The message can be read in more than one way", {
    cause,
  });
}

function unreachable(): never {
  throw new Error("Nothing is signed here");
}
