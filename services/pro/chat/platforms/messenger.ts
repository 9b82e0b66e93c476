/** Telegram, through the code of the notification channels. @module */

import {
  TELEGRAM_TEXT_MAX,
  telegramOutcome,
  telegramRequest,
} from "../../../messages/channels/kinds/telegram.ts";
import type { ChatPlatform } from "./platform.ts";

/** A bot token becomes part of a path. Telegram's are digits, a colon and 35 characters. */
const TOKEN = /^[\w:.-]{1,256}$/;

/** A number, negative for groups, or the name of a public channel with an `@`. */
const CHAT_ID = /^[@\w-]{1,128}$/;

export const messenger: ChatPlatform = {
  id: "messenger",
  alias: "telegram",
  required: ["bot_token", "chat_id"],
  textMax: TELEGRAM_TEXT_MAX,

  problem(field, value) {
    if (field === "bot_token" && !TOKEN.test(value)) return "must be the token of a bot";
    if (field === "chat_id" && !CHAT_ID.test(value)) {
      return "must be the number of a chat or the @name of a public channel";
    }
    return undefined;
  },

  request: ({ bot_token, chat_id, api_url }, text) =>
    telegramRequest({
      botToken: bot_token!,
      chatId: chat_id!,
      ...(api_url !== undefined && { apiUrl: api_url }),
    }, text),

  outcome: (answer, now) =>
    telegramOutcome(answer, now, { token: "bot_token", address: "api_url" }),
};
