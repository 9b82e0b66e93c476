/** Events as the service words them. @module */

import { Link } from "../components/button.tsx";
import { plain } from "../base/text.ts";
import { Time } from "../components/time.tsx";
import type { LiveEvent } from "../state/live.ts";

/** Lines below a title; the others are in messages only. */
const LINES_MAX = 2;

const EVENT_TONES = { problem: "bad", warning: "warn", good: "good", news: "idle" };

export function EventList({ name, events }: { name: string; events: readonly LiveEvent[] }) {
  return (
    <ul class="events" aria-label={name}>
      {events.map((each) => {
        const { data: { id }, event, eventId, host, timestamp, title, tone } = each;
        const shown = plain(host === undefined ? title : `${host}: ${title}`);
        const pages = host === undefined ? "" : `/hosts/${host}`;
        return (
          <li key={eventId}>
            <span class={`state ${EVENT_TONES[tone]}`} />
            <p>
              {event.startsWith("container.") && typeof id === "string"
                ? <Link to={`${pages}/containers/${id.slice(0, 12)}`}>{shown}</Link>
                : <strong>{shown}</strong>} <span class="muted">{detailsOf(each)}</span>
            </p>
            <Time at={timestamp} />
          </li>
        );
      })}
    </ul>
  );
}

/** Details that a title leaves out, on one line. */
export const detailsOf = ({ lines }: LiveEvent): string =>
  plain(lines.slice(0, LINES_MAX).join(", "));
