/**
 * Passwords: what is allowed as one, and how they are kept.
 *
 * Hashed with Argon2id (RFC 9106) outside of the event loop, a few at a time: a flood of logins
 * must neither take every processor nor more memory than its bound.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { nodeCrypto, randomText } from "../builtins.ts";
import { AppError } from "../errors.ts";

/** At least this many characters (Unicode code points). */
export const PASSWORD_CHARACTERS_MIN = 12;

/** At most this many bytes as UTF-8. */
export const PASSWORD_BYTES_MAX = 256;

export const PASSWORD_RULE = `must have at least ${PASSWORD_CHARACTERS_MIN} characters and ` +
  `at most ${PASSWORD_BYTES_MAX} bytes`;

/** The cost of one hash; stored with it, so that a later version can raise it. */
interface Cost {
  memoryKib: number;
  passes: number;
  lanes: number;
}

/** OWASP's recommendation for Argon2id: 19 MiB, two passes, one lane. Takes about 25 ms. */
const COST: Cost = { memoryKib: 19_456, passes: 2, lanes: 1 };

/** More than any version of ours asks for; a stored hash that wants more is damaged. */
const COST_MAX: Cost = { memoryKib: 262_144, passes: 16, lanes: 16 };

const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** Hashes at the same time; each holds the memory of its cost. */
const HASHING_MAX = 2;

/** Logins that wait for their turn, about two seconds; more are refused at once. */
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

/** A password that nobody guesses, for an account that has none yet. */
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
  return inTurn(async () => encode(COST, salt, await argon2id(password, salt, COST)));
}

/**
 * Whether the password is the one of the stored hash. Takes as long for `null`, an account that
 * does not exist or has no password, as for a wrong password.
 *
 * @param begin Called when it is this one's turn; what it throws ends the check before it costs
 * anything.
 * @throws {AppError} `unavailable` when too many others wait.
 */
export function verifyPassword(
  password: string,
  stored: string | null,
  begin: () => void = () => {},
): Promise<boolean> {
  return inTurn(async () => {
    begin();
    const { cost, salt, hash } = decode(stored ?? NOBODY);
    const found = await argon2id(password, salt, cost);
    return nodeCrypto().timingSafeEqual(found, hash) && stored !== null;
  });
}

const randomBytes = (count: number) => Buffer.from(crypto.getRandomValues(new Uint8Array(count)));

/** Stands for the hash of an account that has none; no password leads to it. */
const NOBODY = encode(COST, randomBytes(SALT_BYTES), randomBytes(HASH_BYTES));

/** What WebCrypto's types do not know of yet. */
interface Argon2Params extends Algorithm {
  nonce: Uint8Array<ArrayBuffer>;
  memory: number;
  passes: number;
  parallelism: number;
  version: number;
}

async function argon2id(password: string, salt: Uint8Array, cost: Cost): Promise<Buffer> {
  // One and the same password comes composed from one keyboard and decomposed from another.
  const secret = encoder.encode(password.normalize("NFC"));
  const key = await crypto.subtle.importKey(
    "raw-secret" as "raw",
    secret,
    "Argon2id",
    false,
    ["deriveBits"],
  );
  const params: Argon2Params = {
    name: "Argon2id",
    nonce: new Uint8Array(salt),
    memory: cost.memoryKib,
    passes: cost.passes,
    parallelism: cost.lanes,
    version: ARGON2_VERSION,
  };
  return Buffer.from(await crypto.subtle.deriveBits(params, key, HASH_BYTES * 8));
}

function encode({ memoryKib, passes, lanes }: Cost, salt: Buffer, hash: Buffer): string {
  const text = (bytes: Buffer) => bytes.toString("base64").replaceAll("=", "");
  const cost = `m=${memoryKib},t=${passes},p=${lanes}`;
  return `$argon2id$v=${ARGON2_VERSION}$${cost}$${text(salt)}$${text(hash)}`;
}

const ENCODED =
  /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,3})\$([\w+/]{1,86})\$([\w+/]{43})$/;

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
const waiting: (() => void)[] = [];

/** Runs `work` as soon as fewer than the most are at it, in the order of the calls. */
async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (hashing >= HASHING_MAX) {
    if (waiting.length >= WAITING_MAX) {
      throw new AppError("unavailable", "Too many passwords are being checked; try again");
    }
    // Whoever ends hands its place on, so the count stays as it is.
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else {
    hashing++;
  }
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else hashing--;
  }
}
