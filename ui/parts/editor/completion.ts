/**
 * Completes the keys of Compose files. It reads lines and their indentation only, because a file is
 * no valid YAML while it is written.
 *
 * @module
 */

import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import type { ComposeKeys } from "../../api/types.ts";

/** A line with a key: what is before it, dashes of lists included, and the key. */
const KEY = /^([ ]*(?:- +)*)(["']?)([\w.-]+)\2:(?: |$)/;

/** Completes the key, or the value after it, before the cursor. */
export function completeKeys(
  { state, pos, explicit }: CompletionContext,
  known: ComposeKeys | undefined,
): CompletionResult | null {
  if (!known) return null;
  const line = state.doc.lineAt(pos);
  const before = line.text.slice(0, pos - line.from);
  const [, lead, key, word] = /^([ ]*(?:- +)*)(?:([\w.-]+): +)?([\w-]*)$/.exec(before) ?? [];
  if (lead === undefined || word === undefined) return null;
  const above = function* () {
    for (let at = line.number - 1; at >= 1; at--) yield state.doc.line(at).text;
  };
  const path = findPath(above(), lead.length);
  const from = pos - word.length;
  if (key !== undefined) {
    const values = known.values[knownPath([...path, key], known)];
    return values ? { from, options: values.map((label) => ({ label })), validFor: WORD } : null;
  }
  if (word === "" && !explicit) return null;
  const parent = knownPath(path, known);
  const keys = known.keys[parent];
  if (!keys) return null;
  const options = keys.map((label) => toOption(label, parent, known, lead.length));
  return { from, options, validFor: WORD };
}

const WORD = /^[\w-]*$/;

/** A key with what follows it: a space, or a new line where only a map can follow. */
function toOption(
  label: string,
  parent: string,
  known: ComposeKeys,
  indent: number,
): Completion {
  const path = parent === "" ? label : `${parent}.${label}`;
  const isMap = known.keys[path] !== undefined || known.keys[`${path}.*`] !== undefined;
  return { label, apply: isMap ? `${label}:\n${" ".repeat(indent + 2)}` : `${label}: ` };
}

/**
 * The keys that a position is in, e.g. `services`, `web`.
 *
 * @param above The lines above it, the nearest first.
 * @param column Where its own key begins, from 0.
 */
export function findPath(above: Iterable<string>, column: number): string[] {
  const path: string[] = [];
  let left = column;
  for (const line of above) {
    if (left === 0) break;
    const [, lead, , key] = KEY.exec(line) ?? [];
    if (key === undefined || lead!.length >= left) continue;
    path.unshift(key);
    left = lead!.length;
  }
  return path;
}

/** The path in the list of keys, where `*` stands for names. */
function knownPath(path: readonly string[], { keys }: ComposeKeys): string {
  return path.reduce((parent, key) => {
    const step = keys[parent]?.includes(key) ? key : "*";
    return parent === "" ? step : `${parent}.${step}`;
  }, "");
}
