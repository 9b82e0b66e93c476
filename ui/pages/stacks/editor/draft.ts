/** The sources of a stack while they are edited. @module */

import type { StackSource } from "../../../api/types.ts";

export interface Draft {
  compose: string;
  /** The text of `.env`. */
  env: string;
  /** Texts by relative path. */
  files: Readonly<Record<string, string>>;
  /** Active profiles, with commas between them. */
  profiles: string;
}

export const EMPTY_DRAFT: Draft = { compose: "", env: "", files: {}, profiles: "" };

export const draftOf = (
  { compose, env, files, profiles }: Pick<StackSource, keyof Draft>,
): Draft => ({
  compose,
  env: typeof env === "string" ? env : printVariables(env),
  files,
  profiles: profiles.join(", "),
});

/**
 * Sources as the service gets them.
 *
 * @param before The draft before the changes. A stack on disk that had no `.env` gets none.
 */
export function sourcesOf({ compose, env, files, profiles }: Draft, before = EMPTY_DRAFT) {
  const names = profiles.split(",").map((name) => name.trim()).filter(Boolean);
  return {
    compose,
    ...((env !== "" || before.env !== "") && { env }),
    files,
    ...(names.length > 0 && { profiles: names }),
  };
}

export const isSameDraft = (a: Draft, b: Draft): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Variables as lines of `.env`, with quotes where these are needed. */
const printVariables = (variables: Record<string, string>): string =>
  Object.entries(variables).map(([name, value]) => `${name}=${quote(value)}\n`).join("");

function quote(value: string): string {
  if (/^[\w./:@-]*$/.test(value)) return value;
  return /['\\]/.test(value) ? `"${value.replace(/[\\"$]/g, "\\$&")}"` : `'${value}'`;
}
