/**
 * User name and password in an address that the operator configured: sent, but never shown.
 *
 * @module
 */

/**
 * Takes them out of an address.
 *
 * @returns The address without them and without its fragment, and the value of an `authorization`
 * header (RFC 7617) where there were any.
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
  const bytes = new TextEncoder().encode(`${decoded(username)}:${decoded(password)}`);
  return { target, authorization: `Basic ${bytes.toBase64()}` };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a percent sign that was meant as one
  }
}
