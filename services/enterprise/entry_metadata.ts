/**
 * What somebody may add to an entry of the compliance log in a form of their own.
 *
 * @module
 */

import { canonicalJson } from "./canonical_json.ts";

/** Largest metadata of an entry, as canonical JSON in UTF-8 bytes, and how deep it may nest. */
export const METADATA_BYTES_MAX = 8 * 1024;
export const METADATA_DEPTH_MAX = 8;

const encoder = new TextEncoder();

/** Why metadata cannot be taken, as the end of a sentence; `undefined` when it can. */
export function metadataFault(metadata: unknown): string | undefined {
  if (!isContainer(metadata) || Array.isArray(metadata)) return "must be an object";
  return valueFault(metadata) ?? textFault(metadata);
}

const isContainer = (value: unknown): value is object =>
  typeof value === "object" && value !== null;

/** No recursion: what nobody looked into may be nested as deep as a body is long. */
function valueFault(metadata: object): string | undefined {
  const open: [value: object, depth: number][] = [[metadata, 1]];
  for (let next; (next = open.pop());) {
    const [value, depth] = next;
    if (depth > METADATA_DEPTH_MAX) return `must not nest more than ${METADATA_DEPTH_MAX} deep`;
    // JSON has such a member, but whoever reads it with JavaScript may lose it on the way.
    if (Object.hasOwn(value, "__proto__")) return "must not have a member __proto__";
    for (const inner of Object.values(value)) {
      if (isContainer(inner)) open.push([inner, depth + 1]);
      // It may be another one already than the one that was sent.
      if (Number.isInteger(inner) && !Number.isSafeInteger(inner)) {
        return `must not have a number beyond 2^53 - 1, which loses digits, but has ${inner}; ` +
          "give it as a text";
      }
    }
  }
  return undefined;
}

function textFault(metadata: object): string | undefined {
  let text: string;
  try {
    text = canonicalJson(metadata);
  } catch (error) {
    return `has no canonical form: ${(error as Error).message}`;
  }
  if (encoder.encode(text).length <= METADATA_BYTES_MAX) return undefined;
  return `must be at most ${METADATA_BYTES_MAX} bytes of JSON`;
}
