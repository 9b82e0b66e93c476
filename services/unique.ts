/** Lists without repetitions. @module */

/** The first of the items with each key. */
export const unique = <Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] =>
  [...Map.groupBy(items, keyOf).values()].map(([first]) => first!);
