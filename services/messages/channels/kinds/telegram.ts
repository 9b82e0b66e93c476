/** Telegram: a bot posts to a chat (https://core.telegram.org/bots/api#sendmessage). @module */

import { truncate } from "../../../events/text.ts";
import { bodyOf } from "../../../events/message.ts";
import { joinUrl } from "../../../outbound/url.ts";
import { apiUrl } from "./fields.ts";
import { kind, outcomeOf, parseJson, withoutMentions } from "./kind.ts";

const API = "https://api.telegram.org";

/** Limits of a message, in UTF-16 code units. */
const TITLE_MAX = 300;
const TEXT_MAX = 4_096;

/** Known descriptions of errors. The platform's own text is never shown. */
const REASONS: readonly [words: RegExp, reason: string][] = [
  [/chat not found/i, "the chat does not exist, or the bot is not a member"],
  [/upgraded to a supergroup/i, "the group became a supergroup; enter its new chat ID"],
  [
    /not enough rights|no rights|write forbidden/i,
    "the bot has no permission to write in the chat",
  ],
  [
    /kicked|blocked|not a member|deactivated|initiate/i,
    "the bot was removed or blocked in the chat",
  ],
];

interface BotAnswer {
  ok: unknown;
  description: unknown;
  result: { message_id?: unknown } | null;
  parameters: { retry_after?: unknown } | null;
}

export const telegram = kind("telegram", {
  title: "Telegram",
  description: "A chat to which a bot of yours posts",
  schemes: ["telegram", "tgram"],
  urlForm: "telegram://token@telegram?chats=chat-id",
  fields: {
    botToken: {
      type: "text",
      label: "Bot token",
      isSecret: true,
      pattern: [/^\d{1,20}:[\w-]{1,256}$/, "must be the token of a bot, e.g. 110201543:AAHd..."],
    },
    chatId: {
      type: "text",
      label: "Chat ID",
      hint: "The number of a chat or the @name of a public channel",
      pattern: [
        /^(-?\d{1,20}|@\w{1,64})$/,
        "must be the number of a chat or the @name of a public channel",
      ],
    },
    threadId: {
      type: "number",
      label: "Topic ID",
      hint: "Only for a topic of a forum",
      isOptional: true,
    },
    apiUrl,
  },

  // Without a parse mode, markup in the text has no effect.
  request({ botToken, chatId, threadId, apiUrl = API }, { message, reference }) {
    const title = truncate(message.title, TITLE_MAX);
    // Half of the limit, because of what prevents mentions.
    const body = bodyOf(message, (TEXT_MAX - title.length) / 2);
    const text = truncate(withoutMentions(`${title}\n${body}`), TEXT_MAX);
    return {
      url: joinUrl(apiUrl, `/bot${botToken}/sendMessage`),
      body: {
        chat_id: chatId,
        ...(threadId !== undefined && { message_thread_id: threadId }),
        text,
        entities: [{ type: "bold", offset: 0, length: text.split("\n", 1)[0]!.length }],
        link_preview_options: { is_disabled: true },
        ...(reference !== undefined && {
          reply_parameters: { message_id: Number(reference), allow_sending_without_reply: true },
        }),
      },
    };
  },

  outcome(answer, now) {
    const { ok, description, result, parameters } = parseJson<BotAnswer>(answer.text);
    const { status } = answer;
    if (status === 200 && ok !== true) {
      const error = "HTTP 200: the response is not from the Bot API; check the API URL";
      return { result: "retry", status, error };
    }
    // An unknown bot is 401; a malformed token is 404.
    const reason = status === 401 || status === 404
      ? "the bot token is not valid"
      : REASONS.find(([words]) => typeof description === "string" && words.test(description))?.[1];
    const seconds = parameters?.retry_after;
    const id = result?.message_id;
    return {
      ...outcomeOf(answer, now, {
        reason,
        pauseMs: typeof seconds === "number" ? seconds * 1000 : undefined,
      }),
      ...(typeof id === "number" && { reference: String(id) }),
    };
  },

  // telegram://token@telegram?chats=id:thread (Shoutrrr) and tgram://token/id:thread (Apprise).
  fromUrl({ scheme, username, password, host, path, param }) {
    const [botToken, chat] = scheme === "tgram"
      ? [host, path[0]]
      : [`${username}:${password}`, param("chats", "channels")];
    if (chat === undefined || chat.includes(",")) {
      return "must be telegram://token@telegram?chats=chat-id, with one chat";
    }
    const [chatId, threadId] = chat.split(":") as [string, string?];
    return { botToken, chatId, ...(threadId !== undefined && { threadId: Number(threadId) }) };
  },
});
