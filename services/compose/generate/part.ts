/** Parts of a Compose file. @module */

/** A part of a Compose file. */
export type Part = Record<string, unknown>;

/** `$` begins a variable in a Compose file. */
export const literal = (text: string) => text.replaceAll("$", "$$$$");

/** Without the keys that have no value. */
export const given = (part: Part): Part =>
  Object.fromEntries(
    Object.entries(part).filter(([, value]) =>
      value !== undefined && value !== null && value !== "" &&
      !(typeof value === "object" && Object.keys(value).length === 0)
    ),
  );
