/** The `WWW-Authenticate` header (RFC 9110, 11.6.1). @module */

import type { Challenge } from "./sessions.ts";

/** Longest header that is read. */
const HEADER_MAX = 8_192;

/** Limit of challenges and parameters; registries send one challenge. */
const PARTS_MAX = 50;

/** A scheme, a parameter, or what cannot be read up to the next comma. */
const PART =
  /\s*,?\s*(?:([!#$%&'*+.^_`|~\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))|([!#$%&'*+.^_`|~\w-]+)(?=\s|,|$))/y;

/** Parses a header with one or more challenges; what follows an error is ignored. */
export function parseChallenges(header: string | undefined): Challenge[] {
  const text = (header ?? "").slice(0, HEADER_MAX);
  const challenges: { scheme: string; params: Record<string, string> }[] = [];
  PART.lastIndex = 0;
  for (let parts = 0; parts < PARTS_MAX; parts++) {
    const [, name, quoted, plain, scheme] = PART.exec(text) ?? [];
    if (scheme !== undefined) {
      challenges.push({ scheme: scheme.toLowerCase(), params: {} });
    } else if (name !== undefined) {
      const params = challenges.at(-1)?.params;
      if (params) params[name.toLowerCase()] = quoted?.replace(/\\(.)/g, "$1") ?? plain ?? "";
    } else break;
  }
  return challenges;
}
