/** Checks external input against its shape and collects all problems. @module */

import type * as z from "zod";
import { type InputIssue, ISSUES_MAX } from "../errors.ts";
import { inputMessage, NOT_VALID, typeName } from "./messages.ts";

/** Maximum length of a field name in a message; names of unknown fields come from outside. */
const NAME_MAX = 100;

/** Says where an unknown name at the top level belongs. */
export type Hint = (name: string) => string | undefined;

/**
 * Parses `input` with `shape`. An object that is strict (`z.strictObject`) has an issue for each
 * unknown field, before its other issues.
 *
 * @param path Prefix for the paths of the issues, e.g. `"body"`.
 */
export function checkShape<Shape extends z.ZodType>(
  shape: Shape,
  input: unknown,
  path: string,
  hint?: Hint,
): { data: z.output<Shape> } | { issues: InputIssue[] } {
  const result = shape.safeParse(input, { error: inputMessage });
  return result.success ? { data: result.data } : { issues: inputIssues(result.error, path, hint) };
}

/** Converts the problems that the validator found with the error map {@linkcode inputMessage}. */
export function inputIssues({ issues }: z.core.$ZodError, path: string, hint?: Hint): InputIssue[] {
  const isUnknown = ({ code }: z.core.$ZodIssue) => code === "unrecognized_keys";
  return [...issues.filter(isUnknown), ...issues.filter((issue) => !isUnknown(issue))]
    .flatMap((issue) => issuesOf(issue, path, hint));
}

/** A union has the issues of its closest option. */
function issuesOf(issue: z.core.$ZodIssue, path: string, hint?: Hint): InputIssue[] {
  const here = join(path, issue.path);
  const { message } = issue;
  if (issue.code === "unrecognized_keys") {
    const messages = message.split("\n");
    return issue.keys.slice(0, ISSUES_MAX).map((name, at) => ({
      path: join(here, [name]),
      message: (issue.path.length === 0 ? hint?.(name) : undefined) ?? messages[at] ?? NOT_VALID,
    }));
  }
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
