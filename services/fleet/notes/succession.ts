/** The statement of a hub that one key for notes follows another, signed with the one before. @module */

import { concat } from "../link/noise.ts";
import { toBytes, toText } from "../enrolment/keys.ts";
import type { CheckSignature, Sign } from "./note.ts";

/** Separates these signatures from others with the same key. */
const DOMAIN = new TextEncoder().encode("longshore-note-key-v1\n");

/** @param next The key that follows, base64url. @returns The signature, base64url. */
export const signSuccession = async (sign: Sign, next: string): Promise<string> =>
  toText(await sign(concat(DOMAIN, toBytes(next))));

/** Whether a key that `check` is of has signed that `next` follows it. */
export async function isSuccession(
  check: CheckSignature,
  { next, signature }: { next: string; signature: string },
): Promise<boolean> {
  return await check(toBytes(signature), concat(DOMAIN, toBytes(next)));
}
