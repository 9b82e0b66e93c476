/** Steps of jobs in words, for pages and for commands. @module */

/**
 * The words of `GET /api/jobs/kinds` for a step, or its name without them. Jobs on several containers
 * number the steps of each: `create 2` is `Create the containers (2)`.
 */
export function stepInWords(step: string, names: Readonly<Record<string, string>>): string {
  const [, base = step, number] = /^(\w[\w ]*) (\d+)$/.exec(step) ?? [];
  const words = Object.hasOwn(names, base) ? names[base]! : undefined;
  if (words === undefined) return step;
  return number === undefined ? words : `${words} (${number})`;
}
