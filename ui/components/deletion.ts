/**
 * Deleting what the user has confirmed.
 *
 * @module
 */

import { withResult } from "../state/toasts.ts";
import { confirm, type Question } from "./dialog.tsx";
import { plain } from "./text.ts";

/** Asks, deletes, and shows the result. @returns Whether it was deleted. */
export async function deleteConfirmed(
  question: Omit<Question, "verb">,
  work: () => Promise<unknown>,
): Promise<boolean> {
  if (!await confirm({ verb: "Delete", ...question })) return false;
  return await withResult(`Deleted ${plain(question.name)}`, work);
}
