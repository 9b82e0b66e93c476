/** Sets of characters in patterns. @module */

/** Inclusive ranges of code points, ascending and not adjacent. */
export type CharSet = readonly (readonly [number, number])[];

export const CODE_POINT_MAX = 0x10ffff;
export const EVERYTHING: CharSet = [[0, CODE_POINT_MAX]];
export const NOT_ASCII: CharSet = [[0x80, CODE_POINT_MAX]];

/** By the letter of `\d`, `\s`, `\w`. */
export const PERL_CLASSES: Record<string, CharSet> = {
  d: [[0x30, 0x39]],
  s: [[0x09, 0x0d], [0x20, 0x20]],
  w: [[0x30, 0x39], [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]],
};

/** By the name in `[:name:]`. */
export const NAMED_CLASSES: Record<string, CharSet> = {
  alnum: [[0x30, 0x39], [0x41, 0x5a], [0x61, 0x7a]],
  alpha: [[0x41, 0x5a], [0x61, 0x7a]],
  ascii: [[0, 0x7f]],
  blank: [[0x09, 0x09], [0x20, 0x20]],
  cntrl: [[0, 0x1f], [0x7f, 0x7f]],
  digit: [[0x30, 0x39]],
  graph: [[0x21, 0x7e]],
  lower: [[0x61, 0x7a]],
  print: [[0x20, 0x7e]],
  punct: [[0x21, 0x2f], [0x3a, 0x40], [0x5b, 0x60], [0x7b, 0x7e]],
  space: [[0x09, 0x0d], [0x20, 0x20]],
  upper: [[0x41, 0x5a]],
  word: [[0x30, 0x39], [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]],
  xdigit: [[0x30, 0x39], [0x41, 0x46], [0x61, 0x66]],
};

/**
 * Characters of a Unicode class or its complement: exact for ASCII, all characters beyond it. More
 * characters only make a pattern more ambiguous, so no dangerous pattern is missed.
 */
export function propertySet(name: string, negated: boolean): CharSet {
  const matcher = propertyMatcher(name);
  const members: [number, number][] = copied(NOT_ASCII);
  for (let code = 0; code < 0x80; code++) {
    if (!matcher || matcher.test(String.fromCharCode(code)) !== negated) members.push([code, code]);
  }
  return union(members);
}

function propertyMatcher(name: string): RegExp | undefined {
  for (const property of [name, `Script=${name}`]) {
    try {
      return new RegExp(`\\p{${property}}`, "u");
    } catch {
      // Not a property of this kind.
    }
  }
  return undefined;
}

/** Largest code point of wide ranges whose case variants are added; covers Latin and Greek. */
const CASE_MAX = 0x3ff;

/** Adds the case variants of letters to the ranges; beyond Greek only those of narrow ranges. */
export function withOtherCase(ranges: CharSet): [number, number][] {
  const all = copied(ranges);
  for (const [low, high] of ranges) {
    const end = high - low < CASE_MAX ? high : Math.min(high, CASE_MAX);
    for (let code = low; code <= end; code++) {
      const char = String.fromCodePoint(code);
      for (const other of [char.toLowerCase(), char.toUpperCase()]) {
        const folded = other.codePointAt(0)!;
        if (folded !== code) all.push([folded, folded]);
      }
    }
  }
  return all;
}

export const copied = (ranges: CharSet): [number, number][] =>
  ranges.map(([low, high]): [number, number] => [low, high]);

export function union(ranges: CharSet): CharSet {
  const joined: [number, number][] = [];
  for (const [low, high] of copied(ranges).sort((a, b) => a[0] - b[0])) {
    const last = joined.at(-1);
    if (last && low <= last[1] + 1) last[1] = Math.max(last[1], high);
    else joined.push([low, high]);
  }
  return joined;
}

export function complement(ranges: CharSet): CharSet {
  const rest: [number, number][] = [];
  let next = 0;
  for (const [low, high] of union(ranges)) {
    if (low > next) rest.push([next, low - 1]);
    next = high + 1;
  }
  if (next <= CODE_POINT_MAX) rest.push([next, CODE_POINT_MAX]);
  return rest;
}
