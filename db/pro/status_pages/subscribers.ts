/**
 * The `status_page_subscribers` table: addresses that are notified of changes of a status page.
 *
 * @module
 */

import { type Row, table, text } from "../../columns.ts";
import type { Database } from "../../database.ts";
import type { Page } from "../../page.ts";

export type SubscriberKind = "email" | "webhook";

const subscribers = table("status_page_subscribers", {
  id: text(),
  page_id: text(),
  kind: text<SubscriberKind>(),
  /** The address, encrypted. */
  sealed: text(),
  /** The secret that signs notices to a webhook, encrypted; `null` for unsigned notices. */
  sealed_secret: text<string | null>(),
  /** Keyed hash of the normalized address; unique per page. */
  address_key: text(),
  /** Hash of the token in confirmation links; unique. */
  token_hash: text(),
  /** Base URL of the service, as used by the request that subscribed. */
  link_base: text(),
  /** `null` until the subscriber has confirmed. */
  verified_at: text<string | null>(),
  created_at: text(),
  /** When a confirmation request was last sent; `null` when added through the API. */
  asked_at: text<string | null>(),
}, { order: "created_at DESC, id" });

/** One subscriber as stored. Times are ISO 8601, UTC. */
export type StoredSubscriber = Row<typeof subscribers>;

export const {
  find: selectSubscriber,
  insert: insertSubscriber,
  delete: deleteSubscriber,
} = subscribers;

/** Newest first. */
export function selectSubscribers(db: Database, pageId: string, page: Page): StoredSubscriber[] {
  return subscribers.page(db, page, "WHERE page_id = :pageId", { pageId });
}

export function countSubscribers(db: Database, pageId: string): number {
  return subscribers.countWhere(db, "WHERE page_id = :pageId", { pageId });
}

/** All subscribers of a page, with what is needed to notify them. */
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

/** The subscriber of a page with a token, found by the hash of the token. */
export function selectSubscriberByToken(
  db: Database,
  pageId: string,
  tokenHash: string,
): StoredSubscriber | undefined {
  return subscribers.selectOne(db, "WHERE token_hash = :tokenHash AND page_id = :pageId", {
    tokenHash,
    pageId,
  });
}

/** The subscriber of a page with an address. */
export function selectSubscriberByAddress(
  db: Database,
  pageId: string,
  addressKey: string,
): StoredSubscriber | undefined {
  return subscribers.selectOne(db, "WHERE page_id = :pageId AND address_key = :addressKey", {
    pageId,
    addressKey,
  });
}

/** Subscribers of a page that received a confirmation request and have not confirmed. */
export function countUnconfirmed(db: Database, pageId: string): number {
  return subscribers.countWhere(
    db,
    "WHERE page_id = :pageId AND verified_at IS NULL AND asked_at IS NOT NULL",
    { pageId },
  );
}

/** @returns How many were deleted. */
export function deleteUnconfirmedBefore(db: Database, askedAt: string): number {
  return db.run(
    "DELETE FROM status_page_subscribers WHERE verified_at IS NULL AND asked_at < :askedAt",
    { askedAt },
  );
}

/** @returns Whether the subscriber was unverified before. */
export function updateSubscriberVerified(db: Database, id: string, verifiedAt: string): boolean {
  return subscribers.update(db, id, { verified_at: verifiedAt }, "verified_at IS NULL");
}
