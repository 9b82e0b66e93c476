/** The API key of key mode: created at the first start or taken from the configuration. @module */

import { Buffer } from "node:buffer";
import type { Database } from "../../../db/database.ts";
import { deleteSetting, selectSetting, upsertSetting } from "../../../db/settings.ts";
import { KEY_USER } from "../accounts.ts";
import { nodeCrypto, randomText } from "../../builtins.ts";
import type { Deps } from "../../deps.ts";
import { revokeFamiliesOfUser } from "./families.ts";
import { CURRENT_KEY } from "./mode.ts";

/** Setting: SHA-256 (hex) of the created key. */
const CREATED_KEY_HASH = "api_key_hash";

/** Makes keys recognizable to secret scanners. */
const PREFIX = "lsk_";

/**
 * Creates the API key at the first start in key mode, unless `API_KEY` is set.
 *
 * `API_KEY` replaces the created key permanently, because that may have leaked: it must not be
 * accepted again after the variable is removed. If the key has changed since the last start, all
 * sessions are revoked.
 *
 * @param deliver Gives a new key to the operator. The hash is stored afterwards, so that a key that
 * the operator never received is not accepted.
 */
export async function ensureApiKey(
  deps: Pick<Deps, "config" | "db" | "accounts" | "secrets" | "now" | "log">,
  deliver: (key: string) => void,
): Promise<void> {
  const { config, db, secrets, log } = deps;
  if (config.apiKey !== null) {
    if (deleteSetting(db, CREATED_KEY_HASH)) {
      log.warn("created API key removed because API_KEY is set");
    }
  } else if (selectSetting(db, CREATED_KEY_HASH) === undefined) {
    await createApiKey(deps, deliver);
  }

  const hash = (await currentKeyHash(deps))!.toString("hex");
  const fingerprint = await secrets.fingerprint(hash);
  const current = config.apiKey === null ? createdKeyMark(hash) : fingerprint;
  const before = selectSetting(db, CURRENT_KEY);
  if (before === current) return;
  // Versions before 0.2 stored the keyed hash of a created key too.
  if (before === fingerprint) return upsertSetting(db, CURRENT_KEY, current);
  revokeFamiliesOfUser(deps, KEY_USER, {
    change: () => upsertSetting(db, CURRENT_KEY, current),
  });
  if (before !== undefined) log.warn("API key changed; existing sessions were revoked");
}

/**
 * Replaces the created API key and revokes all sessions of key mode. A running service needs no
 * restart.
 *
 * @param deliver Gives the key to the operator, before it is stored.
 */
export async function createApiKey(
  deps: Pick<Deps, "db" | "accounts" | "now">,
  deliver: (key: string) => void,
): Promise<void> {
  const { db } = deps;
  const key = PREFIX + randomText(32);
  const hash = (await sha256(key)).toString("hex");
  deliver(key);
  revokeFamiliesOfUser(deps, KEY_USER, {
    change: () => {
      upsertSetting(db, CREATED_KEY_HASH, hash);
      upsertSetting(db, CURRENT_KEY, createdKeyMark(hash));
    },
  });
}

/** The key is not accepted any more, and key mode ends. */
export function forgetApiKey(db: Database): void {
  deleteSetting(db, CREATED_KEY_HASH);
  deleteSetting(db, CURRENT_KEY);
}

/** A created key cannot be guessed, so its hash is stored without the protection of `SECRET_KEY`. */
const createdKeyMark = (hash: string) => `created ${hash}`;

/** Whether the text is the API key, compared in constant time. */
export async function isApiKey(
  deps: Pick<Deps, "config" | "db">,
  text: string,
): Promise<boolean> {
  const expected = await currentKeyHash(deps);
  return expected !== undefined &&
    nodeCrypto().timingSafeEqual(await sha256(text), expected);
}

/** `undefined` before a key was created. A configured key is never stored. */
async function currentKeyHash({ config, db }: Pick<Deps, "config" | "db">) {
  if (config.apiKey !== null) return await sha256(config.apiKey);
  const stored = selectSetting(db, CREATED_KEY_HASH);
  return stored === undefined ? undefined : Buffer.from(stored, "hex");
}

async function sha256(text: string): Promise<Buffer> {
  return Buffer.from(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}
