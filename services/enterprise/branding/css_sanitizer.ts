/**
 * Which style sheets a brand may have: those that do nothing but style.
 *
 * The style sheet of the active brand is shown to everybody, by this service and by other pages that
 * read the active brand, perhaps where people type passwords. So it must not
 * - run code, which old browsers let style sheets do;
 * - end the element that it stands in;
 * - load anything. A request to elsewhere tells who is looking, and selectors like
 *   `input[value^="a"]` can make it tell what they type.
 *
 * Nothing is rewritten, because a text that was cleaned for one browser may be read differently by
 * another. The text is read in every way in which a browser (or a careless program) might read it,
 * and refused if any of these readings has something forbidden.
 *
 * @module
 */

/** Longest style sheet, in UTF-16 units. */
export const CUSTOM_CSS_MAX = 50_000;

/** Something that no reading may contain. */
interface Forbidden {
  /** Names it in the message. */
  what: string;
  /** Searched in a folded reading: without case, white space and accents. */
  pattern: RegExp;
  /**
   * The harmless uses, searched in the unfolded reading: a character that only folds to `#` or `:`
   * is neither to a browser. Each one is also a match of `pattern`.
   */
  harmless?: RegExp;
}

const FORBIDDEN: readonly Forbidden[] = [
  { what: "expression()", pattern: /expression\(/ },
  { what: "javascript:", pattern: /javascript:/ },
  { what: "vbscript: or the like", pattern: /(vb|live|ecma)script:|mocha:/ },
  { what: "@import", pattern: /@import/ },
  { what: "@charset", pattern: /@charset/ },
  { what: "</style", pattern: /<\/style/ },
  { what: "tags", pattern: /<\/|<(script|style|link|meta|base|iframe|svg|img|[!?])/ },
  { what: "-moz-binding", pattern: /-moz-binding/ },
  {
    what: "behavior:",
    pattern: /behavior:/g,
    harmless: /(scroll-|transition-)behavior[ \t\r\n\f]*:/gi,
  },
  { what: "progid:", pattern: /progid:/ },
  { what: "-o-link", pattern: /-o-link/ },
  { what: "image-set(), image() or src()", pattern: /(image-set|image|src)\(/ },
  {
    what: "url() of anything but data:image/... or #id",
    pattern: /url\(/g,
    harmless:
      /url\([ \t\r\n\f]*["']?[ \t\r\n\f]*(#|data:image\/(png|jpeg|gif|webp|avif|svg\+xml)[;,])/gi,
  },
];

/**
 * The uses of `<` in style sheets: in a range (`width < 40rem`) and in the syntax of a property
 * (`"<color>"`). Every other `<` may be the beginning of a tag.
 */
const MEANT_LESS_THAN =
  /^<([\s=\d]|(angle|color|custom-ident|image|integer|length|length-percentage|number|percentage|resolution|string|time|transform-function|transform-list)[+#]?>)/;

/** How often escapes and comments are undone one after the other; browsers do it once. */
const DEPTH = 3;

/**
 * What a style sheet has that it must not have, e.g. `"@import"`; `undefined` for a harmless one.
 */
export function hostilePartOf(css: string): string | undefined {
  for (const { index } of css.matchAll(/</g)) {
    if (!MEANT_LESS_THAN.test(css.slice(index, index + 32))) {
      return hostileIn(css) ?? "< without a space behind it";
    }
  }
  return hostileIn(css);
}

function hostileIn(css: string): string | undefined {
  const texts = [...readings(css)].map((text) => ({ text, plain: folded(text) }));
  return FORBIDDEN.find(({ pattern, harmless }) =>
    texts.some(({ text, plain }) =>
      harmless ? count(plain, pattern) > count(text, harmless) : pattern.test(plain)
    )
  )?.what;
}

const count = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0;

/** The text as it is, and with its escapes and comments undone, in every order. */
function readings(css: string): Set<string> {
  const found = new Set([css]);
  let last = [css];
  for (let depth = 0; depth < DEPTH; depth++) {
    last = last.flatMap((text) => [
      withoutEscapes(text),
      withoutComments(text),
      withoutAnyComments(text),
    ]).filter((text) => !found.has(text));
    for (const text of last) found.add(text);
  }
  return found;
}

/** Undoes escapes (CSS Syntax Level 3, 4.3.7), and backslashes that continue a string's line. */
function withoutEscapes(css: string): string {
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

/** Removes comments as browsers see them: not those in a string or after a backslash. */
function withoutComments(css: string): string {
  return css.replace(
    /(\\[\s\S]|"(?:[^"\\\n\r\f]|\\[\s\S])*"?|'(?:[^'\\\n\r\f]|\\[\s\S])*'?)|\/\*[\s\S]*?(?:\*\/|$)/g,
    "$1",
  );
}

/** Removes comments as a program sees them that does not know of strings. */
const withoutAnyComments = (css: string) => css.replace(/\/\*[\s\S]*?(?:\*\/|$)/g, "");

/** Small capitals, which old browsers took for the plain letters. */
const SMALL_CAPITALS: Readonly<Record<string, string>> = {
  "\u1d00": "a",
  "\u0299": "b",
  "\u1d04": "c",
  "\u1d05": "d",
  "\u1d07": "e",
  "\ua730": "f",
  "\u0262": "g",
  "\u029c": "h",
  "\u026a": "i",
  "\u1d0a": "j",
  "\u1d0b": "k",
  "\u029f": "l",
  "\u1d0d": "m",
  "\u0274": "n",
  "\u1d0f": "o",
  "\u1d18": "p",
  "\u0280": "r",
  "\ua731": "s",
  "\u1d1b": "t",
  "\u1d1c": "u",
  "\u1d20": "v",
  "\u1d21": "w",
  "\u028f": "y",
  "\u1d22": "z",
};

/**
 * The text in its plainest letters: without case, width, ligatures, accents, white space and
 * invisible characters.
 */
function folded(text: string): string {
  return text.normalize("NFKD")
    .replace(/[\p{M}\p{C}\s\uFFFD\u115F\u1160\u3164\uFFA0]/gu, "")
    .toUpperCase().toLowerCase()
    .normalize("NFKD").replace(/\p{M}/gu, "")
    .replace(/[^ -~]/gu, (letter) => SMALL_CAPITALS[letter] ?? letter);
}
