/**
 * Token families: a family is the access and refresh tokens of one login, and is revoked as a whole.
 *
 * @module
 */

import {
  deleteRefreshTokensOfFamily,
  selectFamiliesOfPage,
  selectFamiliesOfUser,
} from "../../../db/refresh_tokens.ts";
import { upsertRevokedFamily } from "../../../db/revoked_families.ts";
import { deleteSession } from "../../../db/sessions.ts";
import type { Deps } from "../../deps.ts";
import { ACCESS_TOKEN_S } from "./tokens.ts";

type FamilyDeps = Pick<Deps, "db" | "accounts" | "now">;

export function revokeFamily(deps: FamilyDeps, familyId: string): void {
  revokeFamilies(deps, () => [familyId]);
}

/** Revokes every login of a user, and ends sign-ins that wait for a page or a second factor. */
export function revokeFamiliesOfUser(
  deps: FamilyDeps,
  userId: string,
  { change = () => {}, except }: {
    /** Stores the cause, e.g. the new password, in the same transaction. */
    change?: () => void;
    /** A family that is not revoked. */
    except?: string | undefined;
  } = {},
): void {
  deps.accounts.endSignIns(userId);
  revokeFamilies(deps, () => {
    change();
    return selectFamiliesOfUser(deps.db, userId).filter((familyId) => familyId !== except);
  });
}

/** Revokes the logins of a page, so that its cookie can belong to only one. */
export const revokeFamiliesOfPage = (deps: FamilyDeps, pageHash: string): void =>
  revokeFamilies(deps, () => selectFamiliesOfPage(deps.db, pageHash));

/** Revokes the families that `select` returns, in the same transaction. */
export function revokeFamilies({ db, accounts, now }: FamilyDeps, select: () => string[]): void {
  const expiresAt = accessTokensEnd(now());
  const families = db.transaction(() => {
    const selected = select();
    for (const familyId of selected) {
      deleteRefreshTokensOfFamily(db, familyId);
      deleteSession(db, familyId);
      upsertRevokedFamily(db, { familyId, expiresAt: expiresAt.toISOString() });
    }
    return selected;
  });
  for (const familyId of families) accounts.revoke(familyId, expiresAt);
}

/** When all access tokens that were issued until now have expired. */
export const accessTokensEnd = (now: Date): Date => new Date(now.getTime() + ACCESS_TOKEN_S * 1000);
