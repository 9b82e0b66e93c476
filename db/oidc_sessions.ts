/** The `oidc_sessions` table: sessions that began at an OpenID Connect provider. @module */

import { type Row, table, text } from "./columns.ts";
import type { Database, Params } from "./database.ts";

const sessions = table("oidc_sessions", {
  sessionId: text(),
  providerId: text(),
  issuer: text(),
  /** The issuer's name for the user. */
  subject: text(),
  /** The issuer's name for its own session; `null` without one. */
  sid: text<string | null>(),
  /** The provider's tokens, sealed. */
  sealed: text(),
  /** When the provider last confirmed the user's roles. ISO 8601, UTC. */
  checkedAt: text(),
}, { key: "sessionId" });

/** One session of a provider. */
export type OidcSession = Row<typeof sessions>;

export const { find: selectOidcSession, insert: insertOidcSession } = sessions;

/** Stores what a check has changed. */
export function updateOidcSessionCheck(
  db: Database,
  sessionId: string,
  check: Pick<OidcSession, "sealed" | "checkedAt">,
): void {
  sessions.update(db, sessionId, check);
}

export function selectSessionIdsOfOidcProvider(db: Database, providerId: string): string[] {
  return selectIds(db, "provider_id = :providerId", { providerId });
}

/** The sessions that a logout token names: one of the issuer's, or all of a user. */
export function selectSessionIdsOfLogout(
  db: Database,
  { sid, ...subject }: {
    providerId: string;
    issuer: string;
    subject: string | null;
    sid: string | null;
  },
): string[] {
  return sid === null
    ? selectIds(
      db,
      "provider_id = :providerId AND issuer = :issuer AND subject = :subject",
      subject,
    )
    : selectIds(
      db,
      `provider_id = :providerId AND issuer = :issuer AND sid = :sid
        AND subject = coalesce(:subject, subject)`,
      { sid, ...subject },
    );
}

const selectIds = (db: Database, condition: string, params: Params): string[] =>
  sessions.select(db, `WHERE ${condition}`, params).map(({ sessionId }) => sessionId);
