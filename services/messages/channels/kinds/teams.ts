/**
 * Microsoft Teams: a workflow that posts an Adaptive Card
 * (https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook).
 *
 * @module
 */

import { bodyOf, type Tone } from "../../../events/message.ts";
import { webhookUrl } from "./fields.ts";
import { kind } from "./kind.ts";

const COLOR: Record<Tone, string> = {
  problem: "attention",
  warning: "warning",
  good: "good",
  news: "accent",
};

/** A card may have 28 KB: a character takes up to 3 bytes, a line 80 more. */
const TEXT_MAX = 4_000;
const LINES_MAX = 100;

export const teams = kind("teams", {
  title: "Microsoft Teams",
  description: "A workflow that starts when a webhook request is received",
  schemes: ["teams", "workflows", "workflow"],
  urlForm: "teams:// and the rest of the workflow's address",
  fields: {
    url: {
      ...webhookUrl,
      label: "Workflow URL",
      hint: "Of a workflow that starts when a webhook request is received",
    },
  },

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

  // teams://?host=https://... (Shoutrrr), workflows://host/id/signature (Apprise), and teams:// with
  // the rest of the workflow's address.
  fromUrl({ scheme, base, path, query, param, username }) {
    const address = param("host");
    if (address?.startsWith("https://")) return { url: address };
    if (username !== "" || path.length === 0) return undefined;
    const [id, signature, ...more] = path;
    const isWhole = scheme === "teams" || signature === undefined || more.length > 0;
    if (isWhole) {
      const url = new URL(base(...path));
      url.search = String(query);
      return { url: url.href };
    }
    const isDirect = ["yes", "true", "1"].includes(param("pa", "powerautomate") ?? "");
    const before = isDirect ? ["powerautomate", "automations", "direct"] : [];
    const url = new URL(base(...before, "workflows", id!, "triggers", "manual", "paths", "invoke"));
    const version = isDirect ? "2022-03-01-preview" : "2016-06-01";
    url.search = String(
      new URLSearchParams({
        "api-version": param("ver", "api-version") ?? version,
        sp: "/triggers/manual/run",
        sv: "1.0",
        sig: signature!,
      }),
    );
    return { url: url.href };
  },
});
