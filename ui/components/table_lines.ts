/** The lines of a table: its rows in their order, with the headings of groups. @module */

import { byCollation, collationKey } from "../base/text.ts";
import type { Column } from "./columns.tsx";

export interface RowLine<Row> {
  kind: "row";
  key: string;
  row: Row;
}

export interface GroupLine {
  kind: "group";
  key: string;
  group: string;
  count: number;
}

export type Line<Row> = RowLine<Row> | GroupLine;

/** A column's name in `?sort=`, e.g. `last-used`. */
export const sortKey = (title: string) => title.toLowerCase().replaceAll(" ", "-");

/** @param sort Column and direction, e.g. `name` or `-created`. */
export function sortRows<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  sort: string | undefined,
): readonly Row[] {
  const key = sort?.replace(/^-/, "");
  const column = columns.find(({ title, sort }) => sort && sortKey(title) === key);
  if (!column) return rows;
  const sign = sort!.startsWith("-") ? -1 : 1;
  const values = rows.map((row) => {
    const value = column.sort!(row);
    return { row, value: typeof value === "string" ? collationKey(value) : value };
  });
  values.sort(({ value: x }, { value: y }) => {
    if (x == null || y == null) return x == y ? 0 : x == null ? 1 : -1;
    return x < y ? -sign : x > y ? sign : 0;
  });
  return values.map(({ row }) => row);
}

/**
 * @param groupOf The heading that a row is below; rows of `null` come last, without one.
 * @param closed Groups whose rows are hidden.
 */
export function toLines<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  groupOf: ((row: Row) => string | null) | undefined,
  closed: ReadonlySet<string>,
): Line<Row>[] {
  const keys = new Set<string>();
  const toLine = (row: Row): Line<Row> => {
    let key = keyOf(row);
    while (keys.has(key)) key += "'"; // E.g. an endpoint that is configured twice.
    keys.add(key);
    return { kind: "row", key, row };
  };
  if (!groupOf) return rows.map(toLine);
  const groups = Map.groupBy(rows, groupOf);
  const ungrouped = groups.get(null) ?? [];
  groups.delete(null);
  const named = [...groups as Map<string, Row[]>].sort(([x], [y]) => byCollation(x, y));
  return [
    ...named.flatMap(([group, members]): Line<Row>[] => [
      { kind: "group", key: `group ${group}`, group, count: members.length },
      ...closed.has(group) ? [] : members.map(toLine),
    ]),
    ...ungrouped.map(toLine),
  ];
}
