/**
 * Finds regular expressions whose time may grow faster than their text: by repeats that overlap, by
 * repeats in each other, and by a repeat at any place of the text before something that may be missing.
 *
 * The check is a conservative one of the automaton of an expression (Glushkov). Each character that
 * an expression names is a position; two positions that can read the same text in a cycle, and reach
 * each other with it, make the time quadratic.
 *
 * @module
 */

/** A position: the characters that it reads, one bit each; the last bit is all beyond ASCII. */
type Characters = bigint;

interface Automaton {
  first: number[];
  last: number[];
  isEmpty: boolean;
}

const OTHER = 128;
const ALL: Characters = (1n << BigInt(OTHER + 1)) - 1n;
const NEWLINES = bits("\n\r");
const SETS: Readonly<Record<string, Characters>> = {
  d: range("0", "9"),
  w: range("0", "9") | range("a", "z") | range("A", "Z") | bits("_"),
  s: bits(" \t\n\r\f\v"),
};
/** Letters, digits and marks of any script. */
const WORDS = SETS.w! & ~bits("_") | bit(OTHER);
const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  r: "\r",
  t: "\t",
  f: "\f",
  v: "\v",
  0: "\0",
};

/** A repeat of more than this counts as one without a limit. */
const REPEAT_MAX = 40;

function bit(code: number): Characters {
  return 1n << BigInt(Math.min(code, OTHER));
}

function bits(text: string): Characters {
  return [...text].reduce((all, character) => all | bit(character.codePointAt(0)!), 0n);
}

function range(first: string, last: string): Characters {
  let all = 0n;
  const end = Math.min(last.codePointAt(0)!, OTHER);
  for (let code = Math.min(first.codePointAt(0)!, OTHER); code <= end; code++) all |= bit(code);
  return all;
}

/** Whether the time of an expression may grow faster than its text. Throws for unknown syntax. */
export function isSuperlinear(source: string, flags: string): boolean {
  const reader = new Reader(source, flags, true);
  return reader.read() ||
    (!isAnchored(source, flags) && new Reader(source, flags, false).read()) ||
    reader.looked.some((inner) => isSuperlinear(`^(?:${inner})`, flags));
}

/** Whether the expression is tried at one place only. */
const isAnchored = (source: string, flags: string) =>
  flags.includes("y") || (!flags.includes("m") && isAnchoredAtStart(source));

/** Builds the automaton. A class because it protects the position in the text. */
class Reader {
  /** Sources of lookaheads and lookbehinds, which are checked alone. */
  readonly looked: string[] = [];
  readonly #characters: Characters[] = [];
  /** Number of ways from a position to the next. */
  readonly #ways: Map<number, number>[] = [];
  #at = 0;

  /** @param atStart Whether it is tried at the start of the text, or at any later place. */
  constructor(readonly source: string, readonly flags: string, readonly atStart: boolean) {}

  read(): boolean {
    const whole = this.#alternatives();
    if (this.#at < this.source.length) throw new Error(`unknown syntax at ${this.#at}`);
    if (!this.atStart) {
      const start = this.#position(ALL);
      this.#connect([start], [start, ...whole.first]);
    }
    return this.#isSuperlinear(new Set(whole.last));
  }

  #position(characters: Characters): number {
    this.#ways.push(new Map());
    return this.#characters.push(characters) - 1;
  }

  #connect(from: readonly number[], to: readonly number[]): void {
    for (const each of from) {
      for (const next of to) {
        this.#ways[each]!.set(next, (this.#ways[each]!.get(next) ?? 0) + 1);
      }
    }
  }

  #alternatives(): Automaton {
    const parts = [this.#sequence()];
    while (this.source[this.#at] === "|") {
      this.#at++;
      parts.push(this.#sequence());
    }
    return {
      first: parts.flatMap(({ first }) => first),
      last: parts.flatMap(({ last }) => last),
      isEmpty: parts.some(({ isEmpty }) => isEmpty),
    };
  }

  #sequence(): Automaton {
    let whole: Automaton = { first: [], last: [], isEmpty: true };
    while (this.#at < this.source.length && !"|)".includes(this.source[this.#at]!)) {
      whole = this.#join(whole, this.#repeated());
    }
    return whole;
  }

  #join(one: Automaton, next: Automaton): Automaton {
    this.#connect(one.last, next.first);
    return {
      first: one.isEmpty ? [...one.first, ...next.first] : one.first,
      last: next.isEmpty ? [...one.last, ...next.last] : next.last,
      isEmpty: one.isEmpty && next.isEmpty,
    };
  }

  #repeated(): Automaton {
    const start = this.#at;
    let atom = this.#atom();
    const [quantifier = "", low, comma, high] =
      /^(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})/.exec(this.source.slice(this.#at)) ?? [];
    if (quantifier === "") return atom;
    const end = this.#at + quantifier.length;
    const min = quantifier === "*" || quantifier === "?" ? 0 : Number(low ?? 1);
    const max = quantifier === "?"
      ? 1
      : low === undefined || (comma && high === "")
      ? Infinity
      : Number(high || low);
    const again = (): Automaton => {
      this.#at = start;
      return this.#atom();
    };
    const whole: Automaton = { first: atom.first, last: [], isEmpty: min === 0 || atom.isEmpty };
    const isLoop = max > REPEAT_MAX;
    const copies = isLoop ? 1 : max;
    let before: number[] = [];
    for (let copy = 0; copy < copies; copy++) {
      if (copy > 0) atom = again();
      if (isLoop) this.#connect(atom.last, atom.first);
      this.#connect(before, atom.first);
      if (copy > 0 && atom.isEmpty) whole.first.push(...atom.first);
      before = atom.isEmpty ? [...before, ...atom.last] : atom.last;
      if (isLoop || copy + 1 >= min || atom.isEmpty) whole.last.push(...atom.last);
    }
    this.#at = end;
    if (this.source[this.#at] === "?") this.#at++;
    return whole;
  }

  #atom(): Automaton {
    const rest = this.source.slice(this.#at);
    const look = /^\(\?<?[=!]/.exec(rest)?.[0];
    if (look !== undefined) {
      const end = closing(this.source, this.#at);
      this.looked.push(this.source.slice(this.#at + look.length, end));
      this.#at = end + 1;
      return { first: [], last: [], isEmpty: true };
    }
    const open = /^\((?:\?:|\?<\w+>)?/.exec(rest)?.[0];
    if (open !== undefined) {
      this.#at += open.length;
      const inner = this.#alternatives();
      if (this.source[this.#at++] !== ")") throw new Error("open group");
      return inner;
    }
    if (rest[0] === "^") {
      this.#at++;
      if (this.atStart) return { first: [], last: [], isEmpty: true };
      return this.#single(this.flags.includes("m") ? NEWLINES : 0n);
    }
    if (rest[0] === "$") {
      this.#at++;
      // Reads nothing, but has to be there.
      return this.#single(0n);
    }
    if (/^\\b/i.test(rest)) {
      this.#at += 2;
      return this.#single(0n, true);
    }
    return this.#single(this.#set());
  }

  #single(characters: Characters, isEmpty = false): Automaton {
    const position = this.#position(characters);
    return { first: [position], last: [position], isEmpty };
  }

  #set(): Characters {
    const character = this.#next();
    if (character === ".") return this.flags.includes("s") ? ALL : ALL & ~bits("\n\r");
    if (character === "\\") return this.#escape();
    if (character !== "[") return this.#folded(bits(character));
    const isInverse = this.source[this.#at] === "^";
    if (isInverse) this.#at++;
    let all = 0n;
    while (this.source[this.#at] !== "]") {
      const from = this.#at;
      const first = this.#next();
      const single = first === "\\" ? this.#escape() : bits(first);
      const written = this.source.slice(from, this.#at);
      if (this.source[this.#at] === "-" && this.source[this.#at + 1] !== "]") {
        this.#at++;
        const to = this.#at;
        if (this.#next() === "\\") this.#escape();
        all |= range(literal(written), literal(this.source.slice(to, this.#at)));
      } else all |= single;
    }
    this.#at++;
    const set = this.#folded(all);
    return isInverse ? ALL & ~(set & ~bit(OTHER)) : set;
  }

  #next(): string {
    const character = String.fromCodePoint(this.source.codePointAt(this.#at)!);
    this.#at += character.length;
    return character;
  }

  #escape(): Characters {
    const from = this.#at;
    const letter = this.#next();
    const set = SETS[letter.toLowerCase()];
    if (set !== undefined) return letter === letter.toLowerCase() ? set : ALL & ~set | bit(OTHER);
    if (letter === "p" || letter === "P") {
      const end = this.source.indexOf("}", this.#at) + 1;
      const property = this.source.slice(this.#at, end);
      this.#at = end;
      return letter === "p" && /^\{[LNM]\w?\}$/.test(property) ? WORDS : ALL;
    }
    const code = /^(?:x[\da-f]{2}|u[\da-f]{4}|u\{[\da-f]+\}|c[a-z])/i.exec(this.source.slice(from));
    if (code) this.#at = from + code[0].length;
    else if (/[1-9k]/.test(letter)) throw new Error("a reference");
    return this.#folded(bits(literal(this.source.slice(from - 1, this.#at))));
  }

  #folded(characters: Characters): Characters {
    if (!this.flags.includes("i")) return characters;
    let all = characters;
    for (let code = 65; code <= 90; code++) {
      if (characters & (bit(code) | bit(code + 32))) all |= bit(code) | bit(code + 32);
    }
    return all;
  }

  #isSuperlinear(ends: ReadonlySet<number>): boolean {
    const positions = this.#characters.map((_, position) => position);
    const reach = positions.map((position) => this.#reachable(position));
    const isCyclic = (position: number) => reach[position]!.has(position);
    const together = (one: number, other: number) =>
      reach[one]!.has(other) && reach[other]!.has(one);
    for (const one of positions.filter(isCyclic)) {
      // Two ways around with the same text, as in `(a+)+`.
      for (const [next, ways] of this.#ways[one]!) {
        if (ways > 1 && together(one, next) && this.#characters[next] !== 0n) return true;
      }
      for (const other of reach[one]!) {
        if (other === one || !isCyclic(other) || ends.has(other)) continue;
        if (this.#isAmbiguous(one, other)) return true;
      }
    }
    return false;
  }

  #reachable(from: number): Set<number> {
    const found = new Set<number>();
    const open = [from];
    for (let each; (each = open.pop()) !== undefined;) {
      for (const next of this.#ways[each]!.keys()) {
        if (found.has(next) || this.#characters[next] === 0n) continue;
        found.add(next);
        open.push(next);
      }
    }
    return found;
  }

  /** Whether a text leads from `one` to itself and to `other`, and from `other` to itself. */
  #isAmbiguous(one: number, other: number): boolean {
    const size = this.#characters.length;
    const seen = new Set<number>();
    const open: [number, number, number][] = [[one, one, other]];
    for (let each; (each = open.pop());) {
      const [a, b, c] = each;
      for (const nextA of this.#ways[a]!.keys()) {
        for (const nextB of this.#ways[b]!.keys()) {
          const both = this.#characters[nextA]! & this.#characters[nextB]!;
          if (both === 0n) continue;
          for (const nextC of this.#ways[c]!.keys()) {
            if ((both & this.#characters[nextC]!) === 0n) continue;
            if (nextA === one && nextB === other && nextC === other) return true;
            const key = (nextA * size + nextB) * size + nextC;
            if (seen.has(key)) continue;
            seen.add(key);
            open.push([nextA, nextB, nextC]);
          }
        }
      }
    }
    return false;
  }
}

/** The character of a literal or an escape. */
function literal(written: string): string {
  const escaped = /^\\(.+)$/s.exec(written)?.[1];
  if (escaped === undefined) return written;
  const code = /^(?:x|u\{?)([\da-f]+)/i.exec(escaped)?.[1];
  if (code !== undefined) return String.fromCodePoint(parseInt(code, 16));
  return ESCAPES[escaped] ?? escaped;
}

/** Whether every alternative begins with `^`. */
const isAnchoredAtStart = (source: string) =>
  source.startsWith("^") && splitTop(source).every((each) => each.startsWith("^"));

function splitTop(source: string): string[] {
  const parts = [""];
  for (let at = 0; at < source.length; at++) {
    const end = "([".includes(source[at]!) ? closing(source, at) : at;
    if (source[at] === "|") parts.push("");
    else {
      const next = source[at] === "\\" ? at + 1 : end;
      parts[parts.length - 1] += source.slice(at, next + 1);
      at = next;
    }
  }
  return parts;
}

/** End of the group or class that begins at `start`. */
function closing(source: string, start: number): number {
  const isClass = source[start] === "[";
  for (let at = start + 1; at < source.length; at++) {
    if (source[at] === "\\") at++;
    else if (source[at] === (isClass ? "]" : ")")) return at;
    else if (!isClass && "([".includes(source[at]!)) at = closing(source, at);
  }
  throw new Error("open group or class");
}

/** Finds the literals of regular expressions in a source of TypeScript. */
export function findExpressions(text: string): { source: string; flags: string }[] {
  const found: { source: string; flags: string }[] = [];
  const token =
    /\/\/[^\n]*|\/\*[^]*?\*\/|"(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*'|[A-Za-z_$][\w$]*|\d[\w.]*|[^\s]/y;
  /** Depths of braces at which a template goes on. */
  const templates: number[] = [];
  let depth = 0;
  let before = "";
  for (let at = 0; at < text.length;) {
    const blank = /\s*/y;
    blank.lastIndex = at;
    at += blank.exec(text)![0].length;
    if (at >= text.length) break;
    if (text[at] === "`" || (text[at] === "}" && templates.at(-1) === depth)) {
      if (text[at] === "}") templates.pop();
      const end = /(?:[^`\\$]|\\[^]|\$(?!\{))*(`|\$\{)/y;
      end.lastIndex = at + 1;
      const part = end.exec(text)!;
      if (part[1] === "${") templates.push(depth);
      at += part[0].length + 1;
      before = part[1] === "`" ? "x" : "(";
      continue;
    }
    const expression = /\/(?![*/])((?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([a-z]*)/y;
    expression.lastIndex = at;
    const literal = /^(?:[(,=:[!&|?{};+\-*%<>~]|return|of|in|case|typeof)?$/.test(before)
      ? expression.exec(text)
      : null;
    if (literal) {
      found.push({ source: literal[1]!, flags: literal[2]! });
      at += literal[0].length;
      before = "x";
      continue;
    }
    token.lastIndex = at;
    const [word] = token.exec(text)!;
    if (word === "{") depth++;
    if (word === "}") depth--;
    if (!word.startsWith("//") && !word.startsWith("/*")) before = word;
    at += word.length;
  }
  return found;
}
