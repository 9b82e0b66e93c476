/** Reports a channel that has been failing for a day through the other channels. @module */

import {
  selectNotificationChannels,
  type StoredNotificationChannel,
  updateNotificationChannel,
} from "../../db/notification_channels.ts";
import type { Deps } from "../deps.ts";
import { inline, moment } from "../events/text.ts";
import { linkTo, type NotificationMessage } from "../events/message.ts";
import { enqueueNotification } from "./queue.ts";

const FAILING_MS = 24 * 3_600_000;

type FailingDeps = Pick<Deps, "config" | "db" | "maintenance" | "now" | "outbox" | "server">;

/**
 * Reports each channel once that has been failing for 24 hours, and once that it works again. A
 * report needs another channel that works and is not limited to containers or stacks; without one, it
 * waits.
 */
export function reportFailingChannels(deps: FailingDeps): void {
  const { db, maintenance, now } = deps;
  if (maintenance.active) return;
  const channels = selectNotificationChannels(db);
  const isFailing = ({ failingSince }: StoredNotificationChannel) =>
    failingSince !== null && now().getTime() - Date.parse(failingSince) >= FAILING_MS;
  const receivers = channels.filter((channel) =>
    channel.enabled && channel.containers === null && channel.stacks === null && !isFailing(channel)
  );
  for (const channel of channels) {
    const { failingReportedAt, failingSince, id } = channel;
    const hasRecovered = failingReportedAt !== null && failingSince === null;
    const isNews = channel.enabled && failingReportedAt === null && isFailing(channel);
    const others = receivers.filter((other) => other.id !== id);
    if (!hasRecovered && !(isNews && others.length > 0)) continue;
    const message = messageAbout(deps, channel, hasRecovered ? "end" : "begin");
    db.transaction(() => {
      const failingReportedAt = hasRecovered ? null : now().toISOString();
      updateNotificationChannel(db, id, { failingReportedAt });
      for (const other of others) enqueueNotification(deps, other, message);
    });
  }
}

function messageAbout(
  { config, now, server }: FailingDeps,
  { failingSince, id, lastError, name }: StoredNotificationChannel,
  phase: "begin" | "end",
): NotificationMessage {
  const isEnd = phase === "end";
  const what = isEnd ? "Notification channel works again" : "Notification channel failing";
  return {
    eventId: crypto.randomUUID(),
    event: isEnd ? "channel.recovered" : "channel.failing",
    timestamp: now().toISOString(),
    server: server.name,
    severity: isEnd ? "info" : "warning",
    tone: isEnd ? "good" : "warning",
    title: `${inline(server.name)}: ${what}: ${inline(name)}`,
    lines: isEnd ? [] : [
      `Nothing could be sent since ${moment(failingSince!)}`,
      ...(lastError === null ? [] : [`Last error: ${inline(lastError)}`]),
    ],
    thread: `notification channel ${id}`,
    phase,
    link: linkTo(config, "/notifications"),
    data: { channel: name, channelId: id },
  };
}
