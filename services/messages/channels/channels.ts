/** Notification channels: where people are told what happened. @module */

import {
  countOutboxMessages,
  deleteOutboxMessages,
  type OutboxMessage,
  selectOutboxMessages,
  updateQueuedFailed,
} from "../../../db/outbox_messages.ts";
import {
  countNotificationChannels,
  deleteNotificationChannel,
  insertNotificationChannel,
  selectNotificationChannel,
  selectNotificationChannels,
  type Severity,
  type StoredNotificationChannel,
  updateNotificationChannel,
} from "../../../db/notification_channels.ts";
import { deleteHeldNotifications } from "../../../db/held_notifications.ts";
import type { Page } from "../../../db/page.ts";
import type { Change } from "../../change.ts";
import { definedFields } from "../../change.ts";
import type { Deps } from "../../deps.ts";
import { AppError, requireFound, tooMany } from "../../errors.ts";
import { toDelivery } from "../../events/outbox_log.ts";
import { openIfPossible, openOrConflict } from "../../secrets/secrets.ts";
import {
  type ConfigChange,
  hasSecret,
  mergeConfig,
  openConfig,
  redactConfig,
  sealConfig,
} from "../config.ts";
import { type NewQuietHours, normalizeQuietHours, type QuietHours } from "../quiet_hours.ts";
import { parseChannelUrl } from "./url.ts";
import type { ChannelConfig, ChannelKind } from "./kinds/kind.ts";
import { dropGroups } from "../grouping.ts";
import { CHANNEL_KINDS, channelKind, type ChannelKindId } from "./kinds/mod.ts";
import type { NotificationMessage } from "../../events/message.ts";
import { NOTIFICATION_CHANNEL, targetOf } from "../queue.ts";

/** Longest time between a message and its digest, in minutes: a week. */
export const DIGEST_MINUTES_MAX = 7 * 24 * 60;

/** Limit of channels: each event is rendered and stored for every one of them. */
const CHANNELS_MAX = 100;

export interface NewNotificationChannel {
  name: string;
  /** Kind and config, or the URL that stands for both. */
  target: { kind: ChannelKindId; config: ConfigChange } | { url: string };
  events: string[];
  minSeverity: Severity;
  containers: string[] | null;
  stacks: string[] | null;
  quietHours: NewQuietHours | null;
  /** At most {@linkcode DIGEST_MINUTES_MAX}; 0: messages are sent at once. */
  digestMinutes: number;
  enabled: boolean;
}

export type NotificationChannelChange =
  & Change<Omit<NewNotificationChannel, "target">>
  & { config?: ConfigChange | undefined; url?: string | undefined };

/** A channel as the API returns it, with its secrets redacted. */
export interface NotificationChannel {
  id: string;
  name: string;
  kind: ChannelKindId;
  config: ChannelConfig;
  hasSecret: boolean;
  events: string[];
  minSeverity: Severity;
  containers: string[] | null;
  stacks: string[] | null;
  quietHours: QuietHours | null;
  digestMinutes: number;
  enabled: boolean;
  createdAt: string;
  updatedAt: string;
  lastDeliveryAt: string | null;
  lastError: string | null;
}

type WriteDeps = Pick<Deps, "config" | "db" | "secrets" | "now" | "log">;

/** The kinds of channels with the fields of their configs, in the order in which they are offered. */
export const listChannelKinds = () =>
  CHANNEL_KINDS.map(({ id, title, description, schemes, urlForm, fields }) => ({
    id,
    title,
    description,
    schemes: [...schemes],
    urlForm,
    fields: Object.entries(fields).map(([name, field]) => ({
      name,
      label: field.label,
      type: field.type,
      isSecret: field.isSecret === true,
      isRequired: field.isOptional !== true,
      hint: field.hint ?? null,
      placeholder: field.placeholder ?? null,
      options: field.options ? [...field.options] : null,
    })),
  }));

/** Newest first. */
export function listNotificationChannels(deps: Pick<Deps, "db" | "secrets">) {
  return selectNotificationChannels(deps.db).map((channel) => viewOf(deps, channel));
}

/** @throws {AppError} `not_found`. */
export function getNotificationChannel(
  deps: Pick<Deps, "db" | "secrets">,
  id: string,
): NotificationChannel {
  return viewOf(deps, findNotificationChannel(deps.db, id));
}

/**
 * Stores a new channel.
 *
 * @throws {AppError} `invalid` for a config that its kind cannot use; `conflict` for mail without a
 * mail server, and when there are too many channels.
 */
export async function createNotificationChannel(
  deps: WriteDeps,
  { target, quietHours, ...settings }: NewNotificationChannel,
): Promise<NotificationChannel> {
  const { kind, config: given } = "url" in target
    ? parseChannelUrl(target.url)
    : { kind: channelKind(target.kind), config: target.config };
  const hours = quietHours && normalizeQuietHours(quietHours);
  const config = await mergeConfig(deps, kind, given, undefined);
  assertLacksNothing(deps, kind, config);
  return viewOf(
    deps,
    storeChannel(deps, { ...settings, kind: kind.id, config, quietHours: hours }),
  );
}

/**
 * Changes the given fields, also within the config; its kind stays. Disabling a channel gives up
 * its queued messages.
 *
 * @throws {AppError} `not_found`; `invalid` and `conflict` as for a new one; `conflict` if the
 * stored config cannot be decrypted.
 */
export async function changeNotificationChannel(
  deps: WriteDeps,
  id: string,
  { config: given, url, quietHours, ...change }: NotificationChannelChange,
): Promise<NotificationChannel> {
  const before = findNotificationChannel(deps.db, id);
  const kind = channelKind(before.kind);
  const hours = quietHours && normalizeQuietHours(quietHours);
  const parsed = url === undefined ? undefined : parseChannelUrl(url);
  if (parsed && parsed.kind !== kind) {
    throw new AppError("invalid", `body.url: stands for ${parsed.kind.id}, not for ${kind.id}`);
  }
  const config = parsed
    ? await mergeConfig(deps, kind, parsed.config, undefined)
    : given && await mergeConfig(deps, kind, given, openStoredConfig(deps, before));
  if (config) assertLacksNothing(deps, kind, config);
  const changed = { ...change, quietHours: hours, ...(config && { kind: kind.id, config }) };
  return viewOf(deps, updateChannel(deps, id, changed));
}

/** A channel with a checked config. */
interface CheckedChannel extends Omit<NewNotificationChannel, "quietHours" | "target"> {
  kind: ChannelKindId;
  config: ChannelConfig;
  quietHours: QuietHours | null;
}

/** @throws {AppError} `conflict` when there are too many channels. */
export function storeChannel(
  { db, secrets, now, log }: WriteDeps,
  { config, events, ...settings }: CheckedChannel,
): StoredNotificationChannel {
  if (countNotificationChannels(db) >= CHANNELS_MAX) {
    throw tooMany("notification channels", CHANNELS_MAX);
  }
  const id = crypto.randomUUID();
  const createdAt = now().toISOString();
  insertNotificationChannel(db, {
    ...settings,
    id,
    sealed: sealConfig(secrets, id, config),
    events: [...new Set(events)],
    createdAt,
    updatedAt: createdAt,
  });
  log.info("notification channel created", { channelId: id, kind: settings.kind });
  return findNotificationChannel(db, id);
}

/** @throws {AppError} `not_found`, also if another request deleted it meanwhile. */
export function updateChannel(
  { db, secrets, now, log }: WriteDeps,
  id: string,
  { config, events, ...change }: Change<CheckedChannel>,
): StoredNotificationChannel {
  findNotificationChannel(db, id);
  db.transaction(() => {
    updateNotificationChannel(db, id, {
      ...definedFields(change),
      ...(events && { events: [...new Set(events)] }),
      ...(config && { sealed: sealConfig(secrets, id, config) }),
      updatedAt: now().toISOString(),
    });
    if (change.enabled === false) {
      updateQueuedFailed(db, targetOf(id), "The channel was disabled");
      deleteHeldNotifications(db, id);
      dropGroups({ db }, NOTIFICATION_CHANNEL, id);
    }
  });
  log.info("notification channel changed", { channelId: id });
  return findNotificationChannel(db, id);
}

/** Deletes a channel and its messages, queued ones included. @throws {AppError} `not_found`. */
export function removeNotificationChannel({ db, log }: Pick<Deps, "db" | "log">, id: string): void {
  findNotificationChannel(db, id);
  db.transaction(() => {
    deleteNotificationChannel(db, id);
    deleteOutboxMessages(db, targetOf(id));
    dropGroups({ db }, NOTIFICATION_CHANNEL, id);
  });
  log.info("notification channel deleted", { channelId: id });
}

/** Sent, failed and queued messages, newest first. @throws {AppError} `not_found`. */
export function listNotificationDeliveries({ db }: Pick<Deps, "db">, id: string, page: Page) {
  findNotificationChannel(db, id);
  const deliveries = selectOutboxMessages(db, targetOf(id), page).map(toTitledDelivery);
  return { deliveries, total: countOutboxMessages(db, targetOf(id)), ...page };
}

/** @throws {AppError} `not_found`. */
export function findNotificationChannel(db: Deps["db"], id: string): StoredNotificationChannel {
  return requireFound(selectNotificationChannel(db, id), "Notification channel", id);
}

const toTitledDelivery = (message: OutboxMessage) => ({
  ...toDelivery(message),
  title: (JSON.parse(message.payload) as NotificationMessage).title,
});

/** Such a channel could never send a message. */
function assertLacksNothing(
  deps: Pick<Deps, "config">,
  kind: ChannelKind,
  config: ChannelConfig,
): void {
  const problem = kind.lacks?.(config, deps.config);
  if (problem !== undefined) throw new AppError("conflict", problem);
}

/** @throws {AppError} `conflict` if the config cannot be decrypted. */
export const openStoredConfig = (
  { secrets }: Pick<Deps, "secrets">,
  channel: StoredNotificationChannel,
): ChannelConfig =>
  openOrConflict(
    () => openConfig(secrets, channel),
    "delete the channel and create it again",
  );

/** A channel whose config cannot be decrypted is still listed, so that it can be deleted. */
function viewOf(
  { secrets }: Pick<Deps, "secrets">,
  channel: StoredNotificationChannel,
): NotificationChannel {
  const { sealed: _, failingSince: __, failingReportedAt: ___, ...shown } = channel;
  const kind = channelKind(channel.kind);
  const config = openIfPossible(() => openConfig(secrets, channel)) ?? {};
  return {
    ...shown,
    kind: kind.id,
    config: redactConfig(kind, config),
    hasSecret: hasSecret(kind, config),
  };
}
