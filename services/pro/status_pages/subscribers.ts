/** Subscribers of a status page. They receive notices after they have been verified. @module */

import { deleteOutboxMessages } from "../../../db/outbox_messages.ts";
import type { Page, Paged } from "../../../db/page.ts";
import {
  countSubscribers,
  deleteSubscriber,
  insertSubscriber,
  selectSubscriber,
  selectSubscriberByAddress,
  selectSubscriberByToken,
  selectSubscribers,
  selectSubscriberTargets,
  type StoredSubscriber,
  type SubscriberKind,
  updateSubscriberVerified,
} from "../../../db/pro/status_pages/subscribers.ts";
import type { StatusPage } from "../../../db/pro/status_pages/pages.ts";
import { randomText, sha256 } from "../../builtins.ts";
import { emailKey } from "../../access/users/emails.ts";
import { newSigningSecret } from "../../messages/webhooks/post.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound } from "../../errors.ts";
import { enqueueMessage } from "../../events/outbox.ts";
import { isMailAddress, MAIL_ADDRESS_RULE } from "../../outbound/mail_address.ts";
import { assertOutboundUrl } from "../../outbound/url.ts";
import { REDACTED } from "../../text/redact.ts";
import { openIfPossible } from "../../secrets/secrets.ts";
import { recordLinkBase } from "./link_base.ts";
import { requirePage } from "./page_lookup.ts";
import { subscriberLinks } from "./links.ts";
import {
  openAddress,
  sealAddress,
  sealSigningSecret,
  sealVerifyToken,
  SUBSCRIBER_CHANNELS,
  subscriberOfUnsubscribeToken,
} from "./subscriber_address.ts";

/** Limit of subscribers per page: each notice is sent to all of them. */
export const SUBSCRIBERS_MAX = 5_000;

const VERIFY_TOKEN_BYTES = 32;

/** Exactly one of the fields is set. */
interface NewSubscriber {
  email?: string | undefined;
  webhook_url?: string | undefined;
}

/** A subscriber as returned by the API. */
interface Subscriber extends NewSubscriber {
  id: string;
  status: "pending" | "verified";
  created_at: string;
}

/** A new subscriber with its token and secret, which are returned only once. */
interface CreatedSubscriber extends Subscriber {
  verify_token: string;
  /** Signs the notices of a webhook. */
  secret?: string;
}

/** The page of a subscription, shown after following one of its links. */
export interface SubscribedPage extends Pick<StatusPage, "name" | "theme"> {
  /** `null` while the page is not public. */
  url: string | null;
}

/**
 * Newest first.
 *
 * @param options.redacted Whether to redact the addresses.
 * @throws {AppError} `not_found`.
 */
export function listSubscribers(
  { db, secrets }: Pick<Deps, "db" | "secrets">,
  pageId: string,
  { limit, offset, redacted }: Page & { redacted: boolean },
): { subscribers: Subscriber[] } & Paged {
  requirePage(db, pageId);
  const subscribers = selectSubscribers(db, pageId, { limit, offset }).map((subscriber) =>
    toSubscriber(subscriber, redacted ? REDACTED : openAddressOrRedact(secrets, subscriber))
  );
  return { subscribers, total: countSubscribers(db, pageId), limit, offset };
}

/**
 * Stores a pending subscriber and sends a verification mail to a mail address.
 *
 * @param linkBase The base URL of this service for links, e.g. `https://status.example.com`;
 * `SERVICE_BASE_URL` overrides it.
 * @throws {AppError} `not_found` for the page; `invalid` for an address that is not valid or not
 * allowed; `conflict` if it is already subscribed, if there is no mail server, or when the limit is
 * reached.
 */
export async function createSubscriber(
  deps: Pick<Deps, "config" | "db" | "secrets" | "now" | "outbox" | "log">,
  pageId: string,
  given: NewSubscriber,
  linkBase: string,
): Promise<CreatedSubscriber> {
  const { db, secrets } = deps;
  requirePage(db, pageId);
  const { kind, address, canonical } = await parseAddress(deps, given);
  const addressKey = await createAddressKey(secrets, kind, canonical);
  recordLinkBase(deps, linkBase);

  // No await from here on: another request may have changed the page or its subscribers.
  requirePage(db, pageId);
  if (selectSubscriberByAddress(db, pageId, addressKey)) {
    throw new AppError("conflict", "This address is already subscribed to this page");
  }
  if (countSubscribers(db, pageId) >= SUBSCRIBERS_MAX) {
    throw new AppError("conflict", `Limit of ${SUBSCRIBERS_MAX} subscribers per page reached`);
  }
  return db.transaction(() =>
    storeSubscriber(deps, pageId, { kind, address, addressKey, linkBase, askedAt: null })
  );
}

/** A hash to find an address by. @param address In canonical form. */
export function createAddressKey(
  secrets: Deps["secrets"],
  kind: SubscriberKind,
  address: string,
): Promise<string> {
  return secrets.fingerprint(`${kind} ${kind === "email" ? emailKey(address) : address}`);
}

/** Stores a subscriber and queues the verification mail. Must be called in a transaction. */
export function storeSubscriber(
  deps: Pick<Deps, "db" | "secrets" | "now" | "outbox" | "log">,
  pageId: string,
  { kind, address, addressKey, linkBase, askedAt }: {
    kind: SubscriberKind;
    address: string;
    addressKey: string;
    linkBase: string;
    askedAt: string | null;
  },
): CreatedSubscriber {
  const { db, secrets, now, log } = deps;
  const id = crypto.randomUUID();
  const token = randomText(VERIFY_TOKEN_BYTES);
  const secret = kind === "webhook" ? newSigningSecret() : undefined;
  const subscriber: StoredSubscriber = {
    id,
    page_id: pageId,
    kind,
    sealed: sealAddress(secrets, id, address),
    sealed_secret: secret === undefined ? null : sealSigningSecret(secrets, id, secret),
    address_key: addressKey,
    token_hash: sha256(token),
    link_base: linkBase,
    verified_at: null,
    created_at: now().toISOString(),
    asked_at: askedAt,
  };
  insertSubscriber(db, subscriber);
  if (kind === "email") {
    enqueueMessage(deps, {
      channel: SUBSCRIBER_CHANNELS.email,
      targetId: id,
      eventKind: "subscriber.verify",
      payload: JSON.stringify({ verification: sealVerifyToken(secrets, id, token) }),
    });
  }
  log.info("status page subscriber created", { pageId, subscriberId: id, kind });
  return { ...toSubscriber(subscriber, address), verify_token: token, ...(secret && { secret }) };
}

/**
 * Verifies a subscriber. Verifying again has no effect.
 *
 * @returns `already`: whether the subscriber was verified before.
 * @throws {AppError} `not_found` for an unknown token.
 */
export function verifySubscriber(
  { config, db, now, log }: Pick<Deps, "config" | "db" | "now" | "log">,
  pageId: string,
  token: string,
): { already: boolean; page: SubscribedPage } {
  const subscriber = selectSubscriberByToken(db, pageId, sha256(token));
  if (!subscriber) {
    throw new AppError("not_found", "This link is not valid, or the subscription has ended");
  }
  const isNew = updateSubscriberVerified(db, subscriber.id, now().toISOString());
  if (isNew) log.info("status page subscriber verified", { pageId, subscriberId: subscriber.id });
  return { already: !isNew, page: subscribedPage({ config, db }, subscriber) };
}

/**
 * Ends a subscription by the token in its notices.
 *
 * @returns The page of the subscription; `undefined` if it had already ended.
 * @throws {AppError} `not_found` for a token that this service did not issue.
 */
export async function unsubscribe(
  { config, db, secrets, log }: Pick<Deps, "config" | "db" | "secrets" | "log">,
  token: string,
): Promise<SubscribedPage | undefined> {
  const subscriber = await findUnsubscriber({ db, secrets }, token);
  if (!subscriber) return undefined;
  const page = subscribedPage({ config, db }, subscriber);
  db.transaction(() => deleteWithMessages(db, subscriber));
  log.info("status page subscriber unsubscribed", {
    pageId: subscriber.page_id,
    subscriberId: subscriber.id,
  });
  return page;
}

/**
 * The page that {@linkcode unsubscribe} would unsubscribe from.
 *
 * @throws {AppError} `not_found` for a token that this service did not issue.
 */
export async function pageToUnsubscribe(
  { config, db, secrets }: Pick<Deps, "config" | "db" | "secrets">,
  token: string,
): Promise<SubscribedPage | undefined> {
  const subscriber = await findUnsubscriber({ db, secrets }, token);
  return subscriber && subscribedPage({ config, db }, subscriber);
}

async function findUnsubscriber(
  { db, secrets }: Pick<Deps, "db" | "secrets">,
  token: string,
): Promise<StoredSubscriber | undefined> {
  const id = await subscriberOfUnsubscribeToken(secrets, token);
  if (id === undefined) throw new AppError("not_found", "This link is not valid");
  return selectSubscriber(db, id);
}

function subscribedPage(
  { config, db }: Pick<Deps, "config" | "db">,
  subscriber: StoredSubscriber,
): SubscribedPage {
  const page = requirePage(db, subscriber.page_id);
  const url = page.is_public ? subscriberLinks(config, page, subscriber).page : null;
  return { name: page.name, theme: page.theme, url };
}

/** @throws {AppError} `not_found` also for a subscriber of another page. */
export function removeSubscriber(
  { db, log }: Pick<Deps, "db" | "log">,
  pageId: string,
  id: string,
): void {
  requirePage(db, pageId);
  const subscriber = selectSubscriber(db, id);
  if (subscriber?.page_id !== pageId) throw notFound("Subscriber", id);
  db.transaction(() => deleteWithMessages(db, subscriber));
  log.info("status page subscriber deleted", { pageId, subscriberId: id });
}

/** Deletes all messages to the subscribers of a page. */
export function deleteMessagesOfPage(db: Deps["db"], pageId: string): void {
  for (const { id, kind } of selectSubscriberTargets(db, pageId)) {
    deleteOutboxMessages(db, { channel: SUBSCRIBER_CHANNELS[kind], targetId: id });
  }
}

/** Deletes a subscriber with its messages. Must be called in a transaction. */
export function deleteWithMessages(db: Deps["db"], { id, kind }: StoredSubscriber): void {
  deleteSubscriber(db, id);
  deleteOutboxMessages(db, { channel: SUBSCRIBER_CHANNELS[kind], targetId: id });
}

/** @returns The address as given and in canonical form. @throws {AppError} */
async function parseAddress(
  deps: Pick<Deps, "config">,
  { email, webhook_url }: NewSubscriber,
): Promise<{ kind: SubscriberKind; address: string; canonical: string }> {
  if ((email === undefined) === (webhook_url === undefined)) {
    throw new AppError("invalid", "body: give either email or webhook_url");
  }
  if (webhook_url !== undefined) {
    const { href } = await assertOutboundUrl(deps, webhook_url, "public", "body.webhook_url");
    return { kind: "webhook", address: webhook_url, canonical: href };
  }
  if (!isMailAddress(email!)) throw new AppError("invalid", `body.email: ${MAIL_ADDRESS_RULE}`);
  assertMailServer(deps.config);
  return { kind: "email", address: email!, canonical: email! };
}

/** @throws {AppError} `conflict`. */
export function assertMailServer({ smtpUrl }: Pick<Deps["config"], "smtpUrl">): void {
  if (smtpUrl !== null) return;
  throw new AppError("conflict", "Email subscriptions are unavailable: SMTP_URL is not set");
}

function toSubscriber(subscriber: StoredSubscriber, address: string): Subscriber {
  const { id, kind, verified_at, created_at } = subscriber;
  return {
    id,
    ...(kind === "email" ? { email: address } : { webhook_url: address }),
    status: verified_at === null ? "pending" : "verified",
    created_at,
  };
}

/** An address that cannot be decrypted is redacted, so that the subscriber can be deleted. */
function openAddressOrRedact(secrets: Deps["secrets"], subscriber: StoredSubscriber): string {
  return openIfPossible(() => openAddress(secrets, subscriber)) ?? REDACTED;
}
