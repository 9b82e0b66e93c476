/**
 * The API key of key mode.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { deleteSetting, selectSetting, upsertSetting } from "../../../db/ce/settings.ts";
import { KEY_USER } from "../../auth/accounts.ts";
import { nodeCrypto, randomText } from "../../builtins.ts";
import type { Deps } from "../../deps.ts";
import { revokeFamiliesOfUser } from "./families.ts";

/** Setting: SHA-256 (hex) of the key that was created here. */
const CREATED_KEY_HASH = "api_key_hash";

/** Setting: which key is in force; a key of the configuration as a keyed hash. */
const KEY_IN_FORCE = "api_key_in_force";

/** Lets secret scanners recognize a key. */
const PREFIX = "lsk_";

/**
 * Creates the API key at the first start in key mode, unless the configuration gives one.
 *
 * A key of the configuration replaces the created one for good: were the created one kept, it would
 * be accepted again when the variable is removed, although it may have been replaced because it
 * leaked. Where the key has changed since the last start, the sessions of the former one end.
 *
 * @param deliver Gives a new key to the operator. Only then its hash is stored, so that no key is
 * in force that the operator never got.
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

  const hash = (await hashInForce(deps))!.toString("hex");
  const fingerprint = await secrets.fingerprint(hash);
  const inForce = config.apiKey === null ? createdMark(hash) : fingerprint;
  const before = selectSetting(db, KEY_IN_FORCE);
  if (before === inForce) return;
  // Versions before 0.2 stored the keyed hash of a created key too.
  if (before === fingerprint) return upsertSetting(db, KEY_IN_FORCE, inForce);
  revokeFamiliesOfUser(deps, KEY_USER, () => upsertSetting(db, KEY_IN_FORCE, inForce));
  if (before !== undefined) log.warn("API key changed; existing sessions were revoked");
}

/**
 * Creates an API key in the place of a former one, which is refused from now on, and ends all
 * sessions of key mode. A running service needs no restart.
 *
 * @param deliver Gives the key to the operator, before it is in force.
 */
export async function createApiKey(
  deps: Pick<Deps, "db" | "accounts" | "now">,
  deliver: (key: string) => void,
): Promise<void> {
  const { db } = deps;
  const key = PREFIX + randomText(32);
  const hash = (await sha256(key)).toString("hex");
  deliver(key);
  revokeFamiliesOfUser(deps, KEY_USER, () => {
    upsertSetting(db, CREATED_KEY_HASH, hash);
    upsertSetting(db, KEY_IN_FORCE, createdMark(hash));
  });
}

/** A created key cannot be guessed, so its hash may be stored without `SECRET_KEY`. */
const createdMark = (hash: string) => `created ${hash}`;

/** Whether the text is the API key; takes as long whatever is wrong with it. */
export async function isApiKey(
  deps: Pick<Deps, "config" | "db">,
  text: string,
): Promise<boolean> {
  const expected = await hashInForce(deps);
  return expected !== undefined &&
    nodeCrypto().timingSafeEqual(await sha256(text), expected);
}

/** A key of the configuration is never stored. */
async function hashInForce({ config, db }: Pick<Deps, "config" | "db">) {
  if (config.apiKey !== null) return await sha256(config.apiKey);
  const stored = selectSetting(db, CREATED_KEY_HASH);
  return stored === undefined ? undefined : Buffer.from(stored, "hex");
}

async function sha256(text: string): Promise<Buffer> {
  return Buffer.from(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}
