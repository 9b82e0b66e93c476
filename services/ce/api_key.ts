/**
 * The API key of key mode.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { selectSetting, upsertSetting } from "../../db/ce/settings.ts";
import { KEY_USER } from "../accounts.ts";
import { nodeCrypto, randomText } from "../builtins.ts";
import type { Deps } from "../deps.ts";
import { revokeFamiliesOfUser } from "./families.ts";

/** Setting: SHA-256 (hex) of the key that was made here. */
const MADE_KEY_HASH = "api_key_hash";

/** Setting: which key was in force at the last start, as a keyed hash. */
const KEY_IN_FORCE = "api_key_in_force";

/** Tells what the text is to whoever, or whatever scanner, finds it. */
const PREFIX = "lsk_";

/**
 * Makes the API key at the first start in key mode, unless the configuration gives one. Only a
 * hash of it is kept, so `made` has to be shown now.
 *
 * Where another key is in force than at the last start, the logins made with the former one end:
 * a key is changed because somebody has it who should not.
 */
export async function ensureApiKey(
  deps: Pick<Deps, "config" | "db" | "accounts" | "secrets" | "now" | "log">,
): Promise<{ made?: string }> {
  const { config, db, secrets, log } = deps;
  let made: string | undefined;
  if (config.apiKey === null && selectSetting(db, MADE_KEY_HASH) === undefined) {
    made = PREFIX + randomText(32);
    upsertSetting(db, MADE_KEY_HASH, (await sha256(made)).toString("hex"));
  }

  const inForce = await secrets.fingerprint((await hashInForce(deps))!.toString("hex"));
  const before = selectSetting(db, KEY_IN_FORCE);
  if (before !== inForce) {
    revokeFamiliesOfUser(deps, KEY_USER, () => upsertSetting(db, KEY_IN_FORCE, inForce));
    if (before !== undefined) log.warn("the API key is another than before; its logins were ended");
  }
  return made === undefined ? {} : { made };
}

/** Whether the text is the API key; takes as long whatever is wrong with it. */
export async function isApiKey(
  deps: Pick<Deps, "config" | "db">,
  text: string,
): Promise<boolean> {
  const expected = await hashInForce(deps);
  return expected !== undefined &&
    nodeCrypto().timingSafeEqual(await sha256(text), expected);
}

/** A given key counts rather than one that was made before; it is never stored. */
async function hashInForce({ config, db }: Pick<Deps, "config" | "db">) {
  if (config.apiKey !== null) return await sha256(config.apiKey);
  const stored = selectSetting(db, MADE_KEY_HASH);
  return stored === undefined ? undefined : Buffer.from(stored, "hex");
}

async function sha256(text: string): Promise<Buffer> {
  return Buffer.from(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}
