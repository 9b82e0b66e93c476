/** Responses of one endpoint that are serialized once for many clients. @module */

import { createRepresentation, type Representation } from "./representation.ts";
import { targetOf } from "./request_url.ts";

/** Limit of cached responses with different queries. */
const ENTRIES_MAX = 64;

export const JSON_HEADERS = { "content-type": "application/json; charset=utf-8" };

export type ResponseCache = ReturnType<typeof responseCache>;

/**
 * Creates the cache of an endpoint. Its entries are valid until the version changes.
 *
 * @param currentVersion See `Contract.version`; without it nothing is cached.
 */
export function responseCache(currentVersion: () => string | undefined = () => undefined) {
  const entries = new Map<string, Representation>();
  let entriesVersion: string | undefined;

  return {
    currentVersion,

    find(request: Request): Representation | undefined {
      if (entries.size === 0 || currentVersion() !== entriesVersion) return undefined;
      return entries.get(targetOf(request));
    },

    /** @param version The version before the response was created, which is never too new. */
    add(request: Request, version: string | undefined, json: string): Representation {
      const response = createRepresentation(json, JSON_HEADERS);
      if (version !== undefined) {
        if (version !== entriesVersion) entries.clear();
        entriesVersion = version;
        if (entries.size < ENTRIES_MAX) entries.set(targetOf(request), response);
      }
      return response;
    },
  };
}
