/**
 * Push notifications: queued per device and sent through a gateway with the Expo push API.
 *
 * @module
 */

import { selectProblemsOfKinds } from "../../../db/notification_problems.ts";
import { deletePushToken, selectPushToken } from "../../../db/push_tokens.ts";
import { enqueueMessage } from "../../events/outbox.ts";
import type { OutboxChannel, OutboxOutcome } from "../../events/outbox_channel.ts";
import { outboundRequest, type OutboundResponse } from "../../outbound/http.ts";
import type { Subject } from "../../events/decisions.ts";
import { type AppEvent, isOfSameHost } from "../../events/events.ts";
import type { Recorder, RecorderDeps } from "../../events/recorder.ts";
import { retryAfterMs } from "../../outbound/retry_after.ts";
import { decide } from "../causes.ts";
import { HOSTS_JOIN_MS } from "../group.ts";
import { pushText } from "./text.ts";
import { openPushToken, pushDevices } from "./tokens.ts";
import { withoutCredentials } from "../../outbound/url_credentials.ts";

const CHANNEL = "push";

const TIMEOUT_MS = 10_000;

/** A receipt takes about 100 bytes. */
const RESPONSE_MAX_BYTES = 64 * 1024;

/**
 * Queues a message for each registered device if a gateway is configured, except about what another
 * problem explains.
 */
export const pushRecorder: Recorder = {
  edition: "ce",
  isForPeople: true,
  takesHosts: true,
  hasReceivers: (deps) => deps.config.pushUrl !== null && pushDevices(deps).length > 0,
  record(deps, event, root, pause) {
    if (deps.config.pushUrl === null) return;
    const { explainedBy, isMuted, subject } = decide(deps, event, root, pause);
    const text = pushText(event);
    if (!text || explainedBy || isMuted || isFurtherHost(deps, event, subject)) return;
    const payload = JSON.stringify({ ...text, sound: "default", priority: "high" });
    for (const { id } of pushDevices(deps)) {
      enqueueMessage(deps, { channel: CHANNEL, targetId: id, eventKind: event.event, payload });
    }
  },
};

/**
 * Whether another host has gone away a moment before, as the same hub says: one push is enough for an
 * uplink.
 */
function isFurtherHost(
  { db, now }: RecorderDeps,
  event: AppEvent,
  subject: Subject | undefined,
): boolean {
  if (subject?.kind !== "host") return false;
  const at = now().getTime();
  return selectProblemsOfKinds(db, ["host"], new Date(at + 1).toISOString())
    .some(({ key, openedAt }) =>
      key !== subject.key && isOfSameHost(event, key) &&
      at - Date.parse(openedAt) < HOSTS_JOIN_MS
    );
}

/** A target is a registration; messages for a deleted registration are dropped. */
export const pushChannel: OutboxChannel = {
  name: CHANNEL,
  edition: "ce",

  async send({ accessPolicy, db, config, secrets, now }, { targetId, payload }, signal) {
    const device = selectPushToken(db, targetId);
    if (!device) return { result: "gone", status: null, error: "The device is not registered" };
    // Pushes are about this server and all hosts of its fleet; such a user cannot register a device.
    if ((await accessPolicy())?.hostLimits(device.userId)) {
      return { result: "gone", status: null, error: "The user is limited to hosts" };
    }
    if (config.pushUrl === null) {
      return { result: "gone", status: null, error: "PUSH_URL is not set" };
    }
    const { target, authorization } = withoutCredentials(config.pushUrl);
    const host = target.hostname.replace(/^\[(.*)\]$/, "$1");
    // The operator configures the gateway, so any address is allowed.
    const allowed = { config: { ...config, outboundAllow: [...config.outboundAllow, host] } };
    const response = await outboundRequest(allowed, {
      url: target.href,
      reach: "internal",
      method: "POST",
      headers: {
        accept: "application/json",
        "content-type": "application/json",
        ...(authorization !== undefined && { authorization }),
      },
      body: JSON.stringify([{ to: openPushToken(secrets, device), ...JSON.parse(payload) }]),
      timeoutMs: TIMEOUT_MS,
      bodyMax: RESPONSE_MAX_BYTES,
      signal,
    });
    return classifyResponse(response, now());
  },

  settle({ db, log }, { targetId }, { result, error }) {
    if (result === "gone" && deletePushToken(db, targetId)) {
      log.info("push registration deleted", { registration: targetId, reason: error });
    }
  },
};

/**
 * Codes of Expo's push tickets
 * (https://docs.expo.dev/push-notifications/sending-notifications/#individual-errors).
 */
const TICKET_ERRORS: Readonly<Record<string, Omit<OutboxOutcome, "status">>> = {
  DeviceNotRegistered: { result: "gone", error: "The device is not registered at the gateway" },
  MessageTooBig: { result: "failed", error: "The message is too large for the gateway" },
  MessageRateExceeded: {
    result: "retry",
    error: "The gateway's rate limit for this device is exceeded",
  },
  MismatchSenderId: {
    result: "failed",
    error: "The gateway's credentials belong to a different app",
  },
  InvalidCredentials: { result: "failed", error: "The gateway's credentials are invalid" },
};

function classifyResponse(response: OutboundResponse, at: Date): OutboxOutcome {
  const { status } = response;
  if (status === 200) return { status, ...ticketOutcome(parseTicket(response)) };
  const error = `The gateway answered ${status}`;
  // The message itself is invalid, so a retry would fail as well.
  if (status === 400 || status === 413) return { result: "failed", status, error };
  const afterMs = retryAfterMs(response.headers["retry-after"], at);
  return { result: "retry", status, error, ...(afterMs !== undefined && { afterMs }) };
}

function ticketOutcome(ticket: Ticket | undefined): Omit<OutboxOutcome, "status"> {
  if (ticket?.status === "ok") return { result: "sent", error: null };
  if (ticket?.status !== "error") {
    return { result: "retry", error: "The response is not from an Expo push API" };
  }
  const code = ticket.details?.error;
  return (typeof code === "string" && Object.hasOwn(TICKET_ERRORS, code)
    ? TICKET_ERRORS[code]
    : undefined) ?? { result: "retry", error: "The gateway refused the message" };
}

interface Ticket {
  status?: unknown;
  details?: { error?: unknown } | null;
}

/** The ticket of the message. Gateways answer with a list or with a single ticket. */
function parseTicket(response: OutboundResponse): Ticket | undefined {
  try {
    const { data } = response.json<{ data?: Ticket | Ticket[] } | null>() ?? {};
    return (Array.isArray(data) ? data[0] : data) ?? undefined;
  } catch {
    return undefined;
  }
}
