/** Advice for Compose files that were not found. @module */

import { capital, count, plain } from "../../base/text.ts";

/**
 * Says what an administrator can do: the next scan reads what is below STACK_ROOTS.
 *
 * @param files At least one, of a stack each.
 * @param roots STACK_ROOTS.
 */
export function unreadAdvice(files: readonly string[], roots: readonly string[]): string {
  const outside = files.filter((file) => !roots.some((root) => file.startsWith(`${root}/`)));
  const example = plain(outside[0] ?? files[0]!);
  const [found, choose, add] = files.length === 1
    ? [
      `The Compose file of 1 stack was not found: ${example}. Its source is generated from the ` +
      "containers.",
      "choose the source of the stack.",
      "Add the directory of the file to STACK_ROOTS",
    ]
    : [
      `The Compose files of ${count(files.length, "stack")} were not found, e.g. ${example}. ` +
      "Their sources are generated from the containers.",
      "choose the source of each stack.",
      "Add directories that are not below STACK_ROOTS to it",
    ];
  const advice = outside.length > 0 ? `${add}, or ${choose}` : choose;
  return `${found} ${capital(advice)}`;
}
