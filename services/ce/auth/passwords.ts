/**
 * Passwords: which are accepted, and how they are stored.
 *
 * They are hashed with Argon2id outside of the event loop, two at a time, so that a flood of logins
 * takes neither every processor nor unbounded memory.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { nodeCrypto, randomText } from "../../builtins.ts";
import { AppError } from "../../errors.ts";
import { type Argon2, type Cost, createArgon2 } from "./argon2.ts";

/** At least this many characters (Unicode code points). */
export const PASSWORD_CHARACTERS_MIN = 12;

/** At most this many bytes as UTF-8. */
export const PASSWORD_BYTES_MAX = 256;

export const PASSWORD_RULE = `must have at least ${PASSWORD_CHARACTERS_MIN} characters and ` +
  `at most ${PASSWORD_BYTES_MAX} bytes`;

/** OWASP's recommendation for Argon2id: 19 MiB, two passes, one lane. Takes about 50 ms. */
const COST: Cost = { memoryKib: 19_456, passes: 2, lanes: 1 };

/** More than any version needs; a stored hash with a higher cost is damaged. */
const COST_MAX: Cost = { memoryKib: 262_144, passes: 16, lanes: 16 };

const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** Hashes at the same time; each holds the memory of its cost. */
const HASHING_MAX = 2;

/** Logins that wait for their turn, about three seconds; more are refused at once. */
const WAITING_MAX = 100;

/** The version of the algorithm, 1.3, as RFC 9106 numbers it. */
const ARGON2_VERSION = 0x13;

const encoder = new TextEncoder();

/** Whether a new password follows {@linkcode PASSWORD_RULE}. */
export function isAcceptablePassword(password: string): boolean {
  return [...password].length >= PASSWORD_CHARACTERS_MIN &&
    encoder.encode(password).length <= PASSWORD_BYTES_MAX;
}

/** @throws {AppError} `invalid` for a password that is too short or too long. */
export function assertAcceptablePassword(password: string): void {
  if (!isAcceptablePassword(password)) throw new AppError("invalid", `password: ${PASSWORD_RULE}`);
}

/** A random password, for an account that has none yet. */
export function makePassword(): string {
  return randomText(18);
}

/**
 * The hash of a password as text, in the PHC string format:
 * `$argon2id$v=19$m=19456,t=2,p=1$salt$hash`.
 *
 * @throws {AppError} `unavailable` when too many others wait.
 */
export function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  return inTurn(async (argon2) => encode(COST, salt, await hashOf(argon2, password, salt, COST)));
}

/**
 * Whether the password is the one of the stored hash. Takes as long for `null`, an account that
 * does not exist or has no password, as for a wrong password.
 *
 * @param begin Called when the turn has come. If it throws, the check ends without a hash.
 * @throws {AppError} `unavailable` when too many others wait.
 */
export function verifyPassword(
  password: string,
  stored: string | null,
  begin: () => void = () => {},
): Promise<boolean> {
  return inTurn(async (argon2) => {
    begin();
    const { cost, salt, hash } = decode(stored ?? NO_ACCOUNT);
    const found = await hashOf(argon2, password, salt, cost);
    return nodeCrypto().timingSafeEqual(found, hash) && stored !== null;
  });
}

const randomBytes = (count: number) => Buffer.from(crypto.getRandomValues(new Uint8Array(count)));

/** Stands for the hash of an account that has none; no password leads to it. */
const NO_ACCOUNT = encode(COST, randomBytes(SALT_BYTES), randomBytes(HASH_BYTES));

async function hashOf(
  argon2: Argon2,
  password: string,
  salt: Uint8Array,
  cost: Cost,
): Promise<Buffer> {
  // Keyboards type the same password composed or decomposed. An empty one cannot be hashed; it is
  // never accepted as a password, and neither is what stands for it.
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

let hashing = 0;
const waiting: ((argon2: Argon2) => void)[] = [];

/** Runs `work` when fewer than {@linkcode HASHING_MAX} others run, in the order of the calls. */
async function inTurn<T>(work: (argon2: Argon2) => Promise<T>): Promise<T> {
  const argon2 = await turn();
  try {
    return await work(argon2);
  } finally {
    const next = waiting.shift();
    if (next) {
      next(argon2);
    } else {
      hashing--;
      argon2.close();
    }
  }
}

/** The place of a caller that finished goes to the next one, together with its worker. */
function turn(): Argon2 | Promise<Argon2> {
  if (hashing < HASHING_MAX) {
    hashing++;
    return createArgon2();
  }
  if (waiting.length >= WAITING_MAX) {
    throw new AppError("unavailable", "Too many passwords are being checked; try again");
  }
  return new Promise((resolve) => waiting.push(resolve));
}
