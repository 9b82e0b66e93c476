/**
 * The API document, read from its snapshot: making it takes most of a second of processor time, which
 * each test file would spend. `tests/structure/openapi_test.ts` compares the two.
 *
 * @module
 */

// deno-lint-ignore no-explicit-any
export type Json = any;

/** The document as a client reads it. */
export const apiDocument: Json = JSON.parse(
  Deno.readTextFileSync(new URL("../structure/openapi.snapshot.json", import.meta.url)),
);

/** Resolves a reference; other values are returned unchanged. */
export function dereferenced(part: Json): Json {
  if (typeof part?.$ref !== "string") return part;
  const found = part.$ref.slice(2).split("/").reduce(
    (at: Json, key: string) => at?.[key],
    apiDocument,
  );
  return dereferenced(found);
}
