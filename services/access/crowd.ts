/** Full tables to which anonymous clients add: a flood drops its own entries. @module */

import { networkOf } from "./address_group.ts";

/** Number of entries that are dropped from a full table at once, so that each new one need not search. */
export const DROPPED = 100;

/**
 * The entries to drop from a full table: the oldest of the network that has the most, and in it of
 * the client that has the most. What is left is shared equally.
 *
 * @param entries Key and address group of each, oldest first.
 */
export function mostCrowded<Key>(
  entries: Iterable<readonly [key: Key, group: string]>,
  count: number,
): Key[] {
  const newestFirst = [...entries].reverse();
  const ofClients = inTurns(newestFirst, ([, group]) => group);
  const ofNetworks = inTurns(ofClients, ([, group]) => networkOf(group));
  return ofNetworks.slice(-count).map(([key]) => key);
}

/** The first entry of each name, then the second one of each, and so on. */
function inTurns<Entry>(entries: readonly Entry[], nameOf: (entry: Entry) => string): Entry[] {
  const counts = new Map<string, number>();
  const placed = entries.map((entry) => {
    const name = nameOf(entry);
    const turn = (counts.get(name) ?? 0) + 1;
    counts.set(name, turn);
    return { entry, turn };
  });
  return placed.sort((a, b) => a.turn - b.turn).map(({ entry }) => entry);
}
