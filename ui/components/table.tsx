/**
 * A table that can be sorted, grouped and selected from. It renders only the rows near the window, so
 * that thousands of them cost no more than a few.
 *
 * @module
 */

import type { ComponentChildren } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { type Signal, useSignal } from "@preact/signals";
import { query, setQuery } from "../state/router.ts";
import { Icon } from "./icon.tsx";
import { Menu, type MenuItem } from "./menu.tsx";
import { usePlaces, useRowWindow } from "./row_window.ts";
import { addStyles } from "./styles.ts";
import { byCollation, collationKey, plain } from "./text.ts";
import styles from "./table.css" with { type: "text" };

addStyles(styles);

export interface Column<Row> {
  /** The header; also its name in `?sort=`, in lower case. */
  title: string;
  cell?: ((row: Row) => ComponentChildren) | undefined;
  /**
   * What `cell` leaves `undefined`: one line of text from a container, shown whole on hover, or `null`
   * for a dash. It costs no element besides the cell, which long tables have thousands of.
   */
  text?: (row: Row) => string | null;
  /** Makes it sortable. Rows without a value come last. */
  sort?: (row: Row) => string | number | null | undefined;
  /** Aligned to the right, with digits of equal width. */
  numeric?: boolean;
  /** Left out in narrow windows. */
  wide?: boolean;
  /** Class of the column's width; without one it shares what remains. */
  width?: "w-xs" | "w-s" | "w-m" | "w-l" | "w-name";
}

export interface TableProps<Row> {
  name: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** What rows are called for the user, in "Actions for <name>". */
  nameOf?: (row: Row) => string;
  actions?: (row: Row) => readonly MenuItem[];
  /** Keys of the selected rows; makes rows selectable. */
  selected?: Signal<ReadonlySet<string>>;
  /** Puts rows below headings that can be collapsed; rows of `null` come last, without one. */
  groupOf?: ((row: Row) => string | null) | undefined;
  /**
   * Rows can have several lines. All of them are rendered, as only rows of one height can be placed
   * without those above.
   */
  hasTallRows?: boolean;
  busy?: boolean;
  /** Column and direction of an unsorted address, e.g. `name` or `-created`. */
  defaultSort?: string;
  /** Whether the rows are already in the order of `defaultSort`. */
  isSorted?: boolean;
}

/** Below this number all rows are rendered. */
const VIRTUAL_MIN = 60;

/** A row, or the heading of a group. */
type Line<Row> = { key: string; row: Row } | { key: string; group: string; count: number };

export function Table<Row>(props: TableProps<Row>) {
  const { name, columns, rows, keyOf, nameOf, selected, actions, groupOf } = props;
  const { busy, defaultSort, isSorted, hasTallRows } = props;
  const sort = query.value.get("sort") ?? defaultSort;
  const closed = useSignal<ReadonlySet<string>>(new Set());
  const sorted = useMemo(
    () => isSorted && sort === defaultSort ? rows : sortRows(rows, columns, sort),
    [rows, columns, sort],
  );
  const keys = useMemo(() => sorted.map(keyOf), [sorted]);
  const lines = useMemo(
    () => toLines(sorted, keyOf, groupOf, closed.value),
    [sorted, groupOf, closed.value],
  );
  const body = useRef<HTMLTableSectionElement>(null);
  const isVirtual = useWasTrue(!hasTallRows && lines.length > VIRTUAL_MIN);
  const { first, end, rowPx, isMoving } = useRowWindow(body, lines.length, isVirtual);
  const hasFocus = body.current?.contains(document.activeElement) ?? false;
  const places = usePlaces(lines, { first, end: isVirtual ? end : first, isMoving, hasFocus });
  const shown = isVirtual ? places : lines.map((line, at) => ({ element: line.key, line, at }));

  const toggleGroup = (group: string) => {
    const next = new Set(closed.peek());
    if (!next.delete(group)) next.add(group);
    closed.value = next;
  };
  return (
    <div class="table-frame">
      <table
        class={classes(columns.length > 6 && "many-columns", isVirtual && "virtual")}
        aria-label={name}
        aria-busy={busy ? "true" : undefined}
        aria-rowcount={isVirtual ? lines.length + 1 : undefined}
      >
        <thead>
          <tr aria-rowindex={isVirtual ? 1 : undefined}>
            {selected && (
              <td class="w-check">
                <SelectAll selected={selected} keys={keys} />
              </td>
            )}
            {columns.map((column) => <Header key={column.title} column={column} sort={sort} />)}
            {actions && <td class="w-actions" />}
          </tr>
        </thead>
        <tbody ref={body} style={{ height: isVirtual ? `${lines.length * rowPx}px` : "" }}>
          {shown.map(({ element, line, at }) => {
            const index = isVirtual ? at + 2 : undefined;
            const top = isVirtual ? at * rowPx : undefined;
            return "group" in line
              ? (
                <tr key={element} class="group" aria-rowindex={index} style={placed(top)}>
                  <th scope="rowgroup">
                    <button
                      type="button"
                      aria-expanded={!closed.value.has(line.group)}
                      onClick={() => toggleGroup(line.group)}
                    >
                      <Icon name="chevron" />
                      {plain(line.group)} ({line.count})
                    </button>
                  </th>
                </tr>
              )
              : (
                <TableRow
                  key={element}
                  id={line.key}
                  row={line.row}
                  index={index}
                  top={top}
                  columns={columns}
                  selected={selected}
                  nameOf={nameOf}
                  actions={actions}
                />
              );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** It gets only what it draws: a row whose properties are the same is not drawn again. */
function TableRow<Row>({ id, row, index, top, columns, selected, nameOf, actions }: {
  id: string;
  row: Row;
  index: number | undefined;
  /** Pixels from the first row, in a table that is not rendered whole. */
  top: number | undefined;
  columns: readonly Column<Row>[];
  selected: Signal<ReadonlySet<string>> | undefined;
  nameOf: ((row: Row) => string) | undefined;
  actions: ((row: Row) => readonly MenuItem[]) | undefined;
}) {
  const name = plain(nameOf?.(row) ?? id);
  const isSelected = selected?.value.has(id);
  return (
    <tr aria-rowindex={index} aria-selected={isSelected} style={placed(top)}>
      {selected && (
        <td class="w-check">
          <input
            type="checkbox"
            aria-label={`Select ${name}`}
            checked={isSelected ?? false}
            onChange={() => toggle(selected, id)}
          />
        </td>
      )}
      {columns.map((column) => cellOf(column, row))}
      {actions && (
        <td class="w-actions">
          <Menu name={`Actions for ${name}`} items={() => actions(row)} />
        </td>
      )}
    </tr>
  );
}

/** Not a component, because it is drawn for each cell. */
function cellOf<Row>({ title, cell, text, numeric, wide, width }: Column<Row>, row: Row) {
  const others = classes(numeric && "numeric", wide && "wide", width);
  const content = cell?.(row);
  if (content !== undefined || !text) return <td key={title} class={others}>{content}</td>;
  const line = text(row);
  if (line === null) return <td key={title} class={classes("muted", others)}>–</td>;
  const shown = plain(line);
  return <td key={title} class={classes("cut", others)} title={shown}>{shown}</td>;
}

function Header<Row>({ column, sort }: { column: Column<Row>; sort: string | undefined }) {
  const { title, numeric, wide, width } = column;
  const key = sortKey(title);
  const direction = sort === key ? "ascending" : sort === `-${key}` ? "descending" : undefined;
  const next = direction === "ascending" ? `-${key}` : key;
  return (
    <th
      scope="col"
      class={classes(numeric && "numeric", wide && "wide", width)}
      aria-sort={column.sort ? direction ?? "none" : undefined}
    >
      {column.sort
        ? <button type="button" onClick={() => setQuery({ sort: next })}>{title}</button>
        : title}
    </th>
  );
}

function SelectAll({ selected, keys }: {
  selected: Signal<ReadonlySet<string>>;
  keys: readonly string[];
}) {
  const all = keys.length > 0 && keys.every((key) => selected.value.has(key));
  return (
    <input
      type="checkbox"
      aria-label="Select all"
      checked={all}
      indeterminate={!all && selected.value.size > 0}
      onChange={() => selected.value = new Set(all ? [] : keys)}
    />
  );
}

/** Whether it was true once: a filter of a long table must not cost all of its elements. */
function useWasTrue(condition: boolean): boolean {
  const was = useRef(false);
  return was.current ||= condition;
}

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

const sortKey = (title: string) => title.toLowerCase().replaceAll(" ", "-");

function toLines<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  groupOf: ((row: Row) => string | null) | undefined,
  closed: ReadonlySet<string>,
): Line<Row>[] {
  const line = (row: Row) => ({ key: keyOf(row), row });
  if (!groupOf) return rows.map(line);
  const groups = Map.groupBy(rows, groupOf);
  const ungrouped = groups.get(null) ?? [];
  const names = [...groups.keys()].filter((name) => name !== null).sort(byCollation);
  return [
    ...names.flatMap((group) => {
      const members = groups.get(group)!;
      const heading = { key: `group ${group}`, group, count: members.length };
      return [heading, ...closed.has(group) ? [] : members.map(line)];
    }),
    ...ungrouped.map(line),
  ];
}

/** `top` is in pixels. */
const placed = (top: number | undefined) => ({
  transform: top === undefined ? "" : `translateY(${top}px)`,
});

function toggle(selected: Signal<ReadonlySet<string>>, key: string): void {
  const next = new Set(selected.peek());
  if (!next.delete(key)) next.add(key);
  selected.value = next;
}

const classes = (...names: (string | false | undefined)[]) =>
  names.filter(Boolean).join(" ") || undefined;
