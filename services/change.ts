/**
 * Changes of what is stored: a request names some fields, and all others stay as they are.
 *
 * @module
 */

/** Any of the fields. One that is left out, or `undefined`, is not changed. */
export type Change<Fields> = { [Field in keyof Fields]?: Fields[Field] | undefined };

/** The record as it is after a change. */
export function applyChange<Stored extends object>(
  stored: Stored,
  change: Change<NoInfer<Stored>>,
): Stored {
  const named = Object.entries(change).filter(([, value]) => value !== undefined);
  return { ...stored, ...Object.fromEntries(named) };
}
