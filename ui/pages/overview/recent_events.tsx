/** The last events. @module */

import { Section } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";
import { events } from "../../state/live.ts";
import { EventList } from "../../parts/event_list.tsx";

const SHOWN_MAX = 12;

export function RecentEvents() {
  return (
    <Section title="Recent events" wide>
      {events.value.length === 0
        ? <Empty>Nothing has happened since Longshore started.</Empty>
        : <EventList name="Recent events" events={events.value.slice(0, SHOWN_MAX)} />}
    </Section>
  );
}
