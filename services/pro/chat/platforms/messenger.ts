/**
 * Telegram: a bot writes into a chat (https://core.telegram.org/bots/api#sendmessage).
 *
 * @module
 */

import { retryAfterMs } from "../../../outbound/retry_after.ts";
import { type ChatAnswer, type ChatPlatform, otherwise, retry, under } from "./platform.ts";

const API = "https://api.telegram.org";

/** A bot token becomes part of a path; real ones are digits, a colon, and 35 of these. */
const TOKEN = /^[\w:.-]{1,256}$/;

/** A number, negative for groups, or the name of a public channel with an `@`. */
const CHAT_ID = /^[@\w-]{1,128}$/;

/** Of what Telegram says when it refuses; its words are matched and never repeated. */
const REASONS: readonly [words: RegExp, reason: string][] = [
  [/chat not found/i, "the chat does not exist, or the bot was never added to it"],
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

  // Without a parse mode nothing in a text is markup; the headline is marked by its place in it.
  request({ bot_token, chat_id, api_url }, text) {
    return {
      url: under(api_url ?? API, `/bot${bot_token}/sendMessage`),
      body: {
        chat_id,
        text,
        entities: [{ type: "bold", offset: 0, length: headlineLength(text) }],
        link_preview_options: { is_disabled: true },
      },
    };
  },

  outcome({ status, retryAfter, text }, now) {
    const answer = parsed(text);
    if (status === 200 && answer?.ok === true) return { result: "sent", status, error: null };
    if (status === 200) return retry(status, "the response is not from the Bot API; check api_url");
    if (status === 429) {
      const asked = answer?.parameters?.retry_after;
      const afterMs = Math.max(
        typeof asked === "number" && asked > 0 ? asked * 1000 : 0,
        retryAfterMs(retryAfter, now) ?? 0,
      );
      return retry(status, "too many messages", afterMs);
    }
    // An unknown bot is 401, or 404 when the token cannot be one.
    if (status === 401 || status === 404) return retry(status, "the bot_token is not valid");
    const { description } = answer ?? {};
    const known = typeof description === "string"
      ? REASONS.find(([words]) => words.test(description))?.[1]
      : undefined;
    return retry(status, known ?? otherwise(status));
  },
};

/** In UTF-16 code units, as the Bot API counts. */
function headlineLength(text: string): number {
  const end = text.indexOf("\n");
  return end < 0 ? text.length : end;
}

interface BotAnswer {
  ok?: unknown;
  description?: unknown;
  parameters?: { retry_after?: unknown } | null;
}

function parsed(text: ChatAnswer["text"]): BotAnswer | undefined {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}
