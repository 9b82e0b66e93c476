/**
 * The `status_page_subscribers` table: addresses that are notified of changes of a status page.
 *
 * @module
 */

import type { Database } from "../../database.ts";

export type SubscriberKind = "email" | "webhook";

/** One subscriber as stored. Times are ISO 8601, UTC. */
export interface StoredSubscriber {
  id: string;
  page_id: string;
  kind: SubscriberKind;
  /** The address, encrypted. */
  sealed: string;
  /** The secret that signs notices to a webhook, encrypted; `null` for notices without signature. */
  sealed_secret: string | null;
  /** Keyed hash of the address as it is compared; unique for a page. */
  address_key: string;
  /** Of the token that verifies; unique. */
  token_hash: string;
  /** The service's address as used by the request that subscribed it. */
  link_base: string;
  /** `null` until the subscriber has confirmed. */
  verified_at: string | null;
  created_at: string;
  /** When the page's form last asked for a confirmation; `null` when added through the API. */
  asked_at: string | null;
}

const COLUMNS = `
  id, page_id, kind, sealed, sealed_secret, address_key, token_hash, link_base, verified_at, created_at,
  asked_at`;

/** Newest first. */
export function selectSubscribers(
  db: Database,
  pageId: string,
  { limit, offset }: { limit: number; offset: number },
): StoredSubscriber[] {
  return db.all<StoredSubscriber>(
    `SELECT ${COLUMNS} FROM status_page_subscribers
     WHERE page_id = :pageId ORDER BY created_at DESC, id LIMIT :limit OFFSET :offset`,
    { pageId, limit, offset },
  );
}

export function countSubscribers(db: Database, pageId: string): number {
  return db.get<{ n: number }>(
    "SELECT count(*) AS n FROM status_page_subscribers WHERE page_id = :pageId",
    { pageId },
  )!.n;
}

/** Everyone of a page: what is needed to reach them. */
export function selectSubscriberTargets(
  db: Database,
  pageId: string,
): { id: string; kind: SubscriberKind; isVerified: boolean }[] {
  return db.all<{ id: string; kind: SubscriberKind; isVerified: number }>(
    `SELECT id, kind, verified_at IS NOT NULL AS isVerified FROM status_page_subscribers
     WHERE page_id = :pageId ORDER BY created_at, id`,
    { pageId },
  ).map((row) => ({ ...row, isVerified: row.isVerified === 1 }));
}

/** One subscriber, or `undefined` when the id is unknown. */
export function selectSubscriber(db: Database, id: string): StoredSubscriber | undefined {
  return db.get<StoredSubscriber>(
    `SELECT ${COLUMNS} FROM status_page_subscribers WHERE id = :id`,
    { id },
  );
}

/** The subscriber of a page whose token has a hash. */
export function selectSubscriberByToken(
  db: Database,
  pageId: string,
  tokenHash: string,
): StoredSubscriber | undefined {
  return db.get<StoredSubscriber>(
    `SELECT ${COLUMNS} FROM status_page_subscribers
     WHERE token_hash = :tokenHash AND page_id = :pageId`,
    { tokenHash, pageId },
  );
}

/** The subscriber of a page with an address. */
export function selectSubscriberByAddress(
  db: Database,
  pageId: string,
  addressKey: string,
): StoredSubscriber | undefined {
  return db.get<StoredSubscriber>(
    `SELECT ${COLUMNS} FROM status_page_subscribers
     WHERE page_id = :pageId AND address_key = :addressKey`,
    { pageId, addressKey },
  );
}

/** Subscribers of a page that its form asked and that have not confirmed. */
export function countUnconfirmed(db: Database, pageId: string): number {
  return db.get<{ n: number }>(
    `SELECT count(*) AS n FROM status_page_subscribers
     WHERE page_id = :pageId AND verified_at IS NULL AND asked_at IS NOT NULL`,
    { pageId },
  )!.n;
}

/** @returns How many were deleted. */
export function deleteUnconfirmedBefore(db: Database, askedAt: string): number {
  return db.run(
    "DELETE FROM status_page_subscribers WHERE verified_at IS NULL AND asked_at < :askedAt",
    { askedAt },
  );
}

export function insertSubscriber(db: Database, subscriber: StoredSubscriber): void {
  db.run(
    `INSERT INTO status_page_subscribers (${COLUMNS})
     VALUES (:id, :page_id, :kind, :sealed, :sealed_secret, :address_key, :token_hash, :link_base, :verified_at,
       :created_at, :asked_at)`,
    { ...subscriber },
  );
}

/** Leaves a subscriber alone that is verified already. @returns Whether it was not. */
export function updateSubscriberVerified(db: Database, id: string, verifiedAt: string): boolean {
  return db.run(
    `UPDATE status_page_subscribers SET verified_at = :verifiedAt
     WHERE id = :id AND verified_at IS NULL`,
    { id, verifiedAt },
  ) > 0;
}

export function deleteSubscriber(db: Database, id: string): void {
  db.run("DELETE FROM status_page_subscribers WHERE id = :id", { id });
}
