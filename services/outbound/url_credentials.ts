/** User name and password in a URL that the operator configured: sent, but never shown. @module */

/**
 * Removes the credentials from a URL.
 *
 * @returns The URL without credentials and fragment, and the value of the `authorization` header if it
 * had credentials.
 */
export function withoutCredentials(
  url: string,
): { target: URL; authorization: string | undefined } {
  const target = new URL(url);
  const { username, password } = target;
  target.username = "";
  target.password = "";
  target.hash = "";
  if (username === "" && password === "") return { target, authorization: undefined };
  return { target, authorization: basicAuthorization(decoded(username), decoded(password)) };
}

/** Value of the `authorization` header (RFC 7617). */
export function basicAuthorization(username: string, password: string): string {
  return `Basic ${new TextEncoder().encode(`${username}:${password}`).toBase64()}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a percent sign that was not an escape
  }
}
