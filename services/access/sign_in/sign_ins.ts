/** Sign-ins from addresses and browsers that an account has not used before. @module */

import { selectKnownClient, upsertKnownClient } from "../../../db/known_clients.ts";
import { selectUser } from "../../../db/users.ts";
import type { Session } from "../accounts.ts";
import { type Client, clientKey } from "../client.ts";
import type { Deps } from "../../deps.ts";
import { emit, type EmitDeps } from "../../events/emit.ts";

/** A stored sign-in. */
export interface SignIn {
  session: Session;
  client: Client;
  /** Whether the account was used before, but never from this client. */
  isNewClient: boolean;
}

/** Limit of remembered clients for each account; the longest unused is forgotten. */
const CLIENTS_MAX = 200;

/**
 * Remembers the client of a sign-in. Runs inside the transaction that stores the login.
 *
 * @returns Whether the account was used before, but never from this client.
 */
export function rememberClient(
  { db, now }: Pick<Deps, "db" | "now">,
  userId: string,
  client: Client,
): boolean {
  const key = { userId, ...clientKey(client) };
  const { isKnown, hasOthers } = selectKnownClient(db, key);
  upsertKnownClient(db, { ...key, seenAt: now().toISOString() }, CLIENTS_MAX);
  return !isKnown && hasOthers;
}

/** Emits `account.new_sign_in` for a new client. Called after the login is stored. */
export function reportSignIn(deps: EmitDeps, { session, client, isNewClient }: SignIn): void {
  if (!isNewClient) return;
  const { userId, familyId } = session;
  emit(deps, "account.new_sign_in", {
    account: selectUser(deps.db, userId)?.email ?? userId,
    userId,
    sessionId: familyId,
    ...client,
  });
}
