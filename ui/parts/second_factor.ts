/** Codes of second factors, as people enter them. @module */

/** Tells a code of an authenticator app from a recovery code. */
export function factorOf(text: string): { code: string } | { recoveryCode: string } {
  const compact = text.replace(/\s/g, "");
  return /^\d{6}$/.test(compact) ? { code: compact } : { recoveryCode: text.trim() };
}
