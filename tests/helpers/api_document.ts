/**
 * The API document of this build, with its references resolved.
 *
 * @module
 */

import { currentDocument } from "../../commands/openapi.ts";

// deno-lint-ignore no-explicit-any
export type Json = any;

/** The document as a client reads it. */
export const apiDocument: Json = JSON.parse(JSON.stringify(await currentDocument()));

/** Resolves a reference; other values are returned unchanged. */
export function dereferenced(part: Json): Json {
  if (typeof part?.$ref !== "string") return part;
  const found = part.$ref.slice(2).split("/").reduce(
    (at: Json, key: string) => at?.[key],
    apiDocument,
  );
  return dereferenced(found);
}
