/**
 * Key files (design document, "Keys, Encryption and MAC"): JSON with the parameters of scrypt, and
 * the repository's master key, encrypted by what scrypt derives from a password. Each password has
 * a file of its own.
 *
 * @module
 */

import { nodeCrypto, nodeUtil } from "../../builtins.ts";
import { CRYPTO_OVERHEAD, type CryptoKeys, importKeys, KEY_BYTES, seal, unseal } from "./crypto.ts";
import { type Id, idOf } from "./id.ts";
import { shapeOf } from "./json_shape.ts";
import { JSON_FILE_BYTES_MAX } from "./limits.ts";
import { RepositoryError } from "./repository_error.ts";
import { listFiles, parseJson, titleOf, writeVerified } from "./repository_files.ts";
import type { Storage } from "./storage.ts";

/** Parameters of new keys: 32 MiB and about 0.1 s. restic accepts N from 2^15. */
const SCRYPT = { N: 32_768, r: 8, p: 1 };

/** Memory that a key file may demand: 128 * N * r bytes. */
const SCRYPT_BYTES_MAX = 256 * 1024 * 1024;

/** Work of a key file, which is proportional to 128 * N * r * p: some 4 s. restic chooses 0.5 s. */
const SCRYPT_WORK_MAX = 4 * SCRYPT_BYTES_MAX;

/** Passes of a key file; restic has chosen more than 16 on a fast host. */
const SCRYPT_P_MAX = 32;

const SALT_BYTES = 64;

/** Key files that are tried, as in restic. */
const KEYS_MAX = 20;

/** Key file without its secrets. */
export interface KeyInfo {
  id: Id;
  hostname: string;
  username: string;
  /** RFC 3339. */
  created: string;
}

interface KeyFile extends Omit<KeyInfo, "id"> {
  N: number;
  r: number;
  p: number;
  salt: Uint8Array;
  data: Uint8Array;
}

/** Random keys of a new repository. */
export const randomKeys = (): Promise<CryptoKeys> =>
  importKeys(crypto.getRandomValues(new Uint8Array(KEY_BYTES)));

/** Stores the repository's keys for another password. */
export async function addKey(
  storage: Storage,
  keys: CryptoKeys,
  password: string,
  { hostname, username, created }: Omit<KeyInfo, "id">,
  signal: AbortSignal,
): Promise<Id> {
  const salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES));
  const derived = await deriveKeys(password, { ...SCRYPT, salt });
  const { raw } = keys;
  const master = JSON.stringify({
    mac: { k: raw.slice(32, 48).toBase64(), r: raw.slice(48, 64).toBase64() },
    encrypt: raw.slice(0, 32).toBase64(),
  });
  const data = await seal(derived, new TextEncoder().encode(master));
  const file = new TextEncoder().encode(JSON.stringify({
    created,
    username,
    hostname,
    kdf: "scrypt",
    ...SCRYPT,
    salt: salt.toBase64(),
    data: data.toBase64(),
  }));
  const id = idOf(file);
  await writeVerified(storage, "keys", id, file, id, signal);
  return id;
}

/**
 * Opens the repository's keys with a password, which may be that of any key file.
 *
 * @param opened Keys that this password has opened before, by the names of their files: these are not
 * derived again. Gets the one that is opened now.
 * @throws {RepositoryError} `wrong_password`; `absent` without any key file; `damaged` if a file
 * is damaged and no other one fits.
 */
export async function openKeys(
  storage: Storage,
  password: string,
  signal: AbortSignal,
  opened = new Map<Id, Uint8Array>(),
): Promise<CryptoKeys> {
  const names: string[] = [];
  for await (const { name } of listFiles(storage, "keys", signal)) names.push(name);
  if (names.length === 0) {
    throw new RepositoryError("absent", "The location has no repository: a key file is missing");
  }
  names.sort((one, other) => Number(opened.has(other)) - Number(opened.has(one)));
  let failure: unknown;
  for (const name of names.slice(0, KEYS_MAX)) {
    signal.throwIfAborted();
    try {
      const file = await loadKey(storage, name, signal);
      const raw = opened.get(name);
      const keys = raw ? await importKeys(raw) : await openKey(file, password, name);
      if (keys === undefined) continue;
      opened.set(name, keys.raw);
      return keys;
    } catch (error) {
      if (!(error instanceof RepositoryError)) throw error;
      failure ??= error;
    }
  }
  throw failure ?? new RepositoryError("wrong_password", "The password fits none of the keys");
}

/** Key files, without their secrets. */
export async function* listKeys(storage: Storage, signal: AbortSignal): AsyncGenerator<KeyInfo> {
  for await (const { name } of listFiles(storage, "keys", signal)) {
    const { hostname, username, created } = await loadKey(storage, name, signal);
    yield { id: name, hostname, username, created };
  }
}

async function loadKey(storage: Storage, name: Id, signal: AbortSignal): Promise<KeyFile> {
  const title = titleOf("keys", name);
  const bytes = await storage.read("keys", name, signal);
  const shape = shapeOf(title);
  if (bytes.length > JSON_FILE_BYTES_MAX || idOf(bytes) !== name) {
    throw new RepositoryError("damaged", `${title} is damaged: its hash is not its name`);
  }
  const fields = shape.object(parseJson(bytes, title), "the file");
  if (fields.kdf !== "scrypt") {
    throw new RepositoryError("unsupported", `${title} has a key derivation other than scrypt`);
  }
  const file = {
    hostname: shape.text(fields.hostname ?? "", "hostname"),
    username: shape.text(fields.username ?? "", "username"),
    created: shape.text(fields.created ?? "", "created"),
    N: shape.count(fields.N, "N"),
    r: shape.count(fields.r, "r", 64),
    p: shape.count(fields.p, "p"),
    salt: shape.bytes(fields.salt, "salt"),
    data: shape.bytes(fields.data, "data"),
  };
  const { N, r, p } = file;
  const memory = 128 * N * r;
  const isTooMuch = memory > SCRYPT_BYTES_MAX || memory * p > SCRYPT_WORK_MAX ||
    p > SCRYPT_P_MAX;
  if (N < 2 || !Number.isInteger(Math.log2(N)) || isTooMuch) {
    throw new RepositoryError("unsupported", `${title} has parameters of scrypt out of range`);
  }
  return file;
}

/** @returns `undefined` if the password does not fit. */
async function openKey(
  file: KeyFile,
  password: string,
  name: Id,
): Promise<CryptoKeys | undefined> {
  const title = titleOf("keys", name);
  if (file.data.length < CRYPTO_OVERHEAD) return undefined;
  const derived = await deriveKeys(password, file);
  const json = await unseal(derived, file.data, title).catch(() => undefined);
  if (json === undefined) return undefined;
  const shape = shapeOf(title);
  const master = shape.object(parseJson(json, title), "the key");
  const mac = shape.object(master.mac, "mac");
  const raw = new Uint8Array([
    ...shape.bytes(master.encrypt, "encrypt"),
    ...shape.bytes(mac.k, "mac.k"),
    ...shape.bytes(mac.r, "mac.r"),
  ]);
  if (raw.length !== KEY_BYTES) {
    throw new RepositoryError("damaged", `${title} is damaged: its keys have a wrong length`);
  }
  return await importKeys(raw);
}

async function deriveKeys(
  password: string,
  { N, r, p, salt }: Pick<KeyFile, "N" | "r" | "p" | "salt">,
): Promise<CryptoKeys> {
  const scrypt = nodeUtil().promisify(
    nodeCrypto().scrypt as (
      password: string,
      salt: Uint8Array,
      length: number,
      options: { N: number; r: number; p: number; maxmem: number },
      done: (error: Error | null, key: Uint8Array) => void,
    ) => void,
  );
  const maxmem = 2 * SCRYPT_BYTES_MAX;
  return await importKeys(
    new Uint8Array(await scrypt(password, salt, KEY_BYTES, { N, r, p, maxmem })),
  );
}
