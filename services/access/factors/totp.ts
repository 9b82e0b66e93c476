/** Codes of authenticator apps: TOTP (RFC 6238) with SHA-1, 30 s and 6 digits. @module */

import { Buffer } from "node:buffer";
import { nodeCrypto } from "../../builtins.ts";
import { timingSafeEqual } from "../timing_safe_equal.ts";
import { encodeBase32 } from "./base32.ts";

const STEP_MS = 30_000;
const DIGITS = 6;

/** Steps before and after the current one whose codes are accepted: clocks differ. */
const SKEW_STEPS = 1;

/** Number of the step at a time. */
export const stepAt = (time: Date): number => Math.floor(time.getTime() / STEP_MS);

/** The code of a step (RFC 4226, section 5.3). */
export function totpCode(secret: Uint8Array, step: number, digits = DIGITS): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = nodeCrypto().createHmac("sha1", secret).update(counter).digest();
  const value = mac.readUInt32BE(mac.at(-1)! & 15) & 0x7fffffff;
  return String(value % 10 ** digits).padStart(digits, "0");
}

/**
 * The step that a code belongs to, after `lastStep`.
 *
 * @returns `undefined` for a wrong code, and for one that is not newer than the last accepted one.
 */
export function findStep(
  secret: Uint8Array,
  code: string,
  { now, lastStep }: { now: Date; lastStep: number },
): number | undefined {
  const current = stepAt(now);
  for (let step = current - SKEW_STEPS; step <= current + SKEW_STEPS; step++) {
    if (step > lastStep && timingSafeEqual(code, totpCode(secret, step))) return step;
  }
  return undefined;
}

/** The address that authenticator apps read from a QR code (Google's "Key Uri Format"). */
export function otpauthUrl(
  secret: Uint8Array,
  { issuer, account }: { issuer: string; account: string },
): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  return `otpauth://totp/${label}?secret=${encodeBase32(secret)}` +
    `&issuer=${encodeURIComponent(issuer)}&algorithm=SHA1&digits=${DIGITS}&period=${
      STEP_MS / 1000
    }`;
}
