/** Failures of a repository that a person can act on. @module */

/**
 * `absent`: the location has no repository. `damaged`: bytes that are not what was written, or a
 * reference without its object. `locked`: another process has a lock that excludes this one.
 * `refused`: an entry or option that cannot be stored. `unsupported`: a format that this library does
 * not know.
 */
export type RepositoryReason =
  | "wrong_password"
  | "absent"
  | "damaged"
  | "locked"
  | "not_found"
  | "exists"
  | "refused"
  | "unsupported";

/** A failure with a message for the user; it repeats at most 200 characters of foreign text. */
export class RepositoryError extends Error {
  override readonly name = "RepositoryError";
  constructor(readonly reason: RepositoryReason, message: string, options?: ErrorOptions) {
    super(message, options);
  }
}

/** @returns A `damaged` error that names the object. */
export const damaged = (object: string, problem: string, cause?: unknown) =>
  new RepositoryError("damaged", `${object} is damaged: ${problem}`, { cause });

/** Shows a name of bytes in a message: printable ASCII, the rest escaped, at most 200 characters. */
export function shown(name: string): string {
  const text = name.replaceAll(
    /[^ -~]/g,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
  return text.length > 200 ? `${text.slice(0, 200)}...` : text;
}
