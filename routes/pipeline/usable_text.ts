/** Text that the database returns unchanged. @module */

import { InputError, type InputIssue } from "../../services/errors.ts";

const UNUSABLE_TEXT = "contains a NUL character or a lone surrogate";

/**
 * Refuses text that the database would not return unchanged: SQLite ends text at its first NUL, and
 * UTF-8 has no lone surrogates. Reports the outermost field.
 *
 * @throws {InputError}
 */
export function assertUsableText(data: object, where: string): void {
  const issues: InputIssue[] = [];
  for (const [field, value] of Object.entries(data)) {
    if (hasUnusableText(value)) issues.push({ path: `${where}.${field}`, message: UNUSABLE_TEXT });
  }
  if (issues.length > 0) throw new InputError(issues);
}

/** Without recursion, because free-form values can be nested very deeply. */
function hasUnusableText(value: unknown): boolean {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === "string" && !isUsableText(next)) return true;
    if (typeof next !== "object" || next === null) continue;
    for (const [key, inner] of Object.entries(next)) open.push(key, inner);
  }
  return false;
}

const isUsableText = (text: string) => !text.includes("\0") && text.isWellFormed();
