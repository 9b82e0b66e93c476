/**
 * Queues chat messages about events, and delivers them to the platforms.
 *
 * @module
 */

import type { StateDatabase } from "../../../db/database.ts";
import {
  selectChatChannel,
  selectSubscribedChatChannels,
  type StoredChatChannel,
  updateChatChannelDisabled,
  updateChatChannelQuietUntil,
} from "../../../db/pro/chat_channels.ts";
import { CHAT, updateChatMessagesPutOff } from "../../../db/pro/chat_messages.ts";
import type { Deps } from "../../deps.ts";
import { createEnvelope } from "../../events/events.ts";
import { enqueueMessage } from "../../events/outbox.ts";
import type {
  ChannelDeps,
  OutboxChannel,
  OutboxMessage,
  OutboxOutcome,
} from "../../events/outbox_channel.ts";
import { OutboundError } from "../../outbound/error.ts";
import { outboundRequest } from "../../outbound/http.ts";
import type { OutboundDeps } from "../../outbound/url.ts";
import type { Recorder } from "../../events/recorder.ts";
import { SealError } from "../../secrets.ts";
import { chatPlatform, openChatConfig } from "./config.ts";
import type { DescribedEvent } from "../../events/description.ts";
import { chatText } from "./text.ts";

/** Time limit of one attempt, in milliseconds. */
const TIMEOUT_MS = 10_000;

/** Bytes read from a response; the platforms send a few hundred. */
const RESPONSE_MAX = 16 * 1024;

/** Maximum pause that a platform can request, in milliseconds. */
const PAUSE_MAX_MS = 3_600_000;

type EnqueueDeps = Pick<Deps, "db" | "now" | "outbox">;

/**
 * Queues a message for each channel subscribed to the event. Nothing is queued during maintenance.
 */
export const chatRecorder: Recorder = {
  edition: "pro",
  record(deps, event) {
    if (deps.maintenance.active) return;
    for (const channel of selectSubscribedChatChannels(deps.db, event.event)) {
      enqueueChat(deps, channel, event);
    }
  },
};

/**
 * Queues a custom event of a caller for each enabled channel subscribed to its type.
 *
 * @returns The ids of the messages.
 */
export function dispatchToChats(
  deps: EnqueueDeps & Pick<Deps, "server">,
  { eventType, payload }: { eventType: string; payload: object },
): string[] {
  const event = { event: eventType, ...createEnvelope(deps), data: payload };
  return deps.db.transaction(() =>
    selectSubscribedChatChannels(deps.db, eventType).map((channel) =>
      enqueueChat(deps, channel, event)
    )
  );
}

/** Queues one message. @returns Its id. */
export function enqueueChat(
  deps: EnqueueDeps,
  { id, platform, quiet_until }: Pick<StoredChatChannel, "id" | "platform" | "quiet_until">,
  event: DescribedEvent,
): string {
  const { db, now } = deps;
  const messageId = enqueueMessage(deps, {
    channel: CHAT,
    targetId: id,
    eventKind: event.event,
    payload: chatText(event, { max: chatPlatform(platform).textMax }),
  });
  if (quiet_until !== null && quiet_until > now().toISOString()) {
    updateChatMessagesPutOff(db, id, quiet_until);
  }
  return messageId;
}

/** The outbox channel of chats: a target is a chat channel, a payload is the text. */
export const chatChannel: OutboxChannel = {
  name: CHAT,
  edition: "pro",
  send: sendToChat,
  settle({ db, log, now }, { targetId }, { result, afterMs = 0 }) {
    if (result === "gone" && updateChatChannelDisabled(db, targetId, now().toISOString())) {
      log.warn("chat channel disabled: the chat no longer exists", { channelId: targetId });
    }
    // The platform's rate limit applies to the whole channel, not to one message.
    if (result === "retry" && afterMs > 0) pauseChannel(db, targetId, now(), afterMs);
  },
};

/** Makes one delivery attempt. */
async function sendToChat(
  deps: ChannelDeps & OutboundDeps,
  { targetId, eventKind, payload }: Pick<OutboxMessage, "targetId" | "eventKind" | "payload">,
  signal: AbortSignal,
): Promise<OutboxOutcome> {
  const channel = selectChatChannel(deps.db, targetId);
  if (!channel) return failed("The channel was deleted");
  if (!channel.enabled && eventKind !== "test") return failed("The channel is disabled");
  try {
    const platform = chatPlatform(channel.platform);
    const { url, body } = platform.request(openChatConfig(deps.secrets, channel), payload);
    const response = await outboundRequest(deps, {
      url,
      reach: "public",
      method: "POST",
      headers: { accept: "application/json, text/plain", "content-type": "application/json" },
      body: JSON.stringify(body),
      timeoutMs: TIMEOUT_MS,
      bodyMax: RESPONSE_MAX,
      bodyOver: "cut",
      signal,
    });
    return platform.outcome({
      status: response.status,
      retryAfter: response.headers["retry-after"],
      text: response.text(),
    }, deps.now());
  } catch (error) {
    if (error instanceof SealError) return failed(error.message);
    if (!(error instanceof OutboundError)) throw error;
    return { result: "retry", status: null, error: error.message };
  }
}

function pauseChannel(db: StateDatabase, channelId: string, now: Date, pauseMs: number): void {
  const until = new Date(now.getTime() + Math.min(pauseMs, PAUSE_MAX_MS)).toISOString();
  updateChatChannelQuietUntil(db, channelId, until);
  updateChatMessagesPutOff(db, channelId, until);
}

const failed = (error: string): OutboxOutcome => ({ result: "failed", status: null, error });
