/**
 * The elements of a SAML message, as `saml_xml.ts` reads them, and the ways around in them.
 *
 * @module
 */

import { SamlError, type SamlReason } from "./error.ts";

export interface XmlElement {
  /** The namespace's name; empty for none. */
  namespace: string;
  /** Without prefix. */
  name: string;
  /** As it is written, with its prefix. */
  qualifiedName: string;
  /** Namespace declarations included. */
  attributes: XmlAttribute[];
  parent: XmlElement | undefined;
  children: XmlElement[];
  /** All text directly in it, in full: comments do not end it. */
  text: string;
  /** Whether a comment stands directly in it. */
  hasComment: boolean;
  /** Whether its text was written with references, other than those to white space. */
  hasReference: boolean;
}

export interface XmlAttribute {
  /** Empty for none, and for declarations {@linkcode XMLNS}. */
  namespace: string;
  name: string;
  qualifiedName: string;
  value: string;
}

/** Its child elements of that name. */
export function childrenOf(parent: XmlElement, namespace: string, name: string): XmlElement[] {
  return parent.children.filter((child) => isNamed(child, namespace, name));
}

export function isNamed(element: XmlElement, namespace: string, name: string): boolean {
  return element.namespace === namespace && element.name === name;
}

/** The value of an attribute without namespace. */
export function attributeOf(element: XmlElement, name: string): string | undefined {
  return element.attributes.find((each) => each.namespace === "" && each.name === name)?.value;
}

/** The element and all below it, in the order of the document. */
export function elementsOf(element: XmlElement): XmlElement[] {
  const found = [element];
  const add = ({ children }: XmlElement) => {
    for (const child of children) {
      found.push(child);
      add(child);
    }
  };
  add(element);
  return found;
}

/**
 * The whole text of an element that holds text only, without white space around it.
 *
 * @throws {SamlError} With `reason`, where it holds elements.
 */
export function textOf(element: XmlElement, reason: SamlReason): string {
  if (element.children.length > 0) {
    throw new SamlError(reason, `${element.name} holds elements instead of text`);
  }
  return trimmed(element.text);
}

/** Without the white space that XML knows; other spaces belong to the text. */
export function trimmed(text: string): string {
  return text.replace(/^[ \t\n\r]+|(?<![ \t\n\r])[ \t\n\r]+$/g, "");
}
