/** Partial updates: a request contains the fields to change. @module */

/** Some of the fields. A missing or `undefined` field is not changed. */
export type Change<Fields> = { [Field in keyof Fields]?: Fields[Field] | undefined };

/** Returns the record after a change. */
export function applyChange<Stored extends object>(
  stored: Stored,
  change: Change<NoInfer<Stored>>,
): Stored {
  return { ...stored, ...definedFields(change) };
}

/** The fields that are not `undefined`. */
export const definedFields = <Fields extends object>(fields: Fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Fields]: Exclude<Fields[Name], undefined>;
  };
