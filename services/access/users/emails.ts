/** Email addresses of users. @module */

/** Longest address (RFC 5321, 4.5.3.1.3, without the brackets), in characters. */
export const EMAIL_LENGTH_MAX = 254;

export const EMAIL_RULE = `must be an email address of at most ${EMAIL_LENGTH_MAX} characters`;

/**
 * Whether a text is accepted as a user's address: one `@` between two parts without spaces, control
 * characters or brackets. The host needs no dot, because the first admin is `admin@localhost`.
 */
export function isEmail(text: string): boolean {
  return text.length <= EMAIL_LENGTH_MAX && /^[^\s@<>"\p{C}]+@[^\s@<>"\p{C}]+$/u.test(text);
}

/** The key by which addresses are compared, regardless of case. */
export function emailKey(email: string): string {
  return email.normalize("NFC").toLowerCase();
}
