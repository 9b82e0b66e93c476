/** The patterns of tags in labels. @module */

import { AppError } from "../errors.ts";
import { compileLinearPattern } from "../input/linear_pattern.ts";
import type { TagPattern, TagPatterns } from "./labels.ts";

/** Decides whether a tag is of interest. */
export type TagFilter = (tag: string) => boolean;

/**
 * Compiles patterns. Several containers have the same ones, so that compiling is not repeated for
 * each: keep the result.
 *
 * @throws {AppError} `invalid` for a pattern that is unsafe or that RE2 does not support.
 */
export async function compileTagFilter({ include, exclude }: TagPatterns = {}): Promise<TagFilter> {
  const [included, excluded] = await Promise.all([compile(include), compile(exclude)]);
  return (tag) => included?.test(tag) !== false && excluded?.test(tag) !== true;
}

/** Returns why patterns cannot be used; `undefined` if they can. */
export async function tagPatternProblem(tags: TagPatterns): Promise<string | undefined> {
  try {
    await compileTagFilter(tags);
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
}

async function compile(tag: TagPattern | undefined) {
  return tag && await compileLinearPattern(tag.pattern, { field: `Label ${tag.label}` });
}
