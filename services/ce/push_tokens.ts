/**
 * Devices that want to be told: who registered which.
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
} from "../../db/ce/push_tokens.ts";
import { KEY_USER } from "../accounts.ts";
import type { Caller } from "../caller.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";

/** Devices of one user; whoever registers one more loses the one that registered longest ago. */
export const DEVICES_MAX = 20;

export const PUSH_TOKEN_MAX = 255;

export const PUSH_TOKEN_RULE =
  `must be a push token: 1 to ${PUSH_TOKEN_MAX} letters, digits or any of []:._-+=/`;

/** `ExponentPushToken[...]`, and what other gateways use. */
export function isPushToken(text: string): boolean {
  return text.length <= PUSH_TOKEN_MAX && /^[A-Za-z0-9[\]:._+=/-]+$/.test(text);
}

/**
 * Registers a device for the caller; once more changes nothing. Only the device knows its token,
 * so a token belongs to whoever registered it last: a device that changes hands leaves its former
 * user, and what waits for that user does not reach it.
 *
 * @throws {AppError} `invalid` for what is no push token.
 */
export function registerPushToken(
  { db, now }: Pick<Deps, "db" | "now">,
  { userId }: Pick<Caller, "userId">,
  token: string,
): void {
  if (!isPushToken(token)) throw new AppError("invalid", `body.token: ${PUSH_TOKEN_RULE}`);
  const registeredAt = now().toISOString();
  db.transaction(() => {
    upsertPushToken(db, { id: crypto.randomUUID(), token, userId, registeredAt });
    deleteSurplusPushTokens(db, userId, DEVICES_MAX);
  });
}

/** Forgets a device of the caller; one that is not the caller's stays. */
export function unregisterPushToken(
  { db }: Pick<Deps, "db">,
  { userId }: Pick<Caller, "userId">,
  token: string,
): void {
  deletePushTokenOfUser(db, userId, token);
}

/**
 * The devices of everybody who may log in at present: accounts, or the API key's holders and those
 * for whom an identity provider vouches.
 */
export function pushDevices({ db, config }: Pick<Deps, "db" | "config">): PushToken[] {
  return config.authMode === "users" ? selectPushTokensOfUsers(db) : [
    ...selectPushTokensOfUser(db, KEY_USER),
    ...selectPushTokensOfUsersWithoutPassword(db),
  ];
}
