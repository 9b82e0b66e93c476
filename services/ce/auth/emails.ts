/**
 * Email addresses, as far as users are told apart by them.
 *
 * @module
 */

/** Longest address (RFC 5321, 4.5.3.1.3, without the brackets), in characters. */
export const EMAIL_LENGTH_MAX = 254;

export const EMAIL_RULE = `must be an email address of at most ${EMAIL_LENGTH_MAX} characters`;

/**
 * Whether a text can be a user's address: one `@` between two parts without spaces, control
 * characters or brackets. A host need not have a dot: `admin@localhost` is the first user's.
 */
export function isEmail(text: string): boolean {
  return text.length <= EMAIL_LENGTH_MAX && /^[^\s@<>"\p{C}]+@[^\s@<>"\p{C}]+$/u.test(text);
}

/** The address as it is compared: without case. */
export function emailKey(email: string): string {
  return email.normalize("NFC").toLowerCase();
}
