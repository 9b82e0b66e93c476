/** The element tree of a SAML message, as `xml.ts` reads it, and functions to search it. @module */

import { SamlError, type SamlReason } from "./error.ts";

export interface XmlElement {
  /** The namespace URI; empty for none. */
  namespace: string;
  /** Without prefix. */
  name: string;
  /** With prefix. */
  qualifiedName: string;
  /** Namespace declarations included. */
  attributes: XmlAttribute[];
  parent: XmlElement | undefined;
  children: XmlElement[];
  /** The text of the element, without that of children. Comments do not end it. */
  text: string;
  /** Whether the element directly contains a comment. */
  hasComment: boolean;
  /** Whether its text contains character or entity references other than to white space. */
  hasReference: boolean;
}

export interface XmlAttribute {
  /** The namespace URI; empty for none. */
  namespace: string;
  name: string;
  qualifiedName: string;
  value: string;
}

export function childrenOf(parent: XmlElement, namespace: string, name: string): XmlElement[] {
  return parent.children.filter((child) => isNamed(child, namespace, name));
}

export function isNamed(element: XmlElement, namespace: string, name: string): boolean {
  return element.namespace === namespace && element.name === name;
}

/** Returns the value of an attribute without namespace. */
export function attributeOf(element: XmlElement, name: string): string | undefined {
  return element.attributes.find((each) => each.namespace === "" && each.name === name)?.value;
}

/** Returns the element and its descendants in document order. */
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
 * Returns the trimmed text of an element without children.
 *
 * @throws {SamlError} With `reason`, if it has children.
 */
export function textOf(element: XmlElement, reason: SamlReason): string {
  if (element.children.length > 0) {
    throw new SamlError(reason, `${element.name} contains elements instead of text`);
  }
  return trimXml(element.text);
}

/** Removes the white space of XML at both ends; other spaces belong to the text. */
export function trimXml(text: string): string {
  return text.replace(/^[ \t\n\r]+|(?<![ \t\n\r])[ \t\n\r]+$/g, "");
}
