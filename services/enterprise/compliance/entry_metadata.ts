/** The free-form metadata of a compliance log entry. @module */

import canonicalize from "canonicalize";

/** Maximum size of metadata, as canonical JSON in UTF-8 bytes, and its maximum depth. */
export const METADATA_BYTES_MAX = 8 * 1024;
export const METADATA_DEPTH_MAX = 8;

const encoder = new TextEncoder();

/** Validates metadata; returns the fault as the end of a sentence, or `undefined`. */
export function metadataFault(metadata: unknown): string | undefined {
  if (!isContainer(metadata) || Array.isArray(metadata)) return "must be an object";
  return valueFault(metadata) ?? textFault(metadata);
}

const isContainer = (value: unknown): value is object =>
  typeof value === "object" && value !== null;

/** Iterative, because only the size of the body limits the nesting here. */
function valueFault(metadata: object): string | undefined {
  const open: [value: object, depth: number][] = [[metadata, 1]];
  for (let next; (next = open.pop());) {
    const [value, depth] = next;
    if (depth > METADATA_DEPTH_MAX) return `must not nest more than ${METADATA_DEPTH_MAX} deep`;
    // Valid JSON, but JavaScript readers may drop such a member.
    if (Object.hasOwn(value, "__proto__")) return "must not contain a member __proto__";
    for (const inner of Object.values(value)) {
      if (isContainer(inner)) open.push([inner, depth + 1]);
      // The parser may have rounded it already: 1e400 arrives as Infinity.
      if (typeof inner === "number" && isInexact(inner)) {
        return `must not contain a number beyond 2^53 - 1, which loses digits; found ${inner}, ` +
          "send it as a string";
      }
    }
  }
  return undefined;
}

const isInexact = (value: number) =>
  !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));

function textFault(metadata: object): string | undefined {
  let text: string;
  try {
    text = canonicalize(metadata)!;
  } catch {
    return "must not contain half of a surrogate pair, which has no canonical form (RFC 8785)";
  }
  if (encoder.encode(text).length <= METADATA_BYTES_MAX) return undefined;
  return `must be at most ${METADATA_BYTES_MAX} bytes of JSON`;
}
