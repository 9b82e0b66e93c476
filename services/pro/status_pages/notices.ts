/** Notices to the subscribers of a status page, by mail or webhook. @module */

import { deleteOutboxMessages } from "../../../db/outbox_messages.ts";
import {
  deleteNoticesBefore,
  insertNotice,
  selectNotice,
  type StatusPageNotice,
} from "../../../db/pro/status_pages/notices.ts";
import {
  deleteSubscriber,
  selectSubscriber,
  selectSubscriberTargets,
  type StoredSubscriber,
} from "../../../db/pro/status_pages/subscribers.ts";
import { selectStatusPage, type StatusPage } from "../../../db/pro/status_pages/pages.ts";
import { postWebhook } from "../../messages/webhooks/post.ts";
import type { Deps } from "../../deps.ts";
import { enqueueMessage } from "../../events/outbox.ts";
import type { ChannelDeps, OutboxChannel, OutboxMessage } from "../../events/outbox_channel.ts";
import type { Recorder } from "../../events/recorder.ts";
import { failedOutcome } from "../../events/outbox_outcome.ts";
import { mailBrandOf } from "../../access/brand_cache.ts";
import { type Mail, sendMail } from "../../outbound/mail.ts";
import { subscriberLinks } from "./links.ts";
import { noticeMail, verificationMail } from "./mails.ts";
import {
  openAddress,
  openSigningSecret,
  openVerifyToken,
  SUBSCRIBER_CHANNELS,
  unsubscribeToken,
} from "./subscriber_address.ts";

/** Longer than the outbox keeps messages, in milliseconds. */
const RETENTION_MS = 8 * 24 * 60 * 60 * 1000;

/** The payload of an outbox message: the ID of a notice, or a sealed verification token. */
type Payload = { notice: string; verification?: never } | { verification: string; notice?: never };

/**
 * Queues a notice for each verified subscriber of a public page. Nothing is queued during
 * maintenance.
 */
export const subscriberRecorder: Recorder = {
  edition: "pro",
  record(deps, { event, eventId, data }) {
    if (event !== "status_page.updated" || deps.maintenance.active) return;
    const { db, now } = deps;
    const id = eventId;
    const { pageId, component, incident, oldStatus, newStatus, message } = data;
    const { maintenance, startsAt, endsAt } = data;
    if (!selectStatusPage(db, pageId)?.is_public) return;
    const targets = selectSubscriberTargets(db, pageId).filter(({ isVerified }) => isVerified);
    if (targets.length === 0) return;

    insertNotice(db, {
      id,
      page_id: pageId,
      content: {
        component,
        incident,
        ...(maintenance !== undefined && { maintenance, starts_at: startsAt!, ends_at: endsAt! }),
        old_status: oldStatus,
        new_status: newStatus,
        message,
      },
      created_at: now().toISOString(),
    });
    const payload = JSON.stringify({ notice: id } satisfies Payload);
    for (const { id: targetId, kind } of targets) {
      enqueueMessage(deps, {
        channel: SUBSCRIBER_CHANNELS[kind],
        targetId,
        eventKind: event,
        payload,
      });
    }
  },
};

/** The outbox channel of subscribers with a mail address. */
export const mailChannel: OutboxChannel = {
  name: SUBSCRIBER_CHANNELS.email,
  edition: "pro",
  async send(deps, message, signal) {
    const recipient = findRecipient(deps, message);
    if (typeof recipient === "string") return failedOutcome(recipient);
    await sendMail(deps.config, await createMail(recipient, deps, message), signal);
    return { result: "sent", status: null, error: null };
  },
};

/** The outbox channel of subscribers with a webhook. */
export const subscriberWebhookChannel: OutboxChannel = {
  name: SUBSCRIBER_CHANNELS.webhook,
  edition: "pro",
  async send(deps, message, signal) {
    const { config, secrets } = deps;
    const recipient = findRecipient(deps, message);
    if (typeof recipient === "string") return failedOutcome(recipient);
    const { subscriber, page, notice } = recipient;
    const links = subscriberLinks(config, page, subscriber);
    const payload = JSON.stringify({
      event: message.eventKind,
      timestamp: notice!.created_at,
      // Subscribers are public, so that the server's name is left out.
      eventId: notice!.id,
      data: {
        page: page.name,
        ...notice!.content,
        page_url: links.page,
        unsubscribe_url: links.unsubscribe(await unsubscribeToken(secrets, subscriber.id)),
      },
    });
    const url = openAddress(secrets, subscriber);
    const secret = openSigningSecret(secrets, subscriber);
    return await postWebhook(deps, { url, secret, id: message.id, payload }, signal);
  },
  settle({ db, log }, { channel, targetId }, { result }) {
    if (result !== "gone") return;
    deleteSubscriber(db, targetId);
    deleteOutboxMessages(db, { channel, targetId });
    log.info("status page subscriber deleted: receiver responded with 410 Gone", {
      subscriberId: targetId,
    });
  },
};

/** Deletes notices that are no longer delivered. */
export function sweepNotices({ db, now }: Pick<Deps, "db" | "now">): void {
  deleteNoticesBefore(db, new Date(now().getTime() - RETENTION_MS).toISOString());
}

async function createMail(
  { subscriber, page, notice }: Recipient,
  { brand, config, secrets }: Pick<ChannelDeps, "brand" | "config" | "secrets">,
  { id, payload }: OutboxMessage,
): Promise<Mail> {
  const to = openAddress(secrets, subscriber);
  const links = subscriberLinks(config, page, subscriber);
  const look = { ...(brand.current && mailBrandOf(brand.current)), name: page.name };
  const own = page.theme.primary_color;
  const mailBrand = own === undefined ? look : { ...look, color: own };
  if (!notice) {
    const { verification } = JSON.parse(payload) as Payload;
    const token = openVerifyToken(secrets, subscriber.id, verification!);
    return { id, to, ...verificationMail(page, links.verify(token), mailBrand) };
  }
  const unsubscribeUrl = links.unsubscribe(await unsubscribeToken(secrets, subscriber.id));
  const urls = { page: links.page, unsubscribe: unsubscribeUrl };
  const content = noticeMail(page, notice, urls, mailBrand);
  return { id, to, ...content, unsubscribeUrl };
}

interface Recipient {
  subscriber: StoredSubscriber;
  page: StatusPage;
  /** `undefined` in a request for verification. */
  notice: StatusPageNotice | undefined;
}

/** Finds the recipient and the notice of a message, or explains why it is not sent. */
function findRecipient(
  { db }: Pick<ChannelDeps, "db">,
  { targetId, payload }: OutboxMessage,
): Recipient | string {
  const subscriber = selectSubscriber(db, targetId);
  const page = subscriber && selectStatusPage(db, subscriber.page_id);
  if (!subscriber || !page) return "The subscription has ended";
  const { notice: id } = JSON.parse(payload) as Payload;
  if (id === undefined) return { subscriber, page, notice: undefined };
  const notice = selectNotice(db, id);
  if (!notice) return "The notice is too old";
  if (subscriber.verified_at === null) return "The subscriber is not verified";
  if (!page.is_public) return "The page is no longer public";
  return { subscriber, page, notice };
}
