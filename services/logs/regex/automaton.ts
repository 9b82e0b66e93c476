/**
 * The automaton of a pattern (Glushkov's construction): one state for each character or class of the
 * pattern, no empty transitions, and for each transition the number of ways to take it.
 *
 * @module
 */

import type { CharSet } from "./char_set.ts";
import type { Node } from "./syntax.ts";

/** Upper bound of counts; larger ones make no difference. */
const COUNT_MAX = 1e9;

/** The number of ways to each state. */
type Ways = Map<number, number>;

/** A part of the pattern: the states that it can begin and end with. */
interface Fragment {
  first: Ways;
  last: Ways;
  /** Ways to match the empty text. */
  empty: number;
}

export interface Automaton {
  /** The characters of each state: a bit for each class that the pattern distinguishes. */
  labels: bigint[];
  follow: Ways[];
  start: Ways;
  /** Ways to end the match after a state. */
  end: Ways;
}

/** Number of states of the pattern with counted repetitions expanded. */
export function size(node: Node): number {
  switch (node.kind) {
    case "empty":
      return 0;
    case "set":
      return 1;
    case "concat":
      return node.parts.reduce((sum, part) => sum + size(part), 0);
    case "either":
      return node.options.reduce((sum, option) => sum + size(option), 0);
    case "repeat":
      // An empty body is expanded as well and must not count as zero.
      return Math.max(size(node.body), node.max === Infinity ? 0 : 0.1) * copies(node);
  }
}

const copies = ({ min, max }: { min: number; max: number }) =>
  max === Infinity ? Math.max(min, 1) : max;

/** Glushkov's construction; counted repetitions are expanded. */
export function buildAutomaton(pattern: Node): Automaton {
  const classes = characterClasses(pattern);
  const labels: bigint[] = [];
  const follow: Ways[] = [];
  const emptyText: Fragment = { first: new Map(), last: new Map(), empty: 1 };

  const connect = (from: Ways, to: Ways) => {
    for (const [state, ways] of from) {
      for (const [next, more] of to) add(follow[state]!, next, ways * more);
    }
  };

  const sequence = (a: Fragment, b: Fragment): Fragment => {
    connect(a.last, b.first);
    const first = new Map(a.first);
    for (const [state, ways] of b.first) add(first, state, ways * a.empty);
    const last = new Map(b.last);
    for (const [state, ways] of a.last) add(last, state, ways * b.empty);
    return { first, last, empty: capped(a.empty * b.empty) };
  };

  const choice = (a: Fragment, b: Fragment): Fragment => {
    const first = new Map(a.first);
    for (const [state, ways] of b.first) add(first, state, ways);
    const last = new Map(a.last);
    for (const [state, ways] of b.last) add(last, state, ways);
    return { first, last, empty: capped(a.empty + b.empty) };
  };

  const fragment = (node: Node): Fragment => {
    switch (node.kind) {
      case "empty":
        return emptyText;
      case "set": {
        const label = classes(node.set);
        // An empty set matches nothing.
        if (label === 0n) return { first: new Map(), last: new Map(), empty: 0 };
        const state = labels.push(label) - 1;
        follow.push(new Map());
        return { first: new Map([[state, 1]]), last: new Map([[state, 1]]), empty: 0 };
      }
      case "concat":
        return node.parts.reduce((sum, part) => sequence(sum, fragment(part)), emptyText);
      case "either":
        return node.options.map(fragment).reduce(choice);
      case "repeat":
        return repetition(node);
    }
  };

  const repetition = ({ body, min, max }: { body: Node; min: number; max: number }): Fragment => {
    if (max === 0) return emptyText;
    const parts = Array.from({ length: copies({ min, max }) }, () => fragment(body));
    if (max === Infinity) {
      const loop = parts.at(-1)!;
      connect(loop.last, loop.first);
      if (min === 0) parts[0] = choice(loop, emptyText);
      return parts.reduceRight((rest, part) => sequence(part, rest));
    }
    // From the end: an optional copy is left out together with all copies after it.
    let rest = emptyText;
    for (let index = parts.length - 1; index >= 0; index--) {
      rest = sequence(parts[index]!, rest);
      if (index >= min) rest = choice(rest, emptyText);
    }
    return rest;
  };

  const whole = fragment(pattern);
  return { labels, follow, start: whole.first, end: whole.last };
}

function add(ways: Ways, state: number, more: number): void {
  if (more > 0) ways.set(state, capped((ways.get(state) ?? 0) + more));
}

export const capped = (count: number) => Math.min(count, COUNT_MAX);

/** Splits all characters into the classes that the pattern's sets distinguish; a bit for each. */
function characterClasses(pattern: Node): (set: CharSet) => bigint {
  const sets: CharSet[] = [];
  const collect = (node: Node): void => {
    if (node.kind === "set") sets.push(node.set);
    else if (node.kind === "concat") node.parts.forEach(collect);
    else if (node.kind === "either") node.options.forEach(collect);
    else if (node.kind === "repeat") collect(node.body);
  };
  collect(pattern);

  const contains = (set: CharSet, code: number) =>
    set.some(([low, high]) => low <= code && code <= high);
  const borders = new Set(sets.flatMap((set) => set.flatMap(([low, high]) => [low, high + 1])));
  const representatives = new Map<string, number>();
  for (const code of borders) {
    const members = sets.map((set) => contains(set, code) ? "1" : "0").join("");
    if (members.includes("1")) representatives.set(members, code);
  }
  const codes = [...representatives.values()];
  const known = new Map<CharSet, bigint>();
  return (set) => {
    const seen = known.get(set);
    if (seen !== undefined) return seen;
    const bits = codes.reduce(
      (bits, code, index) => contains(set, code) ? bits | (1n << BigInt(index)) : bits,
      0n,
    );
    known.set(set, bits);
    return bits;
  };
}

/** States that can reach each other. */
export interface Component {
  states: number[];
  /** Whether some text leads from a state back to itself. */
  isLoop: boolean;
}

/** Strongly connected components (Tarjan), each after those that it leads to. */
export function components({ follow }: Automaton): Component[] {
  const found: Component[] = [];
  const index: number[] = [];
  const low: number[] = [];
  const stack: number[] = [];
  const onStack = new Set<number>();
  let visited = 0;

  const visit = (state: number): void => {
    index[state] = low[state] = visited++;
    stack.push(state);
    onStack.add(state);
    for (const next of follow[state]!.keys()) {
      if (index[next] === undefined) visit(next);
      if (onStack.has(next)) low[state] = Math.min(low[state]!, low[next]!);
    }
    if (low[state] !== index[state]) return;
    const states = stack.splice(stack.indexOf(state));
    for (const member of states) onStack.delete(member);
    found.push({ states, isLoop: states.length > 1 || follow[state]!.has(state) });
  };
  follow.forEach((_, state) => index[state] === undefined && visit(state));
  return found;
}
