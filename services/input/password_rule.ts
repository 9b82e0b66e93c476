/** The rule for new passwords. Existing ones stay valid. @module */

import { COMMON_PASSWORDS } from "./common_passwords.ts";

/** Length of a new password, in characters (Unicode code points). */
export const PASSWORD_CHARACTERS_MIN = 12;
export const PASSWORD_CHARACTERS_MAX = 128;

/** Longest password that is checked at a login, in UTF-16 code units. */
export const PASSWORD_LENGTH_MAX = 2 * PASSWORD_CHARACTERS_MAX;

export const PASSWORD_LENGTH_RULE =
  `must have ${PASSWORD_CHARACTERS_MIN} to ${PASSWORD_CHARACTERS_MAX} characters`;

const NOT_COMMON = "must not be one of the most common passwords";

/** The rule that a new password violates, or `undefined`. */
export function passwordProblem(password: string): string | undefined {
  const text = password.normalize("NFC");
  const { length } = [...text];
  if (length < PASSWORD_CHARACTERS_MIN || length > PASSWORD_CHARACTERS_MAX) {
    return PASSWORD_LENGTH_RULE;
  }
  return COMMON_PASSWORDS.has(text.toLowerCase()) ? NOT_COMMON : undefined;
}
