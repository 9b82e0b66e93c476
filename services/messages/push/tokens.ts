/**
 * Push tokens of the devices that users registered. Anyone who has a token can push to the device,
 * so it is stored encrypted and found by a keyed hash.
 *
 * @module
 */

import {
  deletePushTokenOfUser,
  deleteSurplusPushTokens,
  type PushToken,
  selectPushTokensOfUser,
  selectPushTokensOfUsers,
  selectPushTokensOfUsersWithoutPassword,
  upsertPushToken,
} from "../../../db/push_tokens.ts";
import { KEY_USER } from "../../access/accounts.ts";
import type { Caller } from "../../access/caller.ts";
import { signInMode } from "../../access/sign_in/mode.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { Secrets } from "../../secrets/secrets.ts";

/** Limit of devices per user; registering another one removes the oldest registration. */
export const DEVICES_MAX = 20;

export const PUSH_TOKEN_MAX = 255;

export const PUSH_TOKEN_RULE = "must be an Expo push token such as ExponentPushToken[...], or a " +
  `device token of 32 to ${PUSH_TOKEN_MAX} letters, digits or any of :_-`;

/**
 * Whether a text has the form of an Expo push token or of a device token: hexadecimal for APNs, a
 * UUID for older Expo clients, and letters, digits and `:_-` for FCM.
 */
export function isPushToken(text: string): boolean {
  return text.length <= PUSH_TOKEN_MAX &&
    /^(Expo(nent)?PushToken\[[A-Za-z0-9_-]+\]|[A-Za-z0-9:_-]{32,})$/.test(text);
}

/**
 * Registers a device for the caller. Registering it again changes nothing. A token belongs to the
 * user who registered it last: when a device changes hands, messages queued for the previous user
 * do not reach it.
 *
 * @throws {AppError} `invalid` for a text that is not a push token.
 */
export async function registerPushToken(
  { db, secrets, now }: Pick<Deps, "db" | "secrets" | "now">,
  { userId }: Pick<Caller, "userId">,
  token: string,
): Promise<void> {
  if (!isPushToken(token)) throw new AppError("invalid", `body.token: ${PUSH_TOKEN_RULE}`);
  const stored = await sealedToken(secrets, token);
  const registeredAt = now().toISOString();
  db.transaction(() => {
    upsertPushToken(db, { id: crypto.randomUUID(), ...stored, userId, registeredAt });
    deleteSurplusPushTokens(db, userId, DEVICES_MAX);
  });
}

/** Deletes a registration of the caller. Devices of other users stay registered. */
export async function unregisterPushToken(
  { db, secrets }: Pick<Deps, "db" | "secrets">,
  { userId }: Pick<Caller, "userId">,
  token: string,
): Promise<void> {
  deletePushTokenOfUser(db, userId, await tokenKeyOf(secrets, token));
}

/**
 * The devices of all users who can currently log in. In key mode these are holders of the API key and users of an identity provider.
 */
export function pushDevices({ db, config }: Pick<Deps, "db" | "config">): PushToken[] {
  return signInMode(db, config) === "users" ? selectPushTokensOfUsers(db) : [
    ...selectPushTokensOfUser(db, KEY_USER),
    ...selectPushTokensOfUsersWithoutPassword(db),
  ];
}

/** @throws {SealError} */
export function openPushToken(
  secrets: Secrets,
  { tokenKey, sealed }: Pick<PushToken, "tokenKey" | "sealed">,
): string {
  return secrets.open(sealed, purposeOf(tokenKey));
}

async function sealedToken(
  secrets: Secrets,
  token: string,
): Promise<Pick<PushToken, "tokenKey" | "sealed">> {
  const tokenKey = await tokenKeyOf(secrets, token);
  return { tokenKey, sealed: secrets.seal(token, purposeOf(tokenKey)) };
}

const tokenKeyOf = (secrets: Secrets, token: string) => secrets.fingerprint(`push token ${token}`);

const purposeOf = (tokenKey: string) => `push token ${tokenKey}`;
