/**
 * Subscriptions through the form of a status page. The answer never depends on whether an address
 * is subscribed, and nothing is sent to an address until its owner has confirmed, apart from one
 * request to confirm in a day.
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
import { addressKeyOf, forgetSubscriber, storeSubscriber, SUBSCRIBERS_MAX } from "./subscribers.ts";
import { isMailAddress, MAIL_ADDRESS_RULE } from "./subscriber_address.ts";

/** An address is asked to confirm at most once in this time, in milliseconds. */
const ASK_AGAIN_MS = 24 * 60 * 60 * 1000;

/** How long a subscription waits for its confirmation, in milliseconds. */
const UNCONFIRMED_MS = 48 * 60 * 60 * 1000;

/** Unconfirmed subscriptions of one page, so that they cannot take the place of the others. */
const UNCONFIRMED_MAX = 1_000;

/** Whether the form can be offered. */
export const hasSubscribeForm = ({ smtpUrl }: Pick<Deps["config"], "smtpUrl">): boolean =>
  smtpUrl !== null;

/**
 * Sends a request to confirm to a mail address, unless it is subscribed or was asked within a day.
 *
 * @param linkBase As for `createSubscriber()`.
 * @throws {AppError} `not_found` for a page that is not public; `invalid` for an address that is
 * not valid; `conflict` without a mail server. Never because of who is subscribed.
 */
export async function requestSubscription(
  deps: Pick<Deps, "config" | "db" | "secrets" | "now" | "outbox" | "log">,
  slug: string,
  email: string,
  linkBase: string,
): Promise<void> {
  const { config, db, secrets, now, log } = deps;
  const page = selectStatusPageBySlug(db, slug);
  if (!page?.is_public) throw notFound("Status page", slug);
  if (!isMailAddress(email)) throw new AppError("invalid", `email: ${MAIL_ADDRESS_RULE}`);
  if (!hasSubscribeForm(config)) {
    throw new AppError("conflict", "Email subscriptions are unavailable: SMTP_URL is not set");
  }
  const addressKey = await addressKeyOf(secrets, "email", email);

  const at = now();
  const known = selectSubscriberByAddress(db, page.id, addressKey);
  const askedAt = known && (known.asked_at ?? known.created_at);
  const isRecent = askedAt !== undefined && Date.parse(askedAt) > at.getTime() - ASK_AGAIN_MS;
  if (known?.verified_at || isRecent) return;
  if (
    !known && (countUnconfirmed(db, page.id) >= UNCONFIRMED_MAX ||
      countSubscribers(db, page.id) >= SUBSCRIBERS_MAX)
  ) {
    log.warn("status page subscription refused: limit reached", { pageId: page.id });
    return;
  }
  db.transaction(() => {
    if (known) forgetSubscriber(db, known);
    storeSubscriber(deps, page.id, {
      kind: "email",
      address: email,
      addressKey,
      linkBase,
      // One added through the API waits for its confirmation without an end.
      askedAt: known?.asked_at === null ? null : at.toISOString(),
    });
  });
}

/** Deletes subscriptions through the form that were not confirmed in time. */
export function sweepUnconfirmed({ db, now }: Pick<Deps, "db" | "now">): void {
  deleteUnconfirmedBefore(db, new Date(now().getTime() - UNCONFIRMED_MS).toISOString());
}
