/**
 * Validation of a brand's style sheet.
 *
 * The style sheet of the active brand is served to all users, possibly on pages with a password
 * field. So it must not
 * - run code, which old browsers allow;
 * - end the element that contains it;
 * - load anything: a request reveals the visitor, and selectors like `input[value^="a"]` can reveal
 *   typed text.
 *
 * The text is refused, not cleaned, because browsers may interpret a cleaned text differently. It is
 * decoded in every way in which a browser or another program might read it, and refused if any of
 * these readings contains a forbidden construct.
 *
 * @module
 */

/** Maximum length of a style sheet, in UTF-16 code units. */
export const CUSTOM_CSS_MAX = 50_000;

/** A construct that no reading may contain. */
interface Forbidden {
  /** Its name in the message. */
  name: string;
  /** Searched in a folded reading: without case, white space and accents. */
  pattern: RegExp;
  /**
   * Allowed uses, searched in the unfolded reading, because browsers do not fold a character to `#`
   * or `:`. Each one is also a match of `pattern`.
   */
  allowed?: RegExp;
}

const FORBIDDEN: readonly Forbidden[] = [
  { name: "expression()", pattern: /expression\(/ },
  { name: "javascript:", pattern: /javascript:/ },
  { name: "vbscript: or another script URL", pattern: /(vb|live|ecma)script:|mocha:/ },
  { name: "@import", pattern: /@import/ },
  { name: "@charset", pattern: /@charset/ },
  { name: "</style", pattern: /<\/style/ },
  { name: "tags", pattern: /<\/|<(script|style|link|meta|base|iframe|svg|img|[!?])/ },
  { name: "-moz-binding", pattern: /-moz-binding/ },
  {
    name: "behavior:",
    pattern: /behavior:/g,
    allowed: /(scroll-|transition-)behavior[ \t\r\n\f]*:/gi,
  },
  { name: "progid:", pattern: /progid:/ },
  { name: "-o-link", pattern: /-o-link/ },
  { name: "image-set(), image() or src()", pattern: /(image-set|image|src)\(/ },
  {
    name: "url() other than data:image/... or #id",
    pattern: /url\(/g,
    allowed:
      /url\([ \t\r\n\f]*(?:["'][ \t\r\n\f]*)?(#|data:image\/(png|jpeg|gif|webp|avif|svg\+xml)[;,])/gi,
  },
];

/**
 * The uses of `<` in style sheets: in a range (`width < 40rem`) and in the syntax of a property
 * (`"<color>"`). Every other `<` might start a tag.
 */
const ALLOWED_LESS_THAN =
  /^<([\s=\d]|(angle|color|custom-ident|image|integer|length|length-percentage|number|percentage|resolution|string|time|transform-function|transform-list)[+#]?>)/;

/** Number of times that escapes and comments are removed in succession; browsers do it once. */
const DEPTH = 3;

/**
 * Finds a forbidden construct in a style sheet, e.g. `"@import"`.
 *
 * @returns Its name; `undefined` if there is none.
 */
export function findForbiddenCss(css: string): string | undefined {
  for (const { index } of css.matchAll(/</g)) {
    if (!ALLOWED_LESS_THAN.test(css.slice(index, index + 32))) {
      return findConstruct(css) ?? "< without a space after it";
    }
  }
  return findConstruct(css);
}

function findConstruct(css: string): string | undefined {
  const texts = [...readingsOf(css)].map((text) => ({ text, folded: foldText(text) }));
  return FORBIDDEN.find(({ pattern, allowed }) =>
    texts.some(({ text, folded }) =>
      allowed ? count(folded, pattern) > count(text, allowed) : pattern.test(folded)
    )
  )?.name;
}

const count = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0;

/** The unchanged text, and the text with escapes and comments removed, in every order. */
function readingsOf(css: string): Set<string> {
  const found = new Set([css]);
  let last = [css];
  for (let depth = 0; depth < DEPTH; depth++) {
    last = last.flatMap((text) => [
      decodeEscapes(text),
      removeComments(text),
      removeAllComments(text),
    ]).filter((text) => !found.has(text));
    for (const text of last) found.add(text);
  }
  return found;
}

/** Decodes escapes (CSS Syntax Level 3, 4.3.7) and removes line continuations in strings. */
function decodeEscapes(css: string): string {
  return css.replace(
    /\\(?:([\da-f]{1,6})(?:\r\n|[ \t\r\n\f])?|\r\n|[\n\r\f]|([\s\S])|$)/gi,
    (_, hex: string | undefined, character: string | undefined) =>
      hex === undefined ? character ?? "" : characterOf(parseInt(hex, 16)),
  );
}

function characterOf(code: number): string {
  const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : "\uFFFD";
}

/** Removes comments as browsers do: not those in a string or after a backslash. */
function removeComments(css: string): string {
  return css.replace(
    /(\\[\s\S]|"(?:[^"\\\n\r\f]|\\[\s\S])*"?|'(?:[^'\\\n\r\f]|\\[\s\S])*'?)|\/\*[\s\S]*?(?:\*\/|$)/g,
    "$1",
  );
}

/** Removes comments as a program does that does not recognize strings. */
const removeAllComments = (css: string) => css.replace(/\/\*[\s\S]*?(?:\*\/|$)/g, "");

/** Small capitals, which old browsers treat as ASCII letters, and these letters. */
const SMALL_CAPITALS = "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ";
const SMALL_CAPITAL_LETTERS = "abcdefghijklmnoprstuvwyz";
const SMALL_CAPITAL = new RegExp(`[${SMALL_CAPITALS}]`, "g");

/** Removes case, width, ligatures, accents, white space and invisible characters. */
function foldText(text: string): string {
  return text.normalize("NFKD")
    .replace(/[\p{M}\p{C}\s\uFFFD\u115F\u1160\u3164\uFFA0]/gu, "")
    .toUpperCase().toLowerCase()
    .normalize("NFKD").replace(/\p{M}/gu, "")
    .replace(SMALL_CAPITAL, (letter) => SMALL_CAPITAL_LETTERS[SMALL_CAPITALS.indexOf(letter)]!);
}
