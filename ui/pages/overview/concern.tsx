/** A line of the overview about what needs attention. @module */

import type { ComponentChildren } from "preact";
import { LinkButton } from "../../components/button.tsx";
import type { IconName } from "../../components/icon.tsx";

export interface Concern {
  key: string;
  /** A `note` leaves the host well. */
  tone: "bad" | "warn" | "note";
  icon: IconName;
  text: ComponentChildren;
  solution: ComponentChildren;
}

/** Concerns of one kind that are shown; the others are counted. */
const SHOWN_MAX = 5;

/** The first ones, and how many others there are. */
export function shorten<Item>(
  items: readonly Item[],
  concernOf: (item: Item) => Concern,
  { are, to }: { are: string; to: string },
): Concern[] {
  // A line about one more would take as much room as that one.
  if (items.length <= SHOWN_MAX + 1) return items.map(concernOf);
  const { tone, icon } = concernOf(items[SHOWN_MAX]!);
  return [...items.slice(0, SHOWN_MAX).map(concernOf), {
    key: to,
    tone,
    icon,
    text: `${(items.length - SHOWN_MAX).toLocaleString("en")} more ${are}`,
    solution: <LinkButton to={to}>Show all</LinkButton>,
  }];
}
