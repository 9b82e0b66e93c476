/** Answers in XML. @module */

/**
 * Parses an answer. Values are texts, also those that look like numbers.
 *
 * @param lists Names of elements that are lists even if there is only one.
 * @returns `undefined` for text that is not XML, and for a document type, which could define entities
 * that expand without limit.
 */
export async function parseXml(text: string, lists: readonly string[]): Promise<unknown> {
  if (!text.trimStart().startsWith("<") || /<!DOCTYPE/i.test(text)) return undefined;
  const { XMLParser } = await import("fast-xml-parser");
  const parser = new XMLParser({
    parseTagValue: false,
    ignoreAttributes: true,
    isArray: (name) => lists.includes(name),
  });
  try {
    return parser.parse(text);
  } catch {
    return undefined;
  }
}
