/**
 * Passwords: hashing and verification.
 *
 * Argon2id runs in workers, two hashes at a time, so that a flood of logins exhausts neither the
 * processors nor the memory.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { nodeCrypto, randomText } from "../../builtins.ts";
import { AppError } from "../../errors.ts";
import { createLimiter } from "../../limiter.ts";
import { type Argon2, type Cost, createArgon2 } from "./argon2.ts";
import { passwordProblem } from "../../input/password_rule.ts";

/** OWASP's recommendation for Argon2id: 19 MiB, two passes, one lane; about 50 ms. */
const COST: Cost = { memoryKib: 19_456, passes: 2, lanes: 1 };

/** Upper bound of the cost of stored hashes; a hash with a higher cost is damaged. */
const COST_MAX: Cost = { memoryKib: 262_144, passes: 16, lanes: 16 };

const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** Parallel hashes; each uses the memory of its cost. */
const HASHING_MAX = 2;

/** Queued hashes, about three seconds of work; more are refused at once. */
const WAITING_MAX = 100;

/** The version of the algorithm, 1.3, as RFC 9106 numbers it. */
const ARGON2_VERSION = 0x13;

const encoder = new TextEncoder();

/** @throws {AppError} `invalid` for a password that violates the rule. */
export function assertAcceptablePassword(password: string): void {
  const problem = passwordProblem(password);
  if (problem !== undefined) throw new AppError("invalid", `password: ${problem}`);
}

/** A random password for a new account. */
export function makePassword(): string {
  return randomText(18);
}

export type Passwords = ReturnType<typeof createPasswords>;

/**
 * Hashes and verifies passwords. Both throw an `unavailable` error if too many calls wait. The
 * workers end when no call is left.
 *
 * @param cost Of new hashes.
 * @param createHasher Tests hash without a worker.
 */
export function createPasswords(cost = COST, createHasher: () => Argon2 = createArgon2) {
  const limit = createLimiter({
    what: "passwords",
    running: HASHING_MAX,
    waiting: WAITING_MAX,
    busy: () => new AppError("unavailable", "Too many passwords are being checked; try again"),
  });
  const idle: Argon2[] = [];
  let calls = 0;
  /** Hashed against instead of a missing hash; no password matches it. */
  const noAccount = encode(cost, randomBytes(SALT_BYTES), randomBytes(HASH_BYTES));

  const withArgon2 = async <T>(work: (argon2: Argon2) => Promise<T>): Promise<T> => {
    calls++;
    try {
      return await limit(async () => {
        const argon2 = idle.pop() ?? createHasher();
        try {
          return await work(argon2);
        } finally {
          idle.push(argon2);
        }
      });
    } finally {
      if (--calls === 0) { for (const argon2 of idle.splice(0)) argon2.close(); }
    }
  };

  return {
    /** A new hash in the PHC string format: `$argon2id$v=19$m=19456,t=2,p=1$salt$hash`. */
    hash(password: string): Promise<string> {
      const salt = randomBytes(SALT_BYTES);
      return withArgon2(async (argon2) =>
        encode(cost, salt, await computeHash(argon2, password, salt, cost))
      );
    },
    /**
     * Whether the password matches the stored hash. For `null`, an account that does not exist or
     * has no password, it takes as long as for a wrong password.
     *
     * @param begin Called before hashing starts. If it throws, nothing is hashed.
     */
    verify(password: string, stored: string | null, begin = () => {}): Promise<boolean> {
      return withArgon2(async (argon2) => {
        begin();
        const { cost, salt, hash } = decode(stored ?? noAccount);
        const computed = await computeHash(argon2, password, salt, cost);
        return nodeCrypto().timingSafeEqual(computed, hash) && stored !== null;
      });
    },
  };
}

const randomBytes = (count: number) => Buffer.from(crypto.getRandomValues(new Uint8Array(count)));

async function computeHash(
  argon2: Argon2,
  password: string,
  salt: Uint8Array,
  cost: Cost,
): Promise<Buffer> {
  // Keyboards enter the same password composed or decomposed. An empty text cannot be hashed, so it
  // is replaced; neither is ever accepted as a password.
  const secret = encoder.encode(password.normalize("NFC") || "\0");
  return Buffer.from(await argon2.hash(secret, salt, cost, HASH_BYTES));
}

function encode({ memoryKib, passes, lanes }: Cost, salt: Buffer, hash: Buffer): string {
  const text = (bytes: Buffer) => bytes.toString("base64").replaceAll("=", "");
  const cost = `m=${memoryKib},t=${passes},p=${lanes}`;
  return `$argon2id$v=${ARGON2_VERSION}$${cost}$${text(salt)}$${text(hash)}`;
}

const ENCODED =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,3})\$([\w+/]{11,86})\$([\w+/]{43})$/;

/** @throws {Error} For a stored hash that this service did not write. */
function decode(stored: string): { cost: Cost; salt: Buffer; hash: Buffer } {
  const [, memory, passes, lanes, salt = "", hash = ""] = ENCODED.exec(stored) ?? [];
  const cost = { memoryKib: Number(memory), passes: Number(passes), lanes: Number(lanes) };
  const fits = salt !== "" && cost.memoryKib <= COST_MAX.memoryKib &&
    cost.passes <= COST_MAX.passes && cost.lanes <= COST_MAX.lanes;
  if (!fits) throw new Error("A stored password hash is damaged");
  return { cost, salt: Buffer.from(salt, "base64"), hash: Buffer.from(hash, "base64") };
}
