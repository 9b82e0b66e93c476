/**
 * Detects patterns with catastrophic backtracking (ReDoS). A backtracking engine, such as
 * JavaScript's, tries all ways to match a text before it gives up. The number of ways is
 *
 * - exponential, if some text leads from a state back to itself in two ways, as in `(a+)+`;
 * - polynomial, if some text leads from one loop to itself, on to the next loop, and from that to
 *   itself, as in `a*a*a*a*b`;
 * - large without any loop, as in `(a?){30}`.
 *
 * Weber and Seidl, "On the degree of ambiguity of finite automata" (1991), prove that loops have no
 * other causes of ambiguity.
 *
 * @module
 */

import {
  type Automaton,
  buildAutomaton,
  capped,
  type Component,
  components,
  size,
} from "./automaton.ts";
import type { Node } from "./syntax.ts";

export type Verdict = "harmless" | "exponential" | "polynomial" | "too large";

/** Limit of states of an automaton. */
const STATES_MAX = 160;

/** Limit of steps of the analysis; a pattern that needs more is refused. */
const STEPS_MAX = 400_000;

/** Line length, in characters, for which the backtracking steps are estimated. */
const LINE_LENGTH = 1_000;

/** Limit of backtracking steps for such a line (tens of seconds). */
const BACKTRACKING_MAX = 1e10;

/** Limit of ways through the part of a pattern without loops. */
const WAYS_MAX = 1e5;

/** Estimates how long a backtracking engine could take for a pattern. */
export function judgeAmbiguity(pattern: Node): Verdict {
  if (size(pattern) > STATES_MAX) return "too large";
  const automaton = buildAutomaton(pattern);
  const budget = { steps: STEPS_MAX };
  const loops = components(automaton);

  try {
    if (loops.some((loop) => isExponential(automaton, loop, budget))) return "exponential";
    const ways = waysWithoutLoops(automaton, loops);
    if (ways > WAYS_MAX) return "exponential";
    const steps = ways * stepsInLoops(automaton, loops, budget);
    return steps > BACKTRACKING_MAX ? "polynomial" : "harmless";
  } catch (error) {
    if (error instanceof BudgetError) return "too large";
    throw error;
  }
}

class BudgetError extends Error {}

interface Budget {
  steps: number;
}

function spend(budget: Budget): void {
  if (budget.steps-- <= 0) throw new BudgetError();
}

/**
 * Whether some text leads from a state of the loop back to itself in two ways: two paths through
 * the loop with the same text that separate and meet again.
 */
function isExponential(
  { labels, follow }: Automaton,
  { states, isLoop }: Component,
  budget: Budget,
): boolean {
  if (!isLoop) return false;
  const inside = new Set(states);
  const steps = new Map(
    states.map((state) => [state, [...follow[state]!].filter(([next]) => inside.has(next))]),
  );
  if ([...steps.values()].flat().some(([, ways]) => ways > 1)) return true;

  const key = (a: number, b: number) => a < b ? a * labels.length + b : b * labels.length + a;
  const before = new Map<number, number[]>();
  const reached = new Set<number>();
  const queue: [number, number][] = states.map((state) => [state, state]);
  for (const [a, b] of queue) {
    for (const [nextA] of steps.get(a)!) {
      for (const [nextB] of steps.get(b)!) {
        spend(budget);
        if ((labels[nextA]! & labels[nextB]!) === 0n) continue;
        const pair = key(nextA, nextB);
        const origins = before.get(pair);
        if (origins) origins.push(key(a, b));
        else before.set(pair, [key(a, b)]);
        if (nextA === nextB || reached.has(pair)) continue;
        reached.add(pair);
        queue.push([nextA, nextB]);
      }
    }
  }

  // The paths are separate in `reached`; check whether any of them meet again.
  const together = states.map((state) => key(state, state));
  return together.some((pair) => before.get(pair)?.some((previous) => reached.has(previous)));
}

/**
 * Upper bound of the ways that a text can take through the automaton, each loop counted once: at
 * each state, the class of characters with the most ways onward.
 */
function waysWithoutLoops({ labels, follow, start, end }: Automaton, parts: Component[]): number {
  const waysFrom: number[] = [];
  const onward = (next: Iterable<[number, number]>): number => {
    const byClass = new Map<number, number>();
    for (const [state, ways] of next) {
      const more = ways * waysFrom[state]!;
      for (let rest = labels[state]!, bit = 0; rest > 0n; rest >>= 1n, bit++) {
        if (rest & 1n) byClass.set(bit, capped((byClass.get(bit) ?? 0) + more));
      }
    }
    return Math.max(1, ...byClass.values());
  };

  for (const { states } of parts) {
    const inside = new Set(states);
    const ways = states.map((state) =>
      Math.max(
        onward([...follow[state]!].filter(([next]) => !inside.has(next))),
        end.get(state) ?? 0,
      )
    );
    for (const state of states) waysFrom[state] = Math.max(...ways);
  }
  return onward(start);
}

/**
 * Steps of a backtracking engine on a line of `LINE_LENGTH`: with d loops that can match the same
 * text, each way to split the text into d pieces is tried.
 */
function stepsInLoops(automaton: Automaton, parts: Component[], budget: Budget): number {
  const loops = parts.filter(({ isLoop }) => isLoop);
  const reachable = reachability(automaton);
  /** For each loop, the factor of the chains that begin there, by their number of loops. */
  const chains = new Map<Component, number[]>();
  let most = LINE_LENGTH;

  loops.forEach((loop, index) => {
    const best = [LINE_LENGTH];
    // The loops that a loop leads to come before it.
    for (const next of loops.slice(0, index)) {
      if (!reachable[loop.states[0]!]!.has(next.states[0]!)) continue;
      const shared = sharedTextLength(automaton, loop, next, reachable, budget);
      chains.get(next)!.forEach((factor, loopsBefore) => {
        best[loopsBefore] = Math.max(best[loopsBefore] ?? 0, factor);
        if (shared === undefined) return;
        const longer = factor * Math.max(1, LINE_LENGTH / shared);
        best[loopsBefore + 1] = Math.max(best[loopsBefore + 1] ?? 0, longer);
      });
    }
    chains.set(loop, best);
    let orders = 1;
    best.forEach((factor, loopsBefore) => {
      orders *= loopsBefore + 1;
      most = Math.max(most, factor / orders);
    });
  });
  return most;
}

function reachability({ follow }: Automaton): Set<number>[] {
  return follow.map((_, from) => {
    const reached = new Set<number>();
    const queue = [from];
    for (const state of queue) {
      for (const next of follow[state]!.keys()) {
        if (reached.has(next)) continue;
        reached.add(next);
        queue.push(next);
      }
    }
    return reached;
  });
}

/**
 * Length of the shortest text that leads from a state of the first loop to itself, from there to a
 * state of the second loop, and from that to itself; undefined when there is none.
 */
function sharedTextLength(
  { labels, follow }: Automaton,
  first: Component,
  second: Component,
  reachable: Set<number>[],
  budget: Budget,
): number | undefined {
  const inFirst = new Set(first.states);
  const inSecond = new Set(second.states);
  const count = labels.length;
  const key = (a: number, b: number, c: number) => (a * count + b) * count + c;
  let shortest: number | undefined;

  for (const from of first.states) {
    for (const to of second.states) {
      const goal = key(from, to, to);
      const depths = new Map([[key(from, from, to), 0]]);
      const queue: [number, number, number][] = [[from, from, to]];
      search: for (const [a, b, c] of queue) {
        const depth = depths.get(key(a, b, c))! + 1;
        if (shortest !== undefined && depth >= shortest) break;
        for (const nextA of follow[a]!.keys()) {
          if (!inFirst.has(nextA)) continue;
          for (const nextC of follow[c]!.keys()) {
            if (!inSecond.has(nextC)) continue;
            const both = labels[nextA]! & labels[nextC]!;
            spend(budget);
            if (both === 0n) continue;
            for (const nextB of follow[b]!.keys()) {
              spend(budget);
              if ((both & labels[nextB]!) === 0n) continue;
              if (nextB !== to && !reachable[nextB]!.has(to)) continue;
              const state = key(nextA, nextB, nextC);
              if (state === goal) {
                shortest = depth;
                break search;
              }
              if (depths.has(state)) continue;
              depths.set(state, depth);
              queue.push([nextA, nextB, nextC]);
            }
          }
        }
      }
    }
  }
  return shortest;
}
