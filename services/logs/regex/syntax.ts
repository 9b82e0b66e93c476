/**
 * Parses regular expressions of RE2's syntax into a tree for `ambiguity.ts`, which keeps only
 * characters, order and repetitions. Anchors and word boundaries become the empty text, so the tree
 * matches at least what the pattern matches.
 *
 * @module
 */

import {
  type CharSet,
  CODE_POINT_MAX,
  complement,
  copied,
  EVERYTHING,
  NAMED_CLASSES,
  NOT_ASCII,
  PERL_CLASSES,
  propertySet,
  union,
  withOtherCase,
} from "./char_set.ts";

export type Node =
  | { kind: "empty" }
  | { kind: "set"; set: CharSet }
  | { kind: "concat"; parts: Node[] }
  | { kind: "either"; options: Node[] }
  /** `max` may be `Infinity`. */
  | { kind: "repeat"; body: Node; min: number; max: number };

/** An invalid or unsupported construct; the message is for the user. */
export class PatternError extends Error {
  override readonly name = "PatternError";
}

const EMPTY: Node = { kind: "empty" };

const CONTROL_ESCAPES: Record<string, number> = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 };

/** Flags of the current group. */
interface Flags {
  ignoreCase: boolean;
  dotAll: boolean;
}

/**
 * Parses a pattern.
 *
 * @throws {PatternError} For constructs that the linear-time engine does not support (lookaround,
 * back-references, atomic groups), and for syntax errors.
 */
export function parsePattern(pattern: string, { ignoreCase }: { ignoreCase: boolean }): Node {
  const chars = [...pattern];
  let at = 0;
  let flags: Flags = { ignoreCase, dotAll: false };
  /** Whether the current bracket expression contains a Unicode class. */
  let hasProperty = false;

  const startsWith = (text: string) => chars.slice(at, at + text.length).join("") === text;
  const malformed = (what: string) => new PatternError(`${what} at character ${at + 1}`);
  const literal = (char: string): Node => set([[char.codePointAt(0)!, char.codePointAt(0)!]]);
  const set = (ranges: CharSet): Node => ({
    kind: "set",
    set: union(flags.ignoreCase ? withOtherCase(ranges) : ranges),
  });

  function either(): Node {
    const options = [concat()];
    while (chars[at] === "|") {
      at++;
      options.push(concat());
    }
    return options.length === 1 ? options[0]! : { kind: "either", options };
  }

  function concat(): Node {
    const parts: Node[] = [];
    while (at < chars.length && chars[at] !== "|" && chars[at] !== ")") {
      if (startsWith("\\Q")) parts.push(...quoted());
      else parts.push(repeated(atom()));
    }
    return parts.length === 1 ? parts[0]! : { kind: "concat", parts };
  }

  function repeated(body: Node): Node {
    for (;;) {
      const count = quantifier();
      if (!count) return body;
      if (chars[at] === "?") at++; // lazy: as ambiguous as greedy
      else if (chars[at] === "+") {
        throw new PatternError("Possessive quantifiers are not supported");
      }
      body = { kind: "repeat", body, min: count[0], max: count[1] };
    }
  }

  function quantifier(): [number, number] | undefined {
    const simple = ({ "*": [0, Infinity], "+": [1, Infinity], "?": [0, 1] } as const)[
      chars[at] as "*" | "+" | "?"
    ];
    if (simple) {
      at++;
      return [...simple];
    }
    if (chars[at] !== "{") return undefined;
    // Braces without a count are literals.
    const count = /^\{(\d{1,9})(?:(,)(\d{0,9}))?\}/.exec(chars.slice(at, at + 24).join(""));
    if (!count) return undefined;
    at += count[0].length;
    const min = Number(count[1]);
    const max = count[2] === undefined ? min : count[3] === "" ? Infinity : Number(count[3]);
    if (max < min) throw malformed("Bounds of a repetition in the wrong order");
    return [min, max];
  }

  function quoted(): Node[] {
    at += 2;
    const parts: Node[] = [];
    while (at < chars.length && !startsWith("\\E")) parts.push(literal(chars[at++]!));
    if (at < chars.length) at += 2;
    const last = parts.pop();
    return last ? [...parts, repeated(last)] : parts;
  }

  function atom(): Node {
    const char = chars[at]!;
    switch (char) {
      case "(":
        return group();
      case "[":
        return set(bracket());
      case ".":
        at++;
        return set(flags.dotAll ? EVERYTHING : complement([[10, 10]]));
      case "^":
      case "$":
        at++;
        return EMPTY;
      case "*":
      case "+":
      case "?":
        throw malformed("Nothing to repeat");
      case "\\":
        return escape();
      default:
        at++;
        return literal(char);
    }
  }

  function group(): Node {
    at++;
    const outer = flags;
    if (chars[at] === "?" && groupFlags()) return EMPTY;
    const body = either();
    if (chars[at] !== ")") throw malformed("Missing closing )");
    at++;
    flags = outer;
    return body;
  }

  /** Reads what follows `(?`. @returns Whether the group consists of flags only. */
  function groupFlags(): boolean {
    const head = chars.slice(at, at + 100).join("");
    if (/^\?<?[=!]/.test(head)) {
      throw new PatternError("Lookahead and lookbehind are not supported");
    }
    if (/^\?P?[=>]/.test(head) || head.startsWith("?(") || head.startsWith("?|")) {
      throw new PatternError("Only plain, named and non-capturing groups are supported");
    }
    const name = /^\?P?<\w+>/.exec(head);
    if (name) {
      at += name[0].length;
      return false;
    }
    const letters = /^\?([imsU]*)(?:-([imsU]+))?([:)])/.exec(head);
    if (!letters) {
      throw new PatternError("Only plain, named and non-capturing groups are supported");
    }
    at += letters[0].length;
    const [, on = "", off = "", end] = letters;
    const now = (letter: string, before: boolean) =>
      !off.includes(letter) && (before || on.includes(letter));
    flags = { ignoreCase: now("i", flags.ignoreCase), dotAll: now("s", flags.dotAll) };
    return end === ")";
  }

  /** An escape outside brackets, where it may be an anchor. */
  function escape(): Node {
    const letter = chars[at + 1];
    if (letter !== undefined && "AzbB".includes(letter)) {
      at += 2;
      return EMPTY;
    }
    if (letter !== undefined && /[1-9k]/.test(letter) && !/^[1-7][0-7]/.test(octal())) {
      throw new PatternError("Back-references are not supported");
    }
    return set(escapedSet());
  }

  function bracket(): CharSet {
    at++;
    const negated = chars[at] === "^";
    if (negated) at++;
    hasProperty = false;
    const ranges: [number, number][] = [];
    for (let first = true; first || chars[at] !== "]"; first = false) {
      if (at >= chars.length) throw malformed("Missing closing ]");
      const named = /^\[:(\^?)(\w+):\]/.exec(chars.slice(at, at + 16).join(""));
      if (named) {
        const members = NAMED_CLASSES[named[2]!];
        if (!members) throw malformed(`Unknown class ${named[0]}`);
        at += named[0].length;
        ranges.push(...copied(named[1] ? complement(members) : members));
        continue;
      }
      const low = member();
      const single = low.length === 1 && low[0]![0] === low[0]![1];
      if (single && chars[at] === "-" && chars[at + 1] !== "]" && at + 1 < chars.length) {
        at++;
        const high = member();
        if (high.length !== 1 || high[0]![0] < low[0]![0]) throw malformed("Range out of order");
        ranges.push([low[0]![0], high[0]![1]]);
      } else ranges.push(...copied(low));
    }
    at++;
    // Case variants are added before the complement, because they are excluded as well.
    const members = union(flags.ignoreCase ? withOtherCase(ranges) : ranges);
    if (!negated) return members;
    return hasProperty ? union([...complement(members), ...NOT_ASCII]) : complement(members);
  }

  function member(): CharSet {
    if (chars[at] === "\\") return escapedSet();
    const code = chars[at++]!.codePointAt(0)!;
    return [[code, code]];
  }

  const octal = () => chars.slice(at + 1, at + 4).join("");

  /** An escape for characters, inside or outside brackets. */
  function escapedSet(): CharSet {
    const rest = chars.slice(at + 1, at + 80).join("");
    const take = (length: number) => void (at += 1 + length);
    const one = (code: number): CharSet => {
      if (code > CODE_POINT_MAX) throw malformed("Code point out of range");
      return [[code, code]];
    };

    const perl = PERL_CLASSES[rest.charAt(0).toLowerCase()];
    if (perl && /^[dswDSW]/.test(rest)) {
      take(1);
      return /^[DSW]/.test(rest) ? complement(perl) : perl;
    }
    const property = /^[pP](?:\{(\^?)([\w=]+)\}|([A-Z]))/.exec(rest);
    if (property) {
      take(property[0].length);
      hasProperty = true;
      const negated = rest.startsWith("P") !== (property[1] === "^");
      return propertySet(property[2] ?? property[3]!, negated);
    }
    const hex = /^x(?:\{([0-9A-Fa-f]{1,8})\}|([0-9A-Fa-f]{2}))/.exec(rest);
    if (hex) {
      take(hex[0].length);
      return one(parseInt(hex[1] ?? hex[2]!, 16));
    }
    const digits = /^(?:0[0-7]{0,2}|[1-7][0-7]{1,2})/.exec(rest);
    if (digits) {
      take(digits[0].length);
      return one(parseInt(digits[0], 8));
    }
    const control = CONTROL_ESCAPES[rest.charAt(0)];
    if (control !== undefined) {
      take(1);
      return one(control);
    }
    if (/^[!-\/:-@[-`{-~]/.test(rest)) {
      take(1);
      return one(rest.charCodeAt(0));
    }
    throw malformed(rest === "" ? "Trailing backslash" : "Unknown escape");
  }

  const tree = either();
  if (at < chars.length) throw malformed("Unmatched )");
  return tree;
}
