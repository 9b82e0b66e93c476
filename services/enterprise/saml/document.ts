/**
 * Decodes SAML messages of the HTTP-POST binding to text: size, base64, encoding, characters. The
 * XML is parsed by `xml.ts`.
 *
 * @module
 */

import { SamlError } from "./error.ts";

/** Maximum decoded size in bytes. Messages of large directories stay below 64 KiB. */
const SAML_MESSAGE_MAX = 256 * 1024;

/** Maximum length as base64, with a line break after every 60 characters. */
const BASE64_MAX = Math.ceil(SAML_MESSAGE_MAX / 3) * 4 * 31 / 30 + 2;

// Everything but the characters of XML 1.0 (section 2.2), without the additional line breaks of
// XML 1.1, which not all parsers treat as white space.
const FORBIDDEN_CHARACTER =
  /[^\t\n\r\x20-\x84\x86-\u{2027}\u{2029}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u;

const SPACE = "[ \\t\\n]";
const DECLARATION = new RegExp(
  `^<\\?xml${SPACE}+version${SPACE}*=${SPACE}*(?:"1\\.0"|'1\\.0')` +
    `(?:${SPACE}+encoding${SPACE}*=${SPACE}*(?:"[Uu][Tt][Ff]-8"|'[Uu][Tt][Ff]-8'))?` +
    `(?:${SPACE}+standalone${SPACE}*=${SPACE}*(?:"(?:yes|no)"|'(?:yes|no)'))?${SPACE}*\\?>`,
);

/**
 * Decodes a message to XML text with normalized line breaks, without byte order mark and XML
 * declaration.
 *
 * @param base64 The form value: strict base64 except for white space, because identity providers
 * break lines.
 * @throws {SamlError} `too_large`, `base64`, `compressed`, `character`, `encoding` (also for an XML
 * declaration other than version 1.0 and UTF-8).
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
    throw new SamlError("character", `The message contains the character U+${code}`);
  }
  const rest = text.replace(DECLARATION, "");
  if (/^<\?xml[ \t\n]/.test(rest)) {
    throw new SamlError("encoding", "The XML declaration must have version 1.0 and UTF-8");
  }
  return rest;
}

/**
 * Decodes strict base64 with optional white space; `undefined` for other alphabets, missing padding
 * and trailing bits.
 */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.fromBase64(text.replace(/[ \t\r\n]/g, ""), { lastChunkHandling: "strict" });
  } catch {
    return undefined;
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  // The byte order marks of UTF-16, and `<` in UTF-16 without one.
  const [first, second] = bytes;
  const isUtf16 = first === 0xff && second === 0xfe || first === 0xfe && second === 0xff ||
    first === 0x3c && second === 0 || first === 0 && second === 0x3c;
  if (isUtf16) throw new SamlError("encoding", "The message is UTF-16; it must be UTF-8");

  // Only the HTTP-Redirect binding compresses. Never inflating also prevents decompression bombs.
  const isText = first === 0x3c || first === 0xef || first === 0x20 ||
    first === 0x09 || first === 0x0a || first === 0x0d;
  if (!isText) {
    throw new SamlError("compressed", "The message is not XML text; it must not be compressed");
  }
  try {
    // Removes one byte order mark; the XML reader refuses a second one before the root element.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new SamlError("encoding", "The message is not UTF-8", { cause });
  }
}

const tooLarge = () =>
  new SamlError("too_large", `The message is larger than ${SAML_MESSAGE_MAX} bytes`);
