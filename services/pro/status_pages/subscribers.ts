/**
 * Subscribers: addresses that are notified of changes of a status page once they have confirmed.
 *
 * @module
 */

import { deleteOutboxMessages } from "../../../db/ce/outbox_messages.ts";
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
import { nodeCrypto, randomText } from "../../builtins.ts";
import { emailKey } from "../../ce/auth/emails.ts";
import { newSigningSecret } from "../../ce/webhooks/post.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound } from "../../errors.ts";
import { enqueueMessage } from "../../events/outbox.ts";
import { assertOutboundUrl } from "../../outbound/url.ts";
import { REDACTED } from "../../redact.ts";
import { SealError } from "../../secrets.ts";
import { existingPage } from "./existing_page.ts";
import { subscriberLinks } from "./links.ts";
import {
  isMailAddress,
  MAIL_ADDRESS_RULE,
  openAddress,
  sealAddress,
  sealSigningSecret,
  sealVerifyToken,
  SUBSCRIBER_CHANNELS,
  subscriberOfUnsubscribeToken,
} from "./subscriber_address.ts";

/** Most subscribers of one page: each is a message of every notice. */
export const SUBSCRIBERS_MAX = 5_000;

const VERIFY_TOKEN_BYTES = 32;

/** One of the two is given. */
export interface NewSubscriber {
  email?: string | undefined;
  webhook_url?: string | undefined;
}

/** One subscriber as shown. */
export interface Subscriber extends NewSubscriber {
  id: string;
  status: "pending" | "verified";
  created_at: string;
}

/** With what is shown only once. */
export interface CreatedSubscriber extends Subscriber {
  verify_token: string;
  /** Signs the notices of a webhook. */
  secret?: string;
}

/** The page of a subscription, for a visitor who followed one of its links. */
export interface SubscribedPage extends Pick<StatusPage, "name" | "theme"> {
  /** Where it is read; `null` while it is not public. */
  url: string | null;
}

/**
 * Newest first.
 *
 * @param options.redacted Leaves the addresses out: they are personal, and whoever knows that of a
 * webhook can write to it.
 * @throws {AppError} `not_found`.
 */
export function listSubscribers(
  { db, secrets }: Pick<Deps, "db" | "secrets">,
  pageId: string,
  { limit, offset, redacted }: { limit: number; offset: number; redacted: boolean },
): { subscribers: Subscriber[]; total: number; limit: number; offset: number } {
  existingPage(db, pageId);
  const subscribers = selectSubscribers(db, pageId, { limit, offset }).map((subscriber) =>
    shown(subscriber, redacted ? REDACTED : readableAddress(secrets, subscriber))
  );
  return { subscribers, total: countSubscribers(db, pageId), limit, offset };
}

/**
 * Stores a subscriber that is yet to be verified, and sends a mail to one with a mail address.
 *
 * @param linkBase The service's own address for the links in what it is sent, e.g.
 * `https://status.example.com`; `SERVICE_BASE_URL` wins.
 * @returns It with the token that verifies and, for a webhook, the secret that signs its notices;
 * neither is shown again.
 * @throws {AppError} `not_found` for the page; `invalid` for an address that may not be reached;
 * `conflict` for one that is subscribed already, without a mail server, or when there are too many.
 */
export async function createSubscriber(
  deps: Pick<Deps, "config" | "db" | "secrets" | "now" | "outbox" | "log">,
  pageId: string,
  given: NewSubscriber,
  linkBase: string,
): Promise<CreatedSubscriber> {
  const { db, secrets } = deps;
  existingPage(db, pageId);
  const { kind, address, compared } = await checkedAddress(deps, given);
  const addressKey = await addressKeyOf(secrets, kind, compared);

  // No await from here on: another request may have changed the page or its subscribers.
  existingPage(db, pageId);
  if (selectSubscriberByAddress(db, pageId, addressKey)) {
    throw new AppError("conflict", "This address is subscribed to this page already");
  }
  if (countSubscribers(db, pageId) >= SUBSCRIBERS_MAX) {
    throw new AppError("conflict", `A status page has at most ${SUBSCRIBERS_MAX} subscribers`);
  }
  return db.transaction(() =>
    storeSubscriber(deps, pageId, { kind, address, addressKey, linkBase, askedAt: null })
  );
}

/** What the address of a subscriber is found by. @param compared The address in canonical form. */
export function addressKeyOf(
  secrets: Deps["secrets"],
  kind: SubscriberKind,
  compared: string,
): Promise<string> {
  return secrets.fingerprint(`${kind} ${kind === "email" ? emailKey(compared) : compared}`);
}

/** Stores a subscriber and queues its request to confirm. To be called in a transaction. */
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
    token_hash: hashOf(token),
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
  return { ...shown(subscriber, address), verify_token: token, ...(secret && { secret }) };
}

/**
 * Notes that a subscriber wants to be told; once more changes nothing.
 *
 * @returns Whether this had been said before.
 * @throws {AppError} `not_found` for a token that is none of the page's.
 */
export function verifySubscriber(
  { config, db, now, log }: Pick<Deps, "config" | "db" | "now" | "log">,
  pageId: string,
  token: string,
): { already: boolean; page: SubscribedPage } {
  const subscriber = selectSubscriberByToken(db, pageId, hashOf(token));
  if (!subscriber) {
    throw new AppError("not_found", "This link is not valid, or the subscription was ended");
  }
  const isNew = updateSubscriberVerified(db, subscriber.id, now().toISOString());
  if (isNew) log.info("status page subscriber verified", { pageId, subscriberId: subscriber.id });
  return { already: !isNew, page: subscribedPage({ config, db }, subscriber) };
}

/**
 * Ends a subscription by the token in each of its notices; once more changes nothing.
 *
 * @returns The page that was subscribed to; `undefined` where the subscription had been ended.
 * @throws {AppError} `not_found` for a token that this service did not make.
 */
export async function unsubscribe(
  { config, db, secrets, log }: Pick<Deps, "config" | "db" | "secrets" | "log">,
  token: string,
): Promise<SubscribedPage | undefined> {
  const subscriber = await subscriberLeaving({ db, secrets }, token);
  if (!subscriber) return undefined;
  const page = subscribedPage({ config, db }, subscriber);
  db.transaction(() => forgetSubscriber(db, subscriber));
  log.info("status page subscriber left", {
    pageId: subscriber.page_id,
    subscriberId: subscriber.id,
  });
  return page;
}

/**
 * What {@linkcode unsubscribe} would end; ends nothing.
 *
 * @throws {AppError} `not_found` for a token that this service did not make.
 */
export async function pageToUnsubscribe(
  { config, db, secrets }: Pick<Deps, "config" | "db" | "secrets">,
  token: string,
): Promise<SubscribedPage | undefined> {
  const subscriber = await subscriberLeaving({ db, secrets }, token);
  return subscriber && subscribedPage({ config, db }, subscriber);
}

async function subscriberLeaving(
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
  const page = existingPage(db, subscriber.page_id);
  const url = page.is_public ? subscriberLinks(config, page, subscriber).page : null;
  return { name: page.name, theme: page.theme, url };
}

/** @throws {AppError} `not_found` also for a subscriber of another page. */
export function removeSubscriber(
  { db, log }: Pick<Deps, "db" | "log">,
  pageId: string,
  id: string,
): void {
  existingPage(db, pageId);
  const subscriber = selectSubscriber(db, id);
  if (subscriber?.page_id !== pageId) throw notFound("Subscriber", id);
  db.transaction(() => forgetSubscriber(db, subscriber));
  log.info("status page subscriber deleted", { pageId, subscriberId: id });
}

/** Deletes what waits for the subscribers of a page, and what they were sent. */
export function forgetMessagesOfPage({ db }: Pick<Deps, "db">, pageId: string): void {
  for (const { id, kind } of selectSubscriberTargets(db, pageId)) {
    deleteOutboxMessages(db, { channel: SUBSCRIBER_CHANNELS[kind], targetId: id });
  }
}

/** Deletes a subscriber with its messages. To be called in a transaction. */
export function forgetSubscriber(db: Deps["db"], { id, kind }: StoredSubscriber): void {
  deleteSubscriber(db, id);
  deleteOutboxMessages(db, { channel: SUBSCRIBER_CHANNELS[kind], targetId: id });
}

/** The address, and what it is compared by. */
async function checkedAddress(
  deps: Pick<Deps, "config">,
  { email, webhook_url }: NewSubscriber,
): Promise<{ kind: SubscriberKind; address: string; compared: string }> {
  if ((email === undefined) === (webhook_url === undefined)) {
    throw new AppError("invalid", "body: give either email or webhook_url");
  }
  if (webhook_url !== undefined) {
    const { href } = await assertOutboundUrl(deps, webhook_url, "public", "body.webhook_url");
    return { kind: "webhook", address: webhook_url, compared: href };
  }
  if (!isMailAddress(email!)) throw new AppError("invalid", `body.email: ${MAIL_ADDRESS_RULE}`);
  if (deps.config.smtpUrl === null) {
    throw new AppError(
      "conflict",
      "Email subscriptions are unavailable: SMTP_URL is not set",
    );
  }
  return { kind: "email", address: email!, compared: email! };
}

function shown(subscriber: StoredSubscriber, address: string): Subscriber {
  const { id, kind, verified_at, created_at } = subscriber;
  return {
    id,
    ...(kind === "email" ? { email: address } : { webhook_url: address }),
    status: verified_at === null ? "pending" : "verified",
    created_at,
  };
}

/** One that cannot be read any more is still listed, so that it can be deleted. */
function readableAddress(secrets: Deps["secrets"], subscriber: StoredSubscriber): string {
  try {
    return openAddress(secrets, subscriber);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    return REDACTED;
  }
}

/** The token is random enough that its plain hash tells nothing of it. */
function hashOf(token: string): string {
  return nodeCrypto().createHash("sha256").update(token).digest("base64url");
}
