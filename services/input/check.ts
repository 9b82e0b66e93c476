/** Checks external input against its shape and collects all problems. @module */

import type * as z from "zod";
import { type InputIssue, ISSUES_MAX } from "../errors.ts";
import { inputMessage, NOT_VALID, typeName } from "./messages.ts";
import { nearest } from "./nearest.ts";
import { unknownFields } from "./unknown_fields.ts";

/** Maximum length of a field name in a message; names of unknown fields come from outside. */
const NAME_MAX = 100;

/**
 * Parses `input` with `shape`.
 *
 * @param path Prefix for the paths of the issues, e.g. `"body"`.
 */
export function checkShape<Shape extends z.ZodType>(
  shape: Shape,
  input: unknown,
  path: string,
): { data: z.output<Shape> } | { issues: InputIssue[] } {
  const result = shape.safeParse(input, { error: inputMessage });
  if (result.success) return { data: result.data };
  return { issues: result.error.issues.flatMap((issue) => issuesOf(issue, path)) };
}

/** Rules for fields that the shape does not have. */
export interface FieldRules {
  /** Accepted names at the top level. */
  accepted?: readonly string[];
  /** E.g. `"query parameter"`. */
  what?: string;
  /** Says where a name at the top level belongs. */
  hint?: (name: string) => string | undefined;
}

/** Returns issues for fields that `shape` does not have, at any depth, up to {@linkcode ISSUES_MAX}. */
export function checkFields(
  shape: z.ZodType,
  input: unknown,
  path: string,
  { accepted = [], what = "field", hint }: FieldRules = {},
): InputIssue[] {
  const issues: InputIssue[] = [];
  for (const { path: inner, known } of unknownFields(shape, input)) {
    const name = String(inner.at(-1));
    const isTop = inner.length === 1;
    if (isTop && accepted.includes(name)) continue;
    const message = (isTop ? hint?.(name) : undefined) ?? unknownMessage(name, known, what);
    issues.push({ path: join(path, inner), message });
    if (issues.length >= ISSUES_MAX) break;
  }
  return issues;
}

function unknownMessage(name: string, known: readonly string[], what: string): string {
  if (known.length === 0) return `unknown ${what}; no ${what}s are accepted here`;
  const close = nearest(name, known);
  const list = `nown ${what}s: ${known.join(", ")}`;
  return close === undefined
    ? `unknown ${what}; k${list}`
    : `unknown ${what}; did you mean ${close}? K${list}`;
}

/** Converts an issue of the validator; a union has the issues of its closest option. */
function issuesOf(issue: z.core.$ZodIssue, path: string): InputIssue[] {
  const here = join(path, issue.path);
  const { message } = issue;
  return issue.code === "invalid_union" && message === NOT_VALID
    ? issuesOfUnion(issue.errors, here)
    : [{ path: here, message }];
}

function issuesOfUnion(
  options: readonly (readonly z.core.$ZodIssue[])[],
  path: string,
): InputIssue[] {
  // An option of another type is not what the caller meant.
  const meant = options.filter(([first]) =>
    first?.code !== "invalid_type" || first.path.length > 0
  );
  const [closest] = meant.sort((a, b) => a.length - b.length);
  if (closest) return closest.flatMap((issue) => issuesOf(issue, path));
  const types = options.flatMap(([first]) =>
    first?.code === "invalid_type" ? [first.expected] : []
  );
  const names = [...new Set(types.map(typeName))];
  return [{ path, message: names.length > 0 ? `must be ${names.join(" or ")}` : NOT_VALID }];
}

const join = (path: string, inner: readonly PropertyKey[]) =>
  [path, ...inner.map((name) => String(name).slice(0, NAME_MAX))].filter(Boolean).join(".");
