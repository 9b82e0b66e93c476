/** Steps of jobs in words, for pages and for commands. @module */

/**
 * The words of `GET /api/jobs/kinds` for a step, or its name without them. Jobs on several objects add the
 * name or the number of each: `create web` is `Create containers (web)`.
 */
export function stepInWords(step: string, names: Readonly<Record<string, string>>): string {
  if (Object.hasOwn(names, step)) return names[step]!;
  const [, base = step, object] = /^(\w[\w ]*) (\S+)$/.exec(step) ?? [];
  return Object.hasOwn(names, base) ? `${names[base]} (${object})` : step;
}
