/**
 * A SAML message as it arrives by HTTP-POST, up to its text: size, base64, encoding, characters.
 * Nothing here understands XML; what passes goes to the reader of `saml_xml.ts`.
 *
 * @module
 */

import { SamlError } from "./error.ts";

/** Longest message, decoded, in bytes. Those of large directories stay below 64 KiB. */
export const SAML_MESSAGE_MAX = 256 * 1024;

/** Longest message as base64, with room for a line break after every 60 characters. */
const BASE64_MAX = Math.ceil(SAML_MESSAGE_MAX / 3) * 4 * 31 / 30 + 2;

// Characters of XML 1.0 (2.2 there), without the two further line breaks of XML 1.1: parsers
// disagree about whether they are white space.
const FORBIDDEN_CHARACTER =
  /[^\t\n\r\x20-\x84\x86-\u{2027}\u{2029}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u;

const SPACE = "[ \\t\\n]";
const DECLARATION = new RegExp(
  `^<\\?xml${SPACE}+version${SPACE}*=${SPACE}*(?:"1\\.0"|'1\\.0')` +
    `(?:${SPACE}+encoding${SPACE}*=${SPACE}*(?:"[Uu][Tt][Ff]-8"|'[Uu][Tt][Ff]-8'))?` +
    `(?:${SPACE}+standalone${SPACE}*=${SPACE}*(?:"(?:yes|no)"|'(?:yes|no)'))?${SPACE}*\\?>`,
);

/**
 * The text of a message: UTF-8 XML with line ends as XML normalizes them, without byte order mark
 * and without XML declaration.
 *
 * @param base64 The form's value. White space in it counts for nothing, as identity providers
 * break its lines; all else of base64 is taken strictly.
 * @throws {SamlError} `too_large`, `base64`, `compressed`, `character`, `encoding` (also
 * for an XML declaration that says anything but version 1.0 and UTF-8).
 */
export function decodeSamlMessage(base64: string): string {
  if (base64.length > BASE64_MAX) throw tooLarge();
  const bytes = decodeBase64(base64);
  if (bytes === undefined || bytes.length === 0) {
    throw new SamlError("base64", "The message is not base64");
  }
  if (bytes.length > SAML_MESSAGE_MAX) throw tooLarge();

  const text = decodeUtf8(bytes).replace(/\r\n?/g, "\n");
  const forbidden = FORBIDDEN_CHARACTER.exec(text);
  if (forbidden) {
    const code = forbidden[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
    throw new SamlError("character", `The message holds the character U+${code}`);
  }
  const rest = text.replace(DECLARATION, "");
  if (/^<\?xml[ \t\n]/.test(rest)) {
    throw new SamlError("encoding", "The XML declaration must say version 1.0 and UTF-8");
  }
  return rest;
}

/**
 * The bytes of strict base64, whatever white space is in it; `undefined` for anything else: other
 * alphabets, missing padding, bits after the end.
 */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.fromBase64(text.replace(/[ \t\r\n]/g, ""), { lastChunkHandling: "strict" });
  } catch {
    return undefined;
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  // Two of these are the byte order marks of UTF-16, two a `<` in UTF-16 without one.
  const [first, second] = bytes;
  const isUtf16 = first === 0xff && second === 0xfe || first === 0xfe && second === 0xff ||
    first === 0x3c && second === 0 || first === 0 && second === 0x3c;
  if (isUtf16) throw new SamlError("encoding", "The message is UTF-16; it must be UTF-8");

  // A form's value is never compressed, only a query's is. It is not even tried: a bomb that
  // nobody inflates is none.
  const isText = first === 0x3c || first === 0xef || first === 0x20 ||
    first === 0x09 || first === 0x0a || first === 0x0d;
  if (!isText) {
    throw new SamlError("compressed", "The message is not XML text; it must not be compressed");
  }
  try {
    // Takes one byte order mark away; a second one stands before the root and is refused there.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new SamlError("encoding", "The message is not UTF-8", { cause });
  }
}

const tooLarge = () =>
  new SamlError("too_large", `The message is larger than ${SAML_MESSAGE_MAX} bytes`);
