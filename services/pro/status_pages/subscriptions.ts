/**
 * Subscriptions through the form of a status page. The response does not reveal whether an address
 * is subscribed. An unconfirmed address receives at most one request for confirmation per day.
 *
 * @module
 */

import {
  countSubscribers,
  countUnconfirmed,
  deleteUnconfirmedBefore,
  selectSubscriberByAddress,
} from "../../../db/pro/status_pages/subscribers.ts";
import { selectStatusPageBySlug } from "../../../db/pro/status_pages/pages.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound } from "../../errors.ts";
import { linkBaseOf } from "./link_base.ts";
import {
  assertMailServer,
  createAddressKey,
  deleteWithMessages,
  storeSubscriber,
  SUBSCRIBERS_MAX,
} from "./subscribers.ts";
import { isMailAddress, MAIL_ADDRESS_RULE } from "../../outbound/mail_address.ts";

/** Shortest time between two confirmation mails to an address, in milliseconds. */
const RESEND_MS = 24 * 60 * 60 * 1000;

/** Time for which an unconfirmed subscription is kept, in milliseconds. */
const UNCONFIRMED_MS = 48 * 60 * 60 * 1000;

/** Limit of unconfirmed subscriptions per page, so that they cannot use up the other limit. */
const UNCONFIRMED_MAX = 1_000;

/** Whether a page has a subscription form. */
export const hasSubscribeForm = ({ smtpUrl }: Pick<Deps["config"], "smtpUrl">): boolean =>
  smtpUrl !== null;

/**
 * Sends a confirmation mail, unless the address is subscribed or got one within a day.
 *
 * @param visited Base URL of the visitor's request.
 * @throws {AppError} `not_found` for a page that is not public; `invalid` for an address that is
 * not valid; `conflict` without a mail server. Errors never depend on existing subscribers.
 */
export async function requestSubscription(
  deps: Pick<Deps, "config" | "db" | "secrets" | "now" | "outbox" | "log">,
  slug: string,
  email: string,
  visited: string,
): Promise<void> {
  const { config, db, secrets, now, log } = deps;
  const page = selectStatusPageBySlug(db, slug);
  if (!page?.is_public) throw notFound("Status page", slug);
  if (!isMailAddress(email)) throw new AppError("invalid", `email: ${MAIL_ADDRESS_RULE}`);
  assertMailServer(config);
  const linkBase = linkBaseOf(deps, page, visited);
  if (linkBase === undefined) {
    throw new AppError(
      "conflict",
      "Email subscriptions are unavailable: SERVICE_BASE_URL is not set",
    );
  }
  const addressKey = await createAddressKey(secrets, "email", email);

  const at = now();
  const known = selectSubscriberByAddress(db, page.id, addressKey);
  const askedAt = known && (known.asked_at ?? known.created_at);
  const isRecent = askedAt !== undefined && Date.parse(askedAt) > at.getTime() - RESEND_MS;
  if (known?.verified_at || isRecent) return;
  if (
    !known && (countUnconfirmed(db, page.id) >= UNCONFIRMED_MAX ||
      countSubscribers(db, page.id) >= SUBSCRIBERS_MAX)
  ) {
    log.warn("status page subscription refused: limit reached", { pageId: page.id });
    return;
  }
  db.transaction(() => {
    if (known) deleteWithMessages(db, known);
    storeSubscriber(deps, page.id, {
      kind: "email",
      address: email,
      addressKey,
      linkBase,
      // A subscriber added through the API never expires.
      askedAt: known?.asked_at === null ? null : at.toISOString(),
    });
  });
}

/** Deletes subscriptions from the form that were not confirmed in time. */
export function sweepUnconfirmed({ db, now }: Pick<Deps, "db" | "now">): void {
  deleteUnconfirmedBefore(db, new Date(now().getTime() - UNCONFIRMED_MS).toISOString());
}
