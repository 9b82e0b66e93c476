/** The last events. @module */

import { Section } from "../../components/page.tsx";
import { Empty, Loading } from "../../components/states.tsx";
import { connection, events, hostEvents } from "../../state/live.ts";
import { EventList } from "../../parts/event_list.tsx";

const SHOWN_MAX = 12;

/** With those of the fleet's hosts, each with the name of its host. */
export function RecentEvents() {
  const ofHosts = hostEvents.value;
  const all = ofHosts.length === 0 ? events.value : [...events.value, ...ofHosts]
    .sort((a, b) => Date.parse(b.timestamp) - Date.parse(a.timestamp));
  return (
    <Section title="Recent events" wide>
      {all.length === 0
        ? connection.value === "live"
          ? <Empty>Nothing has happened since Longshore started.</Empty>
          : <Loading name="Recent events" />
        : <EventList name="Recent events" events={all.slice(0, SHOWN_MAX)} />}
    </Section>
  );
}
