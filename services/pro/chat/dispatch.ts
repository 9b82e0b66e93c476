/** Queues chat messages about events, and delivers them to the platforms. @module */

import {
  selectChatChannel,
  selectChatChannels,
  selectSubscribedChatChannels,
  type StoredChatChannel,
  updateChatChannelDisabled,
} from "../../../db/pro/chat_channels.ts";
import type { Deps } from "../../deps.ts";
import { type AppEvent, createEnvelope } from "../../events/events.ts";
import { enqueueMessage } from "../../events/outbox.ts";
import { isSubscribed, subscribesTo } from "../../messages/filter.ts";
import { enqueueLimited } from "../../messages/rate_limit.ts";
import type {
  ChannelDeps,
  OutboxChannel,
  OutboxMessage,
  OutboxOutcome,
} from "../../events/outbox_channel.ts";
import type { OutboundDeps } from "../../outbound/url.ts";
import type { Recorder, RecorderDeps } from "../../events/recorder.ts";
import { failedOutcome } from "../../events/outbox_outcome.ts";
import { exchange } from "../../messages/exchange.ts";
import type { Bundle } from "../../messages/bundle.ts";
import { flushGroups, groupEvent, type Receivers } from "../../messages/grouping.ts";
import { chatPlatform, openChatConfig } from "./config.ts";
import type { DescribedEvent } from "../../events/description.ts";
import { chatSummary, chatText, chatTitle, readChatSummary } from "./text.ts";

/** The channel of the outbox; its targets are chat channels. */
export const CHAT = "chat";

type EnqueueDeps = Pick<Deps, "db" | "now" | "outbox">;
type ChatTarget = Pick<StoredChatChannel, "id" | "platform">;

/** Decides which channels get a message about an event, and when, as for notifications. */
export const chatRecorder: Recorder = {
  edition: "pro",
  isForPeople: true,
  record(deps, event, root, pause) {
    groupEvent(deps, receiversOf(deps, event), { event, root, pause });
  },
};

const receiversOf = (deps: RecorderDeps, event: AppEvent): Receivers => ({
  channel: CHAT,
  send: sender(deps),
  targets: selectChatChannels(deps.db).filter(({ enabled }) => enabled).map((channel) => ({
    id: channel.id,
    subscribes: (kind) => isSubscribed(channel, kind),
    wants: () => subscribesTo(channel, event),
  })),
});

const sender = (deps: EnqueueDeps) => (id: string, { event, also }: Bundle): void => {
  const channel = selectChatChannel(deps.db, id);
  if (channel) enqueueChat(deps, channel, event, also);
};

/**
 * Queues a custom event of a caller for each enabled channel subscribed to its type.
 *
 * @returns The ids of the messages, or of the summaries that they are in.
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

/**
 * Queues a message, or adds it to the summary of what exceeds the limit.
 *
 * @param also Lines about other events.
 * @returns The id of the message or summary.
 */
function enqueueChat(
  deps: EnqueueDeps,
  { id, platform }: ChatTarget,
  event: DescribedEvent,
  also: readonly string[] = [],
): string {
  const max = chatPlatform(platform).textMax;
  return enqueueLimited(deps, {
    channel: CHAT,
    targetId: id,
    eventKind: event.event,
    title: chatTitle(event),
    write: () => chatText(event, { max, also }),
    writeSummary: (summarized) =>
      chatSummary(summarized, { server: event.server, now: deps.now(), max }),
    readSummary: readChatSummary,
  });
}

/** Queues a test message, whatever the limit. @returns Its id. */
export function enqueueChatTest(
  deps: EnqueueDeps,
  { id, platform }: ChatTarget,
  event: DescribedEvent,
): string {
  const payload = chatText(event, { max: chatPlatform(platform).textMax });
  return enqueueMessage(deps, { channel: CHAT, targetId: id, eventKind: event.event, payload });
}

/** The outbox channel of chats: a target is a chat channel, a payload is the text. */
export const chatChannel: OutboxChannel = {
  name: CHAT,
  edition: "pro",
  resource: "/api/ext/service-pro/chatops/channels",
  // A pause that the platform requests is for the whole chat.
  isOrdered: true,
  collect: (deps) => flushGroups(deps, CHAT, sender(deps)),
  send: sendToChat,
  settle({ db, log, now }, { targetId }, { result }) {
    if (result === "gone" && updateChatChannelDisabled(db, targetId, now().toISOString())) {
      log.warn("chat channel disabled: the chat no longer exists", { channelId: targetId });
    }
  },
};

/** Makes one delivery attempt. @throws {OutboundError|SealError} */
async function sendToChat(
  deps: ChannelDeps & OutboundDeps,
  { targetId, eventKind, payload }: Pick<OutboxMessage, "targetId" | "eventKind" | "payload">,
  signal: AbortSignal,
): Promise<OutboxOutcome> {
  const channel = selectChatChannel(deps.db, targetId);
  if (!channel) return failedOutcome("The channel was deleted");
  if (!channel.enabled && eventKind !== "test") return failedOutcome("The channel is disabled");
  const platform = chatPlatform(channel.platform);
  const request = platform.request(openChatConfig(deps.secrets, channel), payload);
  const answer = await exchange(deps, request, { reach: "public", signal, readsBody: true });
  const outcome = platform.outcome(answer, deps.now());
  // As for webhooks, no refusal is final: the chat may be repaired before the last attempt.
  return outcome.result === "failed" ? { ...outcome, result: "retry" } : outcome;
}
