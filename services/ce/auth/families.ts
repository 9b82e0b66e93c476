/**
 * Families: the access and refresh tokens of one login, and how they end before their time.
 *
 * @module
 */

import {
  deleteRefreshTokensOfFamily,
  selectFamiliesOfUser,
} from "../../../db/ce/refresh_tokens.ts";
import { upsertRevokedFamily } from "../../../db/ce/revoked_families.ts";
import type { Deps } from "../../deps.ts";
import { ACCESS_TOKEN_S } from "./tokens.ts";

type FamilyDeps = Pick<Deps, "db" | "accounts" | "now">;

/** Ends a login: neither its access tokens nor its refresh token are good any more. */
export function revokeFamily(deps: FamilyDeps, familyId: string): void {
  revokeFamilies(deps, () => [familyId]);
}

/**
 * Ends every login of a user.
 *
 * @param change What is stored together with it, e.g. the new password.
 */
export function revokeFamiliesOfUser(
  deps: FamilyDeps,
  userId: string,
  change: () => void = () => {},
): void {
  revokeFamilies(deps, () => {
    change();
    return selectFamiliesOfUser(deps.db, userId);
  });
}

/** Ends the logins that `choose` names, in one transaction with what it does. */
export function revokeFamilies({ db, accounts, now }: FamilyDeps, choose: () => string[]): void {
  const end = new Date(now().getTime() + ACCESS_TOKEN_S * 1000);
  const families = db.transaction(() => {
    const chosen = choose();
    for (const familyId of chosen) {
      deleteRefreshTokensOfFamily(db, familyId);
      upsertRevokedFamily(db, { familyId, expiresAt: end.toISOString() });
    }
    return chosen;
  });
  for (const familyId of families) accounts.revoke(familyId, end);
}
