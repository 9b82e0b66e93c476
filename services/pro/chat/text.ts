/**
 * The text of a chat message about an event: a headline starting with the server's name, the
 * details, the time and the event ID.
 *
 * @module
 */

import { type DescribedEvent, describeEvent } from "../../events/description.ts";
import { inline, moment, truncate } from "../../events/text.ts";
import type { Tone } from "../../events/kinds/kind.ts";
import { summaryOf } from "../../events/message.ts";
import { type Summarized, titlesOf } from "../../messages/rate_limit.ts";

const ICONS: Readonly<Record<Tone, string>> = {
  problem: "\u{1F534}",
  warning: "\u{1F7E0}",
  good: "\u{1F7E2}",
  news: "\u{1F535}",
};

/** Limit of a title in a summary, in UTF-16 code units. */
const TITLE_MAX = 120;

/**
 * Formats an event as plain text; the first line is the headline.
 *
 * @param max Limit in UTF-16 code units.
 * @param also Lines about other events.
 */
export function chatText(
  event: DescribedEvent,
  { max, also = [] }: { max: number; also?: readonly string[] },
): string {
  const { tone, headline, lines } = describeEvent(event);
  const end = `\n${moment(event.timestamp)}, event ${event.eventId}`;
  const text = [`${ICONS[tone]} ${inline(event.server)}: ${headline}`, ...lines, ...also].join(
    "\n",
  );
  return truncate(text, max - end.length) + end;
}

/** Line of a summary about an event. */
export const chatTitle = (event: DescribedEvent): string =>
  truncate(describeEvent(event).headline, TITLE_MAX);

/** Formats a summary of messages that were too many. */
export function chatSummary(
  { titles, count }: Summarized,
  { server, now, max }: { server: string; now: Date; max: number },
): string {
  const { lines, title, tone, timestamp } = summaryOf(titles, count, { server, now, link: null });
  const end = `\n${moment(timestamp)}`;
  return truncate([`${ICONS[tone]} ${title}`, ...lines].join("\n"), max - end.length) + end;
}

/** Reads what {@linkcode chatSummary} wrote. */
export function readChatSummary(text: string): Summarized {
  const [title = "", ...lines] = text.split("\n");
  const count = Number(/(\d+) more notifications$/.exec(title)?.[1] ?? 0);
  return { titles: titlesOf(lines, count), count };
}
