/**
 * Telegram: a bot posts to a chat (https://core.telegram.org/bots/api#sendmessage).
 *
 * @module
 */

import { retryAfterMs } from "../../../outbound/retry_after.ts";
import { type ChatAnswer, type ChatPlatform, describeStatus, joinUrl, retry } from "./platform.ts";

const API = "https://api.telegram.org";

/** A bot token becomes part of a path. Telegram's are digits, a colon and 35 characters. */
const TOKEN = /^[\w:.-]{1,256}$/;

/** A number, negative for groups, or the name of a public channel with an `@`. */
const CHAT_ID = /^[@\w-]{1,128}$/;

/** Known error descriptions. The platform's own text is never shown. */
const REASONS: readonly [words: RegExp, reason: string][] = [
  [/chat not found/i, "the chat does not exist, or the bot is not a member"],
  [/upgraded to a supergroup/i, "the group became a supergroup; enter its new chat_id"],
  [
    /not enough rights|no rights|write forbidden/i,
    "the bot has no permission to write in the chat",
  ],
  [
    /kicked|blocked|not a member|deactivated|initiate/i,
    "the bot was removed or blocked in the chat",
  ],
];

export const messenger: ChatPlatform = {
  id: "messenger",
  alias: "telegram",
  required: ["bot_token", "chat_id"],
  textMax: 4_096,

  problem(field, value) {
    if (field === "bot_token" && !TOKEN.test(value)) return "must be the token of a bot";
    if (field === "chat_id" && !CHAT_ID.test(value)) {
      return "must be the number of a chat or the @name of a public channel";
    }
    return undefined;
  },

  // Without a parse mode the text has no markup; the headline is bold by its offset.
  request({ bot_token, chat_id, api_url }, text) {
    return {
      url: joinUrl(api_url ?? API, `/bot${bot_token}/sendMessage`),
      body: {
        chat_id,
        text,
        entities: [{ type: "bold", offset: 0, length: headlineLength(text) }],
        link_preview_options: { is_disabled: true },
      },
    };
  },

  outcome({ status, retryAfter, text }, now) {
    const answer = parseAnswer(text);
    if (status === 200 && answer?.ok === true) return { result: "sent", status, error: null };
    if (status === 200) return retry(status, "the response is not from the Bot API; check api_url");
    if (status === 429) {
      const seconds = answer?.parameters?.retry_after;
      const afterMs = Math.max(
        typeof seconds === "number" && seconds > 0 ? seconds * 1000 : 0,
        retryAfterMs(retryAfter, now) ?? 0,
      );
      return retry(status, "too many messages", afterMs);
    }
    // An unknown bot is 401; a malformed token is 404.
    if (status === 401 || status === 404) return retry(status, "the bot_token is not valid");
    const { description } = answer ?? {};
    const known = typeof description === "string"
      ? REASONS.find(([words]) => words.test(description))?.[1]
      : undefined;
    return retry(status, known ?? describeStatus(status));
  },
};

/** Length of the first line in UTF-16 code units, as the Bot API counts. */
function headlineLength(text: string): number {
  const end = text.indexOf("\n");
  return end < 0 ? text.length : end;
}

interface BotAnswer {
  ok?: unknown;
  description?: unknown;
  parameters?: { retry_after?: unknown } | null;
}

function parseAnswer(text: ChatAnswer["text"]): BotAnswer | undefined {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}
