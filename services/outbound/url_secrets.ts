/**
 * Secrets in a URL that a user configured: user name, password, and the values of the query, which
 * often contain tokens. They are shown redacted, and a redacted part in an update keeps its value.
 *
 * @module
 */

import { REDACTED } from "../text/redact.ts";

/** The parts of a URL, unchanged. */
interface Pieces {
  /** Scheme and `//`. */
  start: string;
  /** User name and password; empty without. */
  user: string;
  /** Host, port and path. */
  middle: string;
  /** The parameters of the query; `undefined` without a query. */
  query: { name: string; value: string | undefined }[] | undefined;
  end: string;
}

/** Returns the URL with its secrets redacted; the same text if it has none or is not a URL. */
export function redactedUrl(text: string): string {
  const pieces = piecesOf(text);
  return pieces ? joined(redactedPieces(pieces)) : text;
}

/**
 * Returns the URL with each redacted part replaced by the stored one. Parameters with the same name
 * are replaced in their order.
 *
 * @param stored The stored URL with its secrets; `undefined` without one.
 * @returns `undefined` if it keeps a part that the stored URL does not have.
 */
export function unredactedUrl(text: string, stored: string | undefined): string | undefined {
  const pieces = piecesOf(text);
  if (!pieces || !keepsSecrets(text)) return text;
  const known = stored === undefined ? undefined : piecesOf(stored);
  if (!known) return undefined;

  let user = pieces.user;
  if (user.includes(REDACTED)) {
    if (known.user === "" || user !== redactedUser(known.user)) return undefined;
    user = known.user;
  }
  const values = Map.groupBy(known.query ?? [], keyOf);
  const query = pieces.query?.map((parameter) => {
    const before = values.get(keyOf(parameter))?.shift();
    return isRedacted(parameter) ? before : parameter;
  });
  if (query?.includes(undefined)) return undefined;
  return joined({ ...pieces, user, query: query as Pieces["query"] });
}

/** Whether a URL has redacted parts, which keep stored ones. */
export function keepsSecrets(text: string): boolean {
  const pieces = piecesOf(text);
  return !!pieces &&
    (pieces.user.includes(REDACTED) || (pieces.query ?? []).some(isRedacted));
}

function piecesOf(text: string): Pieces | undefined {
  const [, start, user, middle, query, end] =
    /^(https?:\/\/)([^/?#\\]*@)?([^?#]*)(\?[^#]*)?(#.*)?$/is.exec(text) ?? [];
  if (start === undefined) return undefined;
  return {
    start,
    user: user ?? "",
    middle: middle!,
    query: query?.slice(1).split("&").map((parameter) => {
      const at = parameter.indexOf("=");
      return at < 0
        ? { name: parameter, value: undefined }
        : { name: parameter.slice(0, at), value: parameter.slice(at + 1) };
    }),
    end: end ?? "",
  };
}

const redactedPieces = ({ user, query, ...pieces }: Pieces): Pieces => ({
  ...pieces,
  user: redactedUser(user),
  query: query?.map(({ name, value }) => {
    // A parameter without a name may be the token itself.
    if (value === undefined) return { name: name && REDACTED, value };
    return { name, value: value && REDACTED };
  }),
});

function redactedUser(user: string): string {
  if (user === "") return "";
  return user.includes(":") ? `${REDACTED}:${REDACTED}@` : `${REDACTED}@`;
}

const isRedacted = ({ name, value }: { name: string; value: string | undefined }): boolean =>
  (value ?? name) === REDACTED;

/** Key for matching a parameter: its name, or empty without one. */
const keyOf = ({ name, value }: { name: string; value: string | undefined }): string =>
  value === undefined ? "" : `${name}=`;

const joined = ({ start, user, middle, query, end }: Pieces): string => {
  const parameters = query?.map(({ name, value }) =>
    value === undefined ? name : `${name}=${value}`
  );
  return start + user + middle + (parameters ? `?${parameters.join("&")}` : "") + end;
};
