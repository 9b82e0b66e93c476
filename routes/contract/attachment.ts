/** The header with which a response names the file that it is saved as. @module */

/** Value of Content-Disposition (RFC 6266). Other names than plain ones are encoded as RFC 8187 says. */
export const attachment = (name: string): string =>
  /^[\w.-]+$/.test(name)
    ? `attachment; filename="${name}"`
    : `attachment; filename*=UTF-8''${encode(name)}`;

/** Quotes, parentheses and asterisks, too. */
const encode = (name: string): string =>
  encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
