/**
 * The API document of this build, and what its references point to.
 *
 * @module
 */

import { currentDocument } from "../../commands/openapi.ts";

// deno-lint-ignore no-explicit-any
export type Json = any;

/** As a client reads it. */
export const apiDocument: Json = JSON.parse(JSON.stringify(await currentDocument()));

/** A part of the document, or what it references. */
export function dereferenced(part: Json): Json {
  if (typeof part?.$ref !== "string") return part;
  const found = part.$ref.slice(2).split("/").reduce(
    (at: Json, key: string) => at?.[key],
    apiDocument,
  );
  return dereferenced(found);
}
