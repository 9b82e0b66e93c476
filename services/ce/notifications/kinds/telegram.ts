/**
 * Telegram: a bot posts to a chat (https://core.telegram.org/bots/api#sendmessage).
 *
 * @module
 */

import { truncate } from "../../../events/description.ts";
import { bodyOf } from "../message.ts";
import { type ChannelKind, joinUrl, outcomeOf, parseJson, withoutMentions } from "./kind.ts";

interface TelegramConfig {
  botToken: string;
  chatId: string;
  threadId?: number;
  apiUrl?: string;
}

const API = "https://api.telegram.org";

/** Limits of a message, in UTF-16 code units. */
const TITLE_MAX = 300;
const TEXT_MAX = 4_096;

interface BotAnswer {
  ok: unknown;
  result: { message_id?: unknown } | null;
  parameters: { retry_after?: unknown } | null;
}

export const telegram: ChannelKind<TelegramConfig> = {
  id: "telegram",
  name: "Telegram",
  schemes: ["telegram", "tgram"],
  fields: {
    botToken: {
      type: "text",
      isSecret: true,
      pattern: [/^\d{1,20}:[\w-]{10,100}$/, "must be the token of a bot, e.g. 110201543:AAHd..."],
    },
    chatId: {
      type: "text",
      pattern: [
        /^(-?\d{1,20}|@\w{1,64})$/,
        "must be the number of a chat or the @name of a public channel",
      ],
    },
    threadId: { type: "number", isOptional: true },
    apiUrl: { type: "address", isOptional: true },
  },

  // Without a parse mode, markup in the text has no effect; the title is bold by its offset.
  request({ botToken, chatId, threadId, apiUrl }, { message, reference }) {
    const title = withoutMentions(truncate(message.title, TITLE_MAX));
    const body = withoutMentions(bodyOf(message, (TEXT_MAX - title.length) / 2));
    return {
      url: joinUrl(apiUrl ?? API, `/bot${botToken}/sendMessage`),
      body: {
        chat_id: chatId,
        ...(threadId !== undefined && { message_thread_id: threadId }),
        text: truncate(`${title}\n${body}`, TEXT_MAX),
        entities: [{ type: "bold", offset: 0, length: title.length }],
        link_preview_options: { is_disabled: true },
        ...(reference !== undefined && {
          reply_parameters: {
            message_id: Number(reference),
            allow_sending_without_reply: true,
          },
        }),
      },
    };
  },

  outcome(answer, now) {
    const { ok, result, parameters } = parseJson<BotAnswer>(answer.text);
    const { status } = answer;
    if (status === 200 && ok !== true) {
      return { result: "retry", status, error: "The response is not from Telegram's Bot API" };
    }
    const seconds = parameters?.retry_after;
    const id = result?.message_id;
    return {
      ...outcomeOf(answer, now, {
        pauseMs: typeof seconds === "number" ? seconds * 1000 : undefined,
      }),
      ...(typeof id === "number" && { reference: String(id) }),
    };
  },

  // telegram://token@telegram?chats=id (Shoutrrr) and tgram://token/id (Apprise).
  fromUrl({ scheme, username, password, host, path, query }) {
    const [botToken, chatId] = scheme === "tgram"
      ? [host, path[0]]
      : [`${username}:${password}`, query.get("chats") ?? query.get("channels") ?? undefined];
    if (chatId === undefined || chatId.includes(",")) {
      return "must be telegram://token@telegram?chats=chat-id, with one chat";
    }
    return { botToken, chatId };
  },
};
