/**
 * Sends the messages that were held back: one summary for each channel, in which the end of a problem
 * is joined with its beginning.
 *
 * @module
 */

import {
  deleteHeldNotifications,
  selectHeldNotifications,
  selectHoldingChannels,
} from "../../db/held_notifications.ts";
import {
  deleteThreadReference,
  selectNotificationChannel,
  type StoredNotificationChannel,
} from "../../db/notification_channels.ts";
import type { Deps } from "../deps.ts";
import { duration, inline, moment } from "../events/text.ts";
import { isOnCall } from "./holding.ts";
import { isAtLeast, linkTo, type NotificationMessage, summaryOf } from "../events/message.ts";
import { enqueueNow } from "./queue.ts";
import { isQuiet } from "./quiet_hours.ts";

/** The kind of event of a digest. */
export const DIGEST = "digest";

const MINUTE_MS = 60_000;

/** Problems that a digest names. */
const LINES_MAX = 50;

type DigestDeps = Pick<Deps, "config" | "db" | "maintenance" | "now" | "outbox">;

/** Queues the summary of each channel that is due. Nothing is queued during maintenance. */
export function sendDigests(deps: DigestDeps): void {
  const { config, db, maintenance, now } = deps;
  if (maintenance.active) return;
  for (const { channelId, heldAt } of selectHoldingChannels(db)) {
    const channel = selectNotificationChannel(db, channelId);
    if (!channel || !isDue(channel, new Date(heldAt), now())) continue;
    db.transaction(() => {
      const held = selectHeldNotifications(db, channelId);
      deleteHeldNotifications(db, channelId);
      const problems = groupProblems(held.map(({ message }) => message as NotificationMessage));
      const link = linkTo(config, "/");
      for (const message of messagesFor(channel, problems, { now: now(), link })) {
        enqueueNow(deps, channel, message);
      }
      for (const { last } of problems) {
        // The summary says that it ended, so that a new problem begins a new thread.
        if (last.phase === "end") deleteThreadReference(db, { channelId, thread: last.thread });
      }
    });
  }
}

/** @param heldSince Time of the oldest message. */
function isDue(
  { digestMinutes, quietHours }: StoredNotificationChannel,
  heldSince: Date,
  at: Date,
): boolean {
  if (quietHours !== null && isQuiet(quietHours, at)) return false;
  return at.getTime() - heldSince.getTime() >= digestMinutes * MINUTE_MS ||
    (quietHours !== null && isQuiet(quietHours, heldSince));
}

/** The messages about one problem. */
interface Problem {
  first: NotificationMessage;
  last: NotificationMessage;
  /** Whether it began and ended within the messages. */
  isOver: boolean;
}

/** In the order of their first messages. */
function groupProblems(messages: readonly NotificationMessage[]): Problem[] {
  return [...Map.groupBy(messages, ({ thread }) => thread).values()].map((ofThread) => {
    const first = ofThread[0]!;
    const last = ofThread.at(-1)!;
    return { first, last, isOver: first.phase !== "end" && last.phase === "end" };
  });
}

function messagesFor(
  channel: StoredNotificationChannel,
  problems: readonly Problem[],
  digest: { now: Date; link: string | null },
): NotificationMessage[] {
  if (isOnCall(channel)) {
    // An alert that was opened before must be closed.
    return problems.filter(({ first, isOver }) => !isOver || first.phase !== "begin")
      .map(({ last }) => last);
  }
  if (problems.length > 1) return [composeDigest(problems, digest)];
  return problems.map(({ first, last, isOver }) => isOver ? endedMessage(first, last) : last);
}

/** One message about a problem that began and ended. */
const endedMessage = (
  first: NotificationMessage,
  last: NotificationMessage,
): NotificationMessage => ({
  ...first,
  event: DIGEST,
  severity: last.severity,
  tone: last.tone,
  title: `${first.title}, ${overAfter(first, last)}`,
  phase: "report",
});

/** One message about several problems. It is as severe as the worst of those that last. */
function composeDigest(
  problems: readonly Problem[],
  digest: { now: Date; link: string | null },
): NotificationMessage {
  const { server } = problems[0]!.last;
  const lines = problems.slice(0, LINES_MAX).map(describeProblem);
  const worst = problems.filter(({ isOver }) => !isOver).map(({ last }) => last)
    .reduce<NotificationMessage | undefined>(
      (worst, message) => worst && isAtLeast(worst.severity, message.severity) ? worst : message,
      undefined,
    );
  const count = problems.length;
  const over = problems.filter(({ isOver }) => isOver).length;
  const areOver = over === count ? ", all over" : over > 0 ? `, ${over} of them over` : "";
  return {
    ...summaryOf(lines, count, { server, ...digest }),
    event: DIGEST,
    severity: worst?.severity ?? "info",
    tone: worst?.tone ?? "good",
    title: `${inline(server)}: ${count} notifications${areOver}`,
  };
}

/** E.g. `Container down: web, 2026-01-31 12:00:00 UTC, over after 5 min`. */
function describeProblem({ first, last, isOver }: Problem): string {
  const { server, timestamp, title } = isOver ? first : last;
  const headline = title.replace(`${inline(server)}: `, "");
  return [headline, moment(timestamp), ...(isOver ? [overAfter(first, last)] : [])].join(", ");
}

function overAfter(first: NotificationMessage, last: NotificationMessage): string {
  const seconds = (Date.parse(last.timestamp) - Date.parse(first.timestamp)) / 1_000;
  return `over after ${duration(`${seconds}`)}`;
}
