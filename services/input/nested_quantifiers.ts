/** Finds repeated parts of a pattern that can match the same text in many ways. @module */

/** Repetitions from this count on are treated like endless ones. */
const MANY = 10;

/** Parts of a pattern in RE2's syntax. Escapes, quoted texts and classes are one part each. */
const PARTS =
  /\\Q[^]*?(?:\\E|$)|\\[pPx]\{[^}]*\}|\\[^]|\[\^?\]?(?:\[:\^?\w+:\]|\\[^]|[^\]\\])*\]|\((?:\?(?:P?<\w+>|[\w-]*:?))?|\{\d+(?:,\d*)?\}|[^]/gu;

/** A character that separates the repetitions of a group which begins or ends with it. */
const SEPARATOR = /^(?:\\[^dDwWpPSbBAzQE]|[^\\.[(){}|*+?^$])$/;

interface Group {
  /** The parts of each alternative. */
  alternatives: string[][];
  /** Whether something in it is repeated without end. */
  hasLoop: boolean;
}

/**
 * Whether a pattern repeats what is repeated already, or alternatives that are the same, as in
 * `(a+)+`, `(.*a){12}` and `(a|aa)*`. An engine that backtracks needs exponential or polynomial time
 * for such patterns.
 */
export function hasNestedQuantifiers(pattern: string): boolean {
  const parts = pattern.match(PARTS) ?? [];
  const groups: Group[] = [newGroup()];
  for (const [index, part] of parts.entries()) {
    const group = groups.at(-1)!;
    if (part.startsWith("(")) groups.push(newGroup());
    else if (part === "|") group.alternatives.push([]);
    else if (part === ")" && groups.length > 1) {
      groups.pop();
      const isLoop = isEndless(parts[index + 1]);
      if (isLoop && isAmbiguous(group)) return true;
      const outer = groups.at(-1)!;
      outer.hasLoop ||= isLoop || group.hasLoop;
      outer.alternatives.at(-1)!.push(
        `(${group.alternatives.map((each) => each.join("")).join("|")})`,
      );
    } else {
      group.hasLoop ||= isEndless(part);
      group.alternatives.at(-1)!.push(part);
    }
  }
  return false;
}

const newGroup = (): Group => ({ alternatives: [[]], hasLoop: false });

function isEndless(quantifier: string | undefined): boolean {
  if (quantifier === "*" || quantifier === "+") return true;
  const count = /^\{(\d+)(,(\d*))?\}$/.exec(quantifier ?? "");
  return count !== null && (count[3] === "" || Number(count[3] ?? count[1]) >= MANY);
}

function isAmbiguous({ alternatives, hasLoop }: Group): boolean {
  if (hasLoop) return alternatives.length > 1 || !isSeparated(alternatives[0]!);
  const texts = alternatives.map((parts) => parts.join("").replace(/[?*+]{1,2}$/, ""));
  return texts.some((text, index) =>
    texts.some((other, at) => at !== index && other.replaceAll(text, "") === "")
  );
}

/** Whether the content begins or ends with a character that its loops do not match. */
function isSeparated(parts: readonly string[]): boolean {
  const hasAnything = parts.some((part, index) => part === "." && isEndless(parts[index + 1]));
  const begins = SEPARATOR.test(parts[0]!) && !/^[*+?{]/.test(parts[1] ?? "");
  return !hasAnything && (begins || SEPARATOR.test(parts.at(-1)!));
}
