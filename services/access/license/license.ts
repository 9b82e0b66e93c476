/**
 * The license: its edition, expiry and customer. Verified offline.
 *
 * A license key is a JWT signed with Ed25519 by one of the keys in `license_keys.json`, with the
 * claims `sub` (customer), `edition`, `exp` and optionally `limits`. Without one, each installation
 * can try the Enterprise edition once.
 *
 * @module
 */

import { compactVerify, importJWK, type JSONWebKeySet, type JWK } from "jose";
import * as z from "zod";
import type { Edition } from "../../edition.ts";
import { createProtection, type EndStore, FORGOTTEN } from "./protection.ts";
import { checkShape } from "../../input/check.ts";
import { LIMITED_RESOURCES, type LimitedResource } from "./limits.ts";

const GRACE_MS = 14 * 24 * 60 * 60 * 1000;

/** Duration of a trial, which has no grace period. */
const TRIAL_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * Longest delay of a clock behind the start of a trial, e.g. after it was corrected from local time
 * to UTC. Set back further, it would extend the trial.
 */
const CLOCK_BACK_MS = 24 * 60 * 60 * 1000;

const TRIAL_EDITION: Edition = "enterprise";

/** Maximum length of a key; usually it has a few hundred characters. */
const KEY_LENGTH_MAX = 16_384;

const Claims = z.object({
  sub: z.string().min(1).max(200),
  edition: z.enum(["pro", "enterprise"]),
  exp: z.int().positive(),
  limits: z.partialRecord(z.enum(LIMITED_RESOURCES), z.int().min(0)).optional(),
});

/** A verified license key. */
export interface LicenseGrant {
  customer: string;
  edition: Exclude<Edition, "ce">;
  expiresAt: Date;
  /** Limits that replace those of the edition. */
  limits: Partial<Record<LimitedResource, number>>;
}

/** The trial of an installation. Times are ISO 8601, UTC. */
export interface Trial {
  startedAt: string;
  endsAt: string;
  /** Whether the trial is in force: it has begun, has not ended, and no license is installed. */
  active: boolean;
}

/** The license in force. All properties follow the clock: a license expires while running. */
export type License = ReturnType<typeof createLicense>;

/**
 * Starts as the Community Edition; `use()` applies a license. A license has precedence over a trial.
 *
 * @param trialStartedAt When the installation's trial was started, if it ever was.
 * @param ends Stores when the Enterprise edition ended; default: in memory.
 */
export function createLicense(
  now: () => Date,
  trialStartedAt?: Date,
  ends: EndStore = FORGOTTEN,
) {
  let given: LicenseGrant | undefined;
  let problem: string | null = null;
  let trialStart = trialStartedAt;
  const graceEnd = () => given ? new Date(given.expiresAt.getTime() + GRACE_MS) : undefined;
  const ended = () => given !== undefined && now() >= graceEnd()!;
  const inForce = () => ended() ? undefined : given;
  const trialEnd = () => trialStart ? new Date(trialStart.getTime() + TRIAL_MS) : undefined;
  const isInTrial = (at: Date) =>
    trialStart !== undefined && at.getTime() >= trialStart.getTime() - CLOCK_BACK_MS &&
    at < trialEnd()!;
  const onTrial = () => inForce() === undefined && isInTrial(now());

  const edition = (): Edition => inForce()?.edition ?? (onTrial() ? TRIAL_EDITION : "ce");
  const protection = createProtection(now, ends);

  return {
    get edition() {
      return edition();
    },
    /**
     * Until when the access protection of an ended Enterprise edition stays in force; `undefined`
     * while the edition is in force, without protection and after it. Notes that the edition ended.
     */
    protectedUntil: () => protection.until(edition()),
    /** The license key in force; `undefined` without one, and during a trial. */
    get grant() {
      return inForce();
    },
    /** `null` if it was never started. */
    get trial(): Trial | null {
      return trialStart === undefined ? null : {
        startedAt: trialStart.toISOString(),
        endsAt: trialEnd()!.toISOString(),
        active: onTrial(),
      };
    },
    /** Expiry of the license, or of the trial in force. ISO 8601, UTC; `null` without either. */
    get expiresAt() {
      const end = onTrial() ? trialEnd() : given?.expiresAt;
      return end?.toISOString() ?? null;
    },
    /** End of the grace period, if the license has expired and is still in force. */
    get graceUntil() {
      return given && now() >= given.expiresAt && !ended() ? graceEnd()!.toISOString() : null;
    },
    /** Why the given key is not in force, in one sentence; `null` without a problem. */
    get problem() {
      return ended() ? `The license expired on ${given!.expiresAt.toISOString()}` : problem;
    },
    /** Replaces the license, or removes it. */
    use(grant: LicenseGrant | undefined, why?: string): void {
      given = grant;
      problem = why ?? null;
    },
    /** Starts the trial, after its start was stored. */
    startTrial(at: Date): void {
      trialStart = at;
    },
  };
}

/**
 * Verifies a license key. An expired key passes; the license decides whether it is in force.
 *
 * @throws {Error} With a sentence for the operator if the key is not accepted.
 */
export async function verifyLicenseKey(key: string, keys: JSONWebKeySet): Promise<LicenseGrant> {
  if (key.length > KEY_LENGTH_MAX) throw new Error("The license key is too long");
  if (keys.keys.length === 0) throw new Error("This build has no license keys");
  const payload = await signedPayload(key.trim(), keys.keys);
  const claims = checkShape(Claims, parseJson(payload), "");
  if (!("data" in claims)) {
    const [issue] = claims.issues;
    throw new Error(`The license key's ${issue?.path} ${issue?.message}`);
  }
  const { sub, edition, exp, limits = {} } = claims.data;
  return {
    customer: sub,
    edition,
    expiresAt: new Date(exp * 1000),
    limits: limits as LicenseGrant["limits"],
  };
}

/** Tries all keys; the key id in the license is not used. */
async function signedPayload(key: string, keys: readonly JWK[]): Promise<Uint8Array> {
  let cause: unknown;
  for (const jwk of keys) {
    try {
      const publicKey = await importJWK(jwk, "EdDSA");
      return (await compactVerify(key, publicKey, { algorithms: ["EdDSA"] })).payload;
    } catch (error) {
      cause = error;
    }
  }
  throw new Error("The license key is not signed by a known key", { cause });
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}
