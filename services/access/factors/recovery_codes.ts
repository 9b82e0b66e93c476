/** Recovery codes: each replaces a lost second factor once. @module */

import { replaceRecoveryCodes, updateRecoveryCodeUsed } from "../../../db/recovery_codes.ts";
import { sha256 } from "../../builtins.ts";
import type { Deps } from "../../deps.ts";
import { makeTypedCode, normalizeTypedCode } from "../typed_code.ts";

const CODES = 10;

/** 80 bits: their unsalted hashes cannot be guessed from a stolen database. */
const LENGTH = 16;

/** A code as a person may type it. */
export const RECOVERY_CODE = /^(?:[2-9A-HJ-NP-Za-hj-np-z]{4}[- ]?){3}[2-9A-HJ-NP-Za-hj-np-z]{4}$/;

/** Replaces the codes of a user. @returns The new ones, which are stored only as hashes. */
export function createRecoveryCodes(db: Deps["db"], userId: string): string[] {
  const codes = Array.from({ length: CODES }, () => makeTypedCode(LENGTH));
  replaceRecoveryCodes(db, userId, codes.map(hashOf));
  return codes;
}

/** Uses a code up. @returns Whether it was right and unused. */
export function useRecoveryCode(
  { db, now }: Pick<Deps, "db" | "now">,
  userId: string,
  given: string,
): boolean {
  const codeHash = hashOf(normalizeTypedCode(given));
  return updateRecoveryCodeUsed(db, { userId, codeHash, usedAt: now().toISOString() });
}

const hashOf = (code: string) => sha256(`recovery code ${code}`);
