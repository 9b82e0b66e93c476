/**
 * The text of a chat message about an event: a headline starting with the server's name, the
 * details, the time and the event ID.
 *
 * @module
 */

import {
  type DescribedEvent,
  describeEvent,
  inline,
  moment,
  type Tone,
  truncate,
} from "../../events/description.ts";

const ICONS: Readonly<Record<Tone, string>> = {
  problem: "\u{1F534}",
  warning: "\u{1F7E0}",
  good: "\u{1F7E2}",
  news: "\u{1F535}",
};

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
