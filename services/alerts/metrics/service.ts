/** Alert metrics of what the service observes: updates, messages and certificates. @module */

import { selectOldestQueued } from "../../../db/outbox_messages.ts";
import { asAppError } from "../../errors.ts";
import type { Reading } from "../memory.ts";
import { metric, MINUTE_MS, ROUND_MS, type SourceDeps, unsupported } from "./kind.ts";

const DAY_MS = 24 * 60 * MINUTE_MS;

export const serviceMetrics = [
  metric("update_available_days", {
    target: "host",
    description: "Days since the oldest update of an image in use was seen",
    group: "Service",
    words: "update available for",
    name: "The oldest update",
    verb: "has been available for",
    unit: "days",
    threshold: 7,
    slow: { everyMs: 15 * MINUTE_MS, read: readUpdateDays },
    recommended: [{
      id: "updates-waiting",
      description: "A newer image of a container has been available for a month.",
      name: "Update not installed",
      operator: ">=",
      threshold: 30,
      durationSeconds: 0,
      severity: "info",
    }],
  }),
  metric("outbox_age_seconds", {
    target: "host",
    description: "Age of the oldest message that waits for its delivery, in seconds",
    group: "Service",
    words: "oldest waiting message",
    name: "The oldest message",
    verb: "has been waiting for",
    unit: "s",
    threshold: 3_600,
    slow: {
      everyMs: 3 * ROUND_MS,
      read({ db, now }) {
        const oldest = selectOldestQueued(db);
        return { value: oldest === undefined ? 0 : secondsSince(oldest, now()) };
      },
    },
    recommended: [{
      id: "messages-waiting",
      description: "Notifications or webhooks have not been delivered for an hour.",
      name: "Messages not delivered",
      threshold: 3_600,
      durationSeconds: 0,
    }],
  }),
  metric("certificate_days_remaining", {
    target: "host",
    description: "Days until the first certificate of SSL_DOMAINS ends",
    group: "Service",
    words: "certificate is valid for",
    name: "The certificate",
    verb: "is valid for",
    unit: "days",
    operator: "<",
    threshold: 14,
    slow: { everyMs: MINUTE_MS, read: readCertificateDays },
  }),
];

/** The fewest days that a certificate of `SSL_DOMAINS` is still valid. */
function readCertificateDays({ alerts, config, now }: SourceDeps): Reading {
  if (config.sslDomains.length === 0) {
    return unsupported("Set SSL_DOMAINS to the domains whose certificates are checked");
  }
  const [next] = (alerts.certificates ?? [])
    .toSorted((a, b) => a.expiresAt < b.expiresAt ? -1 : 1);
  if (!next) return { reason: "No certificate of SSL_DOMAINS has been read yet" };
  const days = (Date.parse(next.expiresAt) - now().getTime()) / DAY_MS;
  return { value: Math.floor(days), about: next.domain };
}

/** For how many days the oldest update of an image in use has been available. */
async function readUpdateDays(deps: SourceDeps): Promise<Reading> {
  // Loads what compares images with registries, which few installations do with an alert.
  const { listUpdates } = await import("../../updates/check/list.ts");
  try {
    const [oldest] = (await listUpdates(deps, {}))
      .filter(({ status }) => status === "update_available" || status === "pulled")
      .flatMap(({ firstSeenAt, image }) => firstSeenAt === null ? [] : [{ firstSeenAt, image }])
      .sort((a, b) => a.firstSeenAt < b.firstSeenAt ? -1 : 1);
    if (!oldest) return { value: 0 };
    const days = secondsSince(oldest.firstSeenAt, deps.now()) / 86_400;
    return { value: Math.floor(days), about: oldest.image };
  } catch (error) {
    const reason = asAppError(error)?.message;
    if (reason === undefined) throw error;
    return { reason };
  }
}

const secondsSince = (time: string, now: Date) =>
  Math.max(0, Math.round((now.getTime() - Date.parse(time)) / 1000));
