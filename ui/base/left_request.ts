/** Words for the requests that can be left for a host that is away. @module */

const WORDS: readonly [request: RegExp, words: string][] = [
  [/^POST \/api\/stacks$/, "Store a new stack"],
  [/^PUT \/api\/stacks\/([^/]+)\/source$/, "Store sources of stack"],
  [/^POST \/api\/stacks\/([^/]+)\/deploy$/, "Deploy stack"],
  [/^POST \/api\/stacks\/([^/]+)\/update$/, "Update stack"],
  [/^POST \/api\/containers\/([^/]+)\/update$/, "Update container"],
];

/** @param request E.g. `POST /api/stacks/shop/update`; one of another kind is returned as it is. */
export function requestWords(request: string): string {
  for (const [pattern, words] of WORDS) {
    const found = pattern.exec(request);
    if (found) return found[1] === undefined ? words : `${words} ${decodeURIComponent(found[1])}`;
  }
  return request;
}
