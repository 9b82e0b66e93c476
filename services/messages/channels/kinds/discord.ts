/**
 * Discord: webhooks of a channel (https://docs.discord.com/developers/resources/webhook).
 *
 * @module
 */

import { moment, truncate } from "../../../events/text.ts";
import type { Tone } from "../../../events/message.ts";
import { webhookUrl } from "./fields.ts";
import { escapeMarkdown, kind, outcomeOf, parseJson } from "./kind.ts";

const COLOR: Record<Tone, number> = {
  problem: 0xd92d20,
  warning: 0xdc6803,
  good: 0x079455,
  news: 0x1570ef,
};

/** Limits of an embed, in characters. */
const TITLE_MAX = 256;
const DESCRIPTION_MAX = 4_096;

export const discord = kind("discord", {
  title: "Discord",
  description: "A webhook of a channel",
  schemes: ["discord"],
  urlForm: "discord://token@webhook-id",
  fields: {
    url: webhookUrl,
  },

  request({ url }, { message: { title, lines, tone, link, timestamp } }) {
    const target = new URL(url);
    // Waits until the message is stored, so that a failure is known.
    target.searchParams.set("wait", "true");
    const end = `\n${moment(timestamp)}`;
    const text = escapeMarkdown(truncate(lines.join("\n"), DESCRIPTION_MAX / 2 - end.length));
    return {
      url: target.href,
      body: {
        allowed_mentions: { parse: [] },
        embeds: [{
          title: truncate(escapeMarkdown(truncate(title, TITLE_MAX)), TITLE_MAX),
          description: truncate(text, DESCRIPTION_MAX - end.length) + end,
          color: COLOR[tone],
          ...(link !== null && { url: link }),
        }],
      },
    };
  },

  outcome(answer, now) {
    const { retry_after } = parseJson<{ retry_after: unknown }>(answer.text);
    const pauseMs = typeof retry_after === "number" ? Math.ceil(retry_after * 1000) : undefined;
    return outcomeOf(answer, now, { pauseMs });
  },

  // discord://token@id (Shoutrrr) and discord://id/token (Apprise).
  fromUrl({ username, host, path, param }) {
    const token = username || path[0];
    if (token === undefined || !/^\d+$/.test(host)) return undefined;
    const url = new URL(`https://discord.com/api/webhooks/${host}/${encodeURIComponent(token)}`);
    const thread = param("thread_id", "thread");
    if (thread !== undefined) url.searchParams.set("thread_id", thread);
    return { url: url.href };
  },
});
