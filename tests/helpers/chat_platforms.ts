/**
 * Telegram's Bot API and Slack's incoming webhooks on loopback. They refuse what the platforms
 * refuse, with the platforms' own messages.
 *
 * @module
 */

export interface SentToChat {
  path: string;
  // deno-lint-ignore no-explicit-any
  body: any;
}

export interface FakeChat extends AsyncDisposable {
  /** Base URL. */
  url: string;
  /** Accepted messages, in order. */
  messages: SentToChat[];
  /** Paths of all requests, including refused ones. */
  paths: string[];
  /** Answers the next request in place of the platform. */
  answerOnce(answer: () => Response): void;
}

const BOT_TOKEN = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw";

/** Identifiers that the fake platforms accept; all others are unknown. */
export const KNOWN = {
  token: BOT_TOKEN,
  chat: "-1001234567890",
  webhookPath: "/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
};

/** Maximum length of a message (https://core.telegram.org/bots/api#sendmessage). */
const MESSAGE_MAX = 4_096;

const apiError = (error_code: number, description: string, parameters?: object) =>
  Response.json({ ok: false, error_code, description, ...(parameters && { parameters }) }, {
    status: error_code,
  });

/** The response to a bot that exceeded its rate limit. */
export const floodWait = (seconds: number) =>
  apiError(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds });

/** `sendMessage` of the Bot API. */
export function fakeTelegram(): FakeChat {
  return fakeChat(({ path, type, text }) => {
    const [, token, method] = /^\/bot([^/]+)\/(\w+)$/.exec(path) ?? [];
    if (!/^\d+:[\w-]{30,40}$/.test(token ?? "") || method !== "sendMessage") {
      return apiError(404, "Not Found");
    }
    if (token !== KNOWN.token) return apiError(401, "Unauthorized");
    if (type !== "application/json") return apiError(400, "Bad Request: message text is empty");
    const body = JSON.parse(text);
    if (body.chat_id !== KNOWN.chat) return apiError(400, "Bad Request: chat not found");
    if (typeof body.text !== "string" || body.text.trim() === "") {
      return apiError(400, "Bad Request: message text is empty");
    }
    if (body.text.length > MESSAGE_MAX) return apiError(400, "Bad Request: message is too long");
    for (const { offset, length } of body.entities ?? []) {
      const end = offset + length;
      if (offset < 0 || length < 1 || end > body.text.length || splits(body.text, end)) {
        return apiError(
          400,
          `Bad Request: entity beginning at UTF-16 offset ${offset} ends after the end of the ` +
            `text at UTF-16 offset ${end}`,
        );
      }
    }
    return {
      body,
      answer: Response.json({
        ok: true,
        result: {
          message_id: 365,
          from: { id: 110201543, is_bot: true, first_name: "Watch", username: "watch_bot" },
          chat: { id: Number(KNOWN.chat), title: "On-call", type: "supergroup" },
          date: 1767268800,
          text: body.text,
          entities: body.entities,
        },
      }),
    };
  });
}

/** An incoming webhook. */
export function fakeSlack(): FakeChat {
  const word = (status: number, text: string) =>
    new Response(text, { status, headers: { "content-type": "text/html" } });
  return fakeChat(({ path, type, text }) => {
    if (path !== KNOWN.webhookPath) return word(404, "no_service");
    if (type !== "application/json") return word(400, "invalid_payload");
    const body = parsed(text);
    if (body === undefined) return word(400, "invalid_payload");
    if (typeof body.text !== "string" || body.text === "") return word(400, "no_text");
    return { body, answer: word(200, "ok") };
  });
}

function fakeChat(
  take: (request: { path: string; type: string | null; text: string }) =>
    | Response
    | { body: unknown; answer: Response },
): FakeChat {
  const messages: SentToChat[] = [];
  const paths: string[] = [];
  const answers: (() => Response)[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const path = new URL(request.url).pathname;
    const text = await request.text();
    paths.push(path);
    const answer = answers.shift();
    if (answer) return answer();
    if (request.method !== "POST") return new Response(null, { status: 405 });
    const taken = take({ path, type: request.headers.get("content-type"), text });
    if (taken instanceof Response) return taken;
    messages.push({ path, body: taken.body });
    return taken.answer;
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    messages,
    paths,
    answerOnce: (answer) => void answers.push(answer),
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Whether an offset splits a surrogate pair. */
const splits = (text: string, at: number) => /[\uD800-\uDBFF]$/.test(text.slice(0, at));

// deno-lint-ignore no-explicit-any
function parsed(text: string): any {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
