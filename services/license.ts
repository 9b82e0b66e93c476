/**
 * The license: which edition is open, until when, for whom. Checked offline.
 *
 * A license key is a JWT signed with Ed25519 by one of the keys in `license_keys.json`, with the
 * claims `sub` (customer), `edition`, `exp` and optionally `limits`.
 *
 * @module
 */

import { compactVerify, createLocalJWKSet, type JSONWebKeySet } from "jose";
import { z } from "zod";
import type { Edition } from "./edition.ts";
import { LIMITED_RESOURCES, type LimitedResource } from "./limits.ts";

/** An expired license goes on for this long. */
const GRACE_MS = 14 * 24 * 60 * 60 * 1000;

/** A key is a few hundred bytes; more is no license. */
const KEY_LENGTH_MAX = 16_384;

const Claims = z.object({
  sub: z.string().min(1).max(200),
  edition: z.enum(["pro", "enterprise"]),
  exp: z.int().positive(),
  limits: z.partialRecord(z.enum(LIMITED_RESOURCES), z.int().min(0)).optional(),
});

/** A license key that was checked. */
export interface LicenseGrant {
  customer: string;
  edition: Exclude<Edition, "ce">;
  expiresAt: Date;
  /** Numbers that replace the edition's own. */
  limits: Partial<Record<LimitedResource, number>>;
}

/** The license in force. Its answers follow the clock: a license that ends, ends while running. */
export interface License {
  readonly edition: Edition;
  readonly grant: LicenseGrant | undefined;
  /** ISO 8601, UTC; `null` without a license. */
  readonly expiresAt: string | null;
  /** End of the grace period, while the license is expired and still goes on. */
  readonly graceUntil: string | null;
  /** Why a given key is not in force, in one sentence; `null` when there is nothing to say. */
  readonly problem: string | null;
  /** Puts another license in force, or none. */
  use(grant: LicenseGrant | undefined, problem?: string): void;
}

/** Starts as the Community Edition; `use()` opens more. */
export function createLicense(now: () => Date): License {
  let grant: LicenseGrant | undefined;
  let problem: string | null = null;
  const graceEnd = () => grant ? new Date(grant.expiresAt.getTime() + GRACE_MS) : undefined;
  const ended = () => grant !== undefined && now() >= graceEnd()!;

  return {
    get edition() {
      return grant && !ended() ? grant.edition : "ce";
    },
    get grant() {
      return grant;
    },
    get expiresAt() {
      return grant?.expiresAt.toISOString() ?? null;
    },
    get graceUntil() {
      return grant && now() >= grant.expiresAt && !ended() ? graceEnd()!.toISOString() : null;
    },
    get problem() {
      return ended() ? `The license expired on ${grant!.expiresAt.toISOString()}` : problem;
    },
    use(next, why) {
      grant = next;
      problem = why ?? null;
    },
  };
}

/**
 * Checks a license key. An expired one passes: whether it still counts is the license's word.
 *
 * @throws {Error} With a sentence for the operator that says why the key is not accepted.
 */
export async function verifyLicenseKey(key: string, keys: JSONWebKeySet): Promise<LicenseGrant> {
  if (key.length > KEY_LENGTH_MAX) throw new Error("The license key is too long to be one");
  if (keys.keys.length === 0) throw new Error("This build knows no license keys");
  let payload: Uint8Array;
  try {
    ({ payload } = await compactVerify(key.trim(), createLocalJWKSet(keys), {
      algorithms: ["EdDSA"],
    }));
  } catch (error) {
    throw new Error("The license key is not signed by a known key", { cause: error });
  }
  const claims = Claims.safeParse(parseJson(payload));
  if (!claims.success) {
    const [issue] = claims.error.issues;
    throw new Error(`The license key's ${issue?.path.join(".")}: ${issue?.message}`);
  }
  const { sub, edition, exp, limits = {} } = claims.data;
  return {
    customer: sub,
    edition,
    expiresAt: new Date(exp * 1000),
    limits: limits as LicenseGrant["limits"],
  };
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}
