/** Events whose number can be read from what a receiver gets. @module */

import type { EventMap } from "../../services/events/kinds/mod.ts";

/** The first incidents end, with the events of these numbers. */
export const ENDED = { incidents: 4, from: 9, to: 12 };

/** Every event begins an incident, except 9 to 12, which end the incidents 1 to 4. */
export function incidentEvent(number: number): {
  kind: "incident.created" | "incident.resolved";
  data: EventMap["incident.created"] & EventMap["incident.resolved"];
} {
  const isEnd = number >= ENDED.from && number <= ENDED.to;
  const id = isEnd ? number - ENDED.from + 1 : number;
  return {
    kind: isEnd ? "incident.resolved" : "incident.created",
    data: {
      id: `i${id}`,
      title: `e${number}z`,
      severity: "major",
      status: isEnd ? "resolved" : "investigating",
      source: "manual",
    },
  };
}

/** The number of the event in a text, or how many events a summary stands for. */
export function readNumber(text: string): number | { summaryOf: number } {
  const summaryOf = /(\d+) more notifications/.exec(text)?.[1];
  if (summaryOf !== undefined) return { summaryOf: Number(summaryOf) };
  return Number(/e(\d+)z/.exec(text)?.[1]);
}
