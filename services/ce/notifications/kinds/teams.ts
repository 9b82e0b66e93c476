/**
 * Microsoft Teams: a workflow that posts an Adaptive Card
 * (https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook).
 *
 * @module
 */

import { bodyOf, type Tone } from "../message.ts";
import type { ChannelKind } from "./kind.ts";

interface TeamsConfig {
  url: string;
}

const COLOR: Record<Tone, string> = {
  problem: "attention",
  warning: "warning",
  good: "good",
  news: "accent",
};

/** A card may have 28 KB: a character takes up to 3 bytes, a line 80 more. */
const TEXT_MAX = 4_000;
const LINES_MAX = 100;

export const teams: ChannelKind<TeamsConfig> = {
  id: "teams",
  name: "Microsoft Teams",
  schemes: ["teams", "workflows"],
  fields: { url: { type: "address", isSecret: true } },

  request({ url }, { message }) {
    // Unlike a TextBlock, a TextRun has no markup.
    const run = (text: string, style: object = {}) => ({
      type: "RichTextBlock",
      inlines: [{ type: "TextRun", text, ...style }],
    });
    const lines = bodyOf(message, TEXT_MAX).split("\n").filter(Boolean);
    // The last lines are the time and the link.
    const shown = lines.length <= LINES_MAX
      ? lines
      : [...lines.slice(0, LINES_MAX - 3), "...", ...lines.slice(-2)];
    const card = {
      $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
      type: "AdaptiveCard",
      version: "1.4",
      body: [
        run(message.title, { weight: "bolder", size: "medium", color: COLOR[message.tone] }),
        ...shown.map((line) => run(line)),
      ],
      ...(message.link !== null &&
        { actions: [{ type: "Action.OpenUrl", title: "Open Longshore", url: message.link }] }),
    };
    return {
      url,
      body: {
        type: "message",
        attachments: [{
          contentType: "application/vnd.microsoft.card.adaptive",
          contentUrl: null,
          content: card,
        }],
      },
    };
  },

  fromUrl({ base, path, query }) {
    if (path.length === 0) return "must be teams:// and the rest of the workflow's address";
    const url = new URL(base(...path));
    url.search = String(query);
    return { url: url.href };
  },
};
