/** The events of a container. @module */

import { Empty } from "../../components/states.tsx";
import { events } from "../../state/live.ts";
import { EventList } from "../../parts/event_list.tsx";
import type { TabProps } from "./tab.ts";

export function Events({ container: { id, name } }: TabProps) {
  const own = events.value.filter(({ event, data }) =>
    event.startsWith("container.") ? data.id === id : data.container === name
  );
  if (own.length === 0) {
    return <Empty>Nothing has happened to it since Longshore started.</Empty>;
  }
  return <EventList name="Events" events={own} />;
}
