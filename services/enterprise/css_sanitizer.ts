/**
 * Which style sheets of a brand are taken: such that do nothing but style.
 *
 * A brand's style sheet is shown to everybody, by this service and by whoever reads the active
 * brand, perhaps on a page where people type passwords. It must not run code (old browsers have
 * ways to), must not end the element that it stands in, and must not load anything: what is loaded
 * from elsewhere tells who looks, and with a selector for each letter also what they type.
 *
 * Nothing is rewritten, for what one cleans another reads differently. The text is read in every
 * way that a browser, or a careless reader of the rules, might read it, and refused if any of these
 * readings holds what it must not.
 *
 * @module
 */

/** Longest style sheet, in UTF-16 units. */
export const CUSTOM_CSS_MAX = 50_000;

/** What no reading may hold, compared without case, white space and ornaments. */
const FORBIDDEN: readonly [what: string, pattern: RegExp][] = [
  ["expression()", /expression\(/],
  ["javascript:", /javascript:/],
  ["vbscript: or the like", /(vb|live|ecma)script:|mocha:/],
  ["@import", /@import/],
  ["@charset", /@charset/],
  ["</style", /<\/style/],
  ["tags", /<\/|<(script|style|link|meta|base|iframe|svg|img|[!?])/],
  ["-moz-binding", /-moz-binding/],
  ["behavior:", /(?<!scroll-|transition-)behavior:/],
  ["progid:", /progid:/],
  ["-o-link", /-o-link/],
  ["image-set(), image() or src()", /(image-set|image|src)\(/],
  [
    "url() of anything but data:image/... or #id",
    /url\((?!["']?(#|data:image\/(png|jpeg|gif|webp|avif|svg\+xml)[;,]))/,
  ],
];

/**
 * A `<` as style sheets have it: in a range (`width < 40rem`) and in the syntax of a property
 * (`"<color>"`); every other may be the beginning of a tag.
 */
const MEANT_LESS_THAN =
  /^<([\s=\d]|(angle|color|custom-ident|image|integer|length|length-percentage|number|percentage|resolution|string|time|transform-function|transform-list)[+#]?>)/;

/** How often escapes and comments are undone; browsers do it once. */
const DEPTH = 3;

/**
 * Looks for what a style sheet must not hold.
 *
 * @returns What it is, e.g. `"@import"`; `undefined` for a harmless one.
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
  const texts = [...readings(css)].map(folded);
  return FORBIDDEN.find(([, pattern]) => texts.some((text) => pattern.test(text)))?.[0];
}

/** The text as it is, and with escapes and comments undone in any order. */
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

/** CSS Syntax Level 3, 4.3.7; a line that is continued in a string as well. */
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

/** Comments as they are: not in a string, not behind a backslash. */
function withoutComments(css: string): string {
  return css.replace(
    /(\\[\s\S]|"(?:[^"\\\n\r\f]|\\[\s\S])*"?|'(?:[^'\\\n\r\f]|\\[\s\S])*'?)|\/\*[\s\S]*?(?:\*\/|$)/g,
    "$1",
  );
}

/** Comments as somebody sees them who does not know of strings. */
const withoutAnyComments = (css: string) => css.replace(/\/\*[\s\S]*?(?:\*\/|$)/g, "");

/** Letters that are small capitals, which old browsers took for their plain likes. */
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
 * The text without all that does not tell letters apart: case, width, ligatures, accents, dots,
 * white space, and characters that nobody sees.
 */
function folded(text: string): string {
  return text.normalize("NFKD")
    .replace(/[\p{M}\p{C}\s\uFFFD\u115F\u1160\u3164\uFFA0]/gu, "")
    .toUpperCase().toLowerCase()
    .normalize("NFKD").replace(/\p{M}/gu, "")
    .replace(/[^ -~]/gu, (letter) => SMALL_CAPITALS[letter] ?? letter);
}
