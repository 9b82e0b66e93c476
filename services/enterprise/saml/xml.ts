/**
 * Reader for the subset of XML that SAML messages use. It refuses constructs that parsers interpret
 * differently: DTDs, entities, CDATA, processing instructions, names beyond ASCII, undeclared
 * prefixes. Only accepted documents reach the parser of the signature library.
 *
 * Terms as in "Extensible Markup Language 1.0" and "Namespaces in XML 1.0" (W3C).
 *
 * @module
 */

import { SamlError } from "./error.ts";
import type { XmlAttribute, XmlElement } from "./tree.ts";

/** Maximum depth of elements; the root has depth 1. */
export const DEPTH_MAX = 64;

/** Maximum number of elements and attributes. Messages of large directories have some hundreds. */
const NODES_MAX = 5_000;

/** Maximum number of comments, which the signature library removes in quadratic time. */
const COMMENTS_MAX = 100;

/**
 * Maximum number of namespace declarations, because each is a search in canonicalization. Some identity providers declare two per attribute value, e.g. for each of 500 groups.
 */
const NAMESPACES_MAX = 2_000;

/**
 * Maximum number of namespace declarations of an element and those around it. Canonicalization copies
 * and searches them for each element. Messages have about ten.
 */
const SCOPE_MAX = 32;

/**
 * Maximum number of distinct element names, because the library's parser searches the whole text for
 * the end tag of each. Response, assertion and signature have about sixty.
 */
export const NAMES_MAX = 200;

/** Maximum number of references (`&amp;`, `&#10;`). Java writes one per line of a certificate. */
const REFERENCES_MAX = 1_000;

const XML = "http://www.w3.org/XML/1998/namespace";
const XMLNS = "http://www.w3.org/2000/xmlns/";
// The signature library's parser treats XHTML differently.
const XHTML = "http://www.w3.org/1999/xhtml";

// The length is limited because error messages contain names.
const NAME = "[A-Za-z_][A-Za-z0-9_.-]{0,99}";
const QUALIFIED = `${NAME}(?::${NAME})?`;
const START = new RegExp(`<(${QUALIFIED})`, "y");
const END = new RegExp(`</(${QUALIFIED})[ \\t\\n]*>`, "y");
const ATTRIBUTE = new RegExp(
  `[ \\t\\n]+(${QUALIFIED})[ \\t\\n]*=[ \\t\\n]*(?:"([^"<]*)"|'([^'<]*)')`,
  "y",
);
const START_END = /[ \t\n]*(\/?)>/y;
const TEXT = /[^<]+/y;
// The syntax of all references; the allowed targets are checked later.
const REFERENCE = /&(?:#(?:([0-9]{1,7})|x([0-9A-Fa-f]{1,6}))|([A-Za-z0-9_.:-]*));|&/g;
const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const WHITE_SPACE = /^[ \t\n\r]*$/;

/**
 * Reads a document whose characters and line breaks `decodeSamlMessage()` has checked.
 *
 * @returns The root element.
 * @throws {SamlError} `dtd`, `cdata`, `processing_instruction`, `entity`, `character`,
 * `namespace`, `too_deep`, `too_many_nodes`, `too_many_references`, else `malformed`.
 */
export function readXml(text: string): XmlElement {
  let at = 0;
  let nodes = 0;
  let namespaces = 0;
  let comments = 0;
  let references = 0;
  let root: XmlElement | undefined;
  const names = new Set<string>();
  /** Open elements with their namespace scopes and the number of declarations up to the root. */
  const open: { element: XmlElement; scope: Scope; declared: number }[] = [];

  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at = pattern.lastIndex;
    return found;
  };
  const countNode = () => {
    if (++nodes > NODES_MAX) {
      throw new SamlError("too_many_nodes", `The message has more than ${NODES_MAX} nodes`);
    }
  };
  const decode = (raw: string) => {
    const decoded = decodeReferences(raw, REFERENCES_MAX - references);
    references += decoded.count;
    return decoded;
  };

  const readText = () => {
    const raw = take(TEXT)![0];
    const current = open.at(-1)?.element;
    if (current === undefined) {
      if (!WHITE_SPACE.test(raw)) {
        throw malformed("The message has text outside of the root element");
      }
      return;
    }
    if (raw.includes("]]>")) throw malformed("A text contains ]]>");
    const decoded = decode(raw);
    current.text += decoded.text;
    current.hasReference ||= decoded.hasVisible;
  };

  const readComment = () => {
    const end = text.indexOf("--", at + 4);
    if (end < 0 || text[end + 2] !== ">") throw malformed("A comment is not closed");
    at = end + 3;
    comments++;
    if (comments > COMMENTS_MAX) {
      throw new SamlError("too_many_nodes", `The message has more than ${COMMENTS_MAX} comments`);
    }
    const current = open.at(-1)?.element;
    if (current) current.hasComment = true;
  };

  const readStart = () => {
    const qualifiedName = take(START)?.[1];
    if (qualifiedName === undefined) throw malformed("A tag is malformed");
    const written: { qualifiedName: string; value: string }[] = [];
    let declared = open.at(-1)?.declared ?? 0;
    for (let found = take(ATTRIBUTE); found; found = take(ATTRIBUTE)) {
      countNode();
      // XML normalizes literal line breaks and tabs in attributes to spaces.
      const raw = (found[2] ?? found[3]!).replace(/[\t\n]/g, " ");
      const [prefix] = splitName(found[1]!);
      if (found[1]!.startsWith("xmlns")) {
        assertPlainDeclaration(found[1]!, prefix, raw);
        assertNamespaces(++namespaces, ++declared);
      }
      written.push({ qualifiedName: found[1]!, value: decode(raw).text });
    }
    const end = take(START_END);
    if (end === null) throw malformed(`The tag ${qualifiedName} is malformed`);
    countNode();
    names.add(qualifiedName);
    if (names.size > NAMES_MAX) {
      throw new SamlError(
        "too_many_nodes",
        `The message has more than ${NAMES_MAX} element names`,
      );
    }

    const parent = open.at(-1);
    if (parent === undefined && root) throw malformed("The message has more than one root element");
    if (open.length >= DEPTH_MAX) {
      throw new SamlError("too_deep", `The message is nested deeper than ${DEPTH_MAX} elements`);
    }
    const scope = scopeOf(parent?.scope ?? FIRST_SCOPE, written);
    const attributes = written.map((each) => namedAttribute(scope, each));
    assertDistinct(attributes);
    const [prefix, name] = splitName(qualifiedName);
    const element: XmlElement = {
      namespace: namespaceOf(scope, prefix),
      name,
      qualifiedName,
      attributes,
      parent: parent?.element,
      children: [],
      text: "",
      hasComment: false,
      hasReference: false,
    };
    if (parent) parent.element.children.push(element);
    else root = element;
    if (end[1] === "") open.push({ element, scope, declared });
  };

  const readEnd = () => {
    const name = take(END)?.[1];
    const ended = open.pop()?.element;
    if (name === undefined || ended?.qualifiedName !== name) {
      throw malformed("An end tag does not match its start tag");
    }
  };

  while (at < text.length) {
    if (text[at] !== "<") readText();
    else if (text.startsWith("<!--", at)) readComment();
    else if (text[at + 1] === "!" || text[at + 1] === "?") throw refusedMarkup(text, at);
    else if (text[at + 1] === "/") readEnd();
    else readStart();
  }
  if (root === undefined || open.length > 0) throw malformed("The message is truncated");
  return root;
}

type Scope = ReadonlyMap<string, string>;

const FIRST_SCOPE: Scope = new Map([["", ""], ["xml", XML]]);

const malformed = (message: string) => new SamlError("malformed", message);

function refusedMarkup(text: string, at: number): SamlError {
  if (text[at + 1] === "?") {
    return new SamlError("processing_instruction", "The message contains a processing instruction");
  }
  if (text.startsWith("<![CDATA[", at)) {
    return new SamlError("cdata", "The message contains a CDATA section");
  }
  return new SamlError("dtd", "The message contains a document type definition");
}

function splitName(qualifiedName: string): [prefix: string, name: string] {
  const colon = qualifiedName.indexOf(":");
  return colon < 0
    ? ["", qualifiedName]
    : [qualifiedName.slice(0, colon), qualifiedName.slice(colon + 1)];
}

// The signature library drops every attribute whose name starts with `xmlns` and does not escape
// namespace URIs. Refusing such input makes both harmless.
function assertPlainDeclaration(qualifiedName: string, prefix: string, value: string): void {
  if (prefix !== "xmlns" && qualifiedName !== "xmlns") {
    throw new SamlError("namespace", `The attribute ${qualifiedName} has a reserved name`);
  }
  if (/[&"'<>\s]/.test(value)) {
    throw new SamlError("namespace", "A namespace URI contains quotes, spaces or references");
  }
}

/** @param inScope Of the element and those around it, also of the same prefix. */
function assertNamespaces(inMessage: number, inScope: number): void {
  if (inMessage > NAMESPACES_MAX) {
    throw new SamlError(
      "too_many_nodes",
      `The message has more than ${NAMESPACES_MAX} namespace declarations`,
    );
  }
  if (inScope > SCOPE_MAX) {
    throw new SamlError(
      "too_many_nodes",
      `The message has more than ${SCOPE_MAX} namespace declarations in one scope`,
    );
  }
}

function scopeOf(outer: Scope, written: { qualifiedName: string; value: string }[]): Scope {
  const declared = written.filter(({ qualifiedName }) => qualifiedName.startsWith("xmlns"));
  if (declared.length === 0) return outer;
  const scope = new Map(outer);
  for (const { qualifiedName, value } of declared) {
    const prefix = qualifiedName === "xmlns" ? "" : splitName(qualifiedName)[1];
    const isReserved = prefix === "xml" || prefix === "xmlns" || prefix !== "" && value === "" ||
      value === XML || value === XMLNS || value === XHTML;
    if (isReserved) {
      throw new SamlError("namespace", `The declaration ${qualifiedName} is not allowed`);
    }
    scope.set(prefix, value);
  }
  return scope;
}

function namespaceOf(scope: Scope, prefix: string): string {
  const namespace = scope.get(prefix);
  if (namespace === undefined) {
    throw new SamlError("namespace", `The prefix ${prefix} is not declared`);
  }
  return namespace;
}

function namedAttribute(
  scope: Scope,
  { qualifiedName, value }: { qualifiedName: string; value: string },
): XmlAttribute {
  const [prefix, name] = splitName(qualifiedName);
  const isDeclaration = qualifiedName.startsWith("xmlns");
  const namespace = isDeclaration ? XMLNS : prefix === "" ? "" : namespaceOf(scope, prefix);
  return { namespace, name, qualifiedName, value };
}

function assertDistinct(attributes: XmlAttribute[]): void {
  const names = new Set(attributes.map(({ namespace, name }) => `${namespace} ${name}`));
  if (names.size < attributes.length) throw malformed("An element has an attribute twice");
}

/**
 * @param atMost Number of references still allowed.
 * @returns `hasVisible`: whether a reference stands for a character other than white space.
 */
function decodeReferences(
  raw: string,
  atMost: number,
): { text: string; count: number; hasVisible: boolean } {
  if (!raw.includes("&")) return { text: raw, count: 0, hasVisible: false };
  let count = 0;
  let hasVisible = false;
  const text = raw.replace(REFERENCE, (whole, decimal, hexadecimal, name) => {
    if (++count > atMost) {
      throw new SamlError(
        "too_many_references",
        `The message has more than ${REFERENCES_MAX} references`,
      );
    }
    const decoded = decimal === undefined && hexadecimal === undefined
      ? namedEntity(whole, name)
      : referredCharacter(whole, decimal ? Number(decimal) : parseInt(hexadecimal, 16));
    hasVisible ||= !WHITE_SPACE.test(decoded);
    return decoded;
  });
  return { text, count, hasVisible };
}

function namedEntity(whole: string, name: string | undefined): string {
  if (whole === "&") throw malformed("An & is not escaped");
  if (name !== undefined && Object.hasOwn(ENTITIES, name)) return ENTITIES[name]!;
  throw new SamlError("entity", "The message uses an entity that XML does not define");
}

function referredCharacter(whole: string, code: number): string {
  const isCharacter = code === 0x9 || code === 0xa || code === 0xd ||
    code >= 0x20 && code <= 0xd7ff || code >= 0xe000 && code <= 0xfffd ||
    code >= 0x10000 && code <= 0x10ffff;
  if (!isCharacter) throw new SamlError("character", `${whole} is not a character of XML`);
  return String.fromCodePoint(code);
}
