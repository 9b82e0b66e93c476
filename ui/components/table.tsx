/**
 * A table that can be sorted, grouped and selected from. It renders only the rows near the window, so
 * that thousands of them cost no more than a few.
 *
 * @module
 */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { computed, effect, type Signal, useSignal } from "@preact/signals";
import { query, setQuery } from "../state/router.ts";
import { Icon } from "./icon.tsx";
import { Menu, type MenuItem } from "./menu.tsx";
import { rowHeight, type Slot, useSlots } from "./row_window.ts";
import { addStyles } from "./styles.ts";
import { byCollation, collationKey, plain } from "./text.ts";
import styles from "./table.css" with { type: "text" };

addStyles(styles);

export interface Column<Row> {
  /** The header; also its name in `?sort=`, in lower case. */
  title: string;
  /** Draws a cell. */
  cell?: (row: Row) => ComponentChildren;
  /**
   * Writes into a cell instead, with `written_cells.ts`: when a long table is scrolled, this costs the
   * browser much less. It is called again when a signal that it has read changes.
   */
  write?: (cell: HTMLElement, row: Row) => void;
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

type RowLine<Row> = { kind: "row"; key: string; row: Row };
type GroupLine = { kind: "group"; key: string; group: string; count: number };
type Line<Row> = RowLine<Row> | GroupLine;

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
  const rowPx = rowHeight();
  const slots = useSlots(body, lines, { isVirtual, rowPx });

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
          {slots.map((slot) =>
            isGroup(slot)
              ? (
                <GroupRow
                  key={slot.id}
                  slot={slot}
                  rowPx={isVirtual ? rowPx : undefined}
                  closed={closed.value}
                  onToggle={toggleGroup}
                />
              )
              : (
                <TableRow
                  key={slot.id}
                  slot={slot as Slot<RowLine<Row>>}
                  rowPx={isVirtual ? rowPx : undefined}
                  columns={columns}
                  selected={selected}
                  nameOf={nameOf}
                  actions={actions}
                />
              )
          )}
        </tbody>
      </table>
    </div>
  );
}

/** A slot shows lines of one kind. */
const isGroup = <Row,>(slot: Slot<Line<Row>>): slot is Slot<GroupLine> =>
  slot.place.peek().line.kind === "group";

function GroupRow({ slot, rowPx, closed, onToggle }: {
  slot: Slot<GroupLine>;
  /** Height of the rows, if they are placed. */
  rowPx: number | undefined;
  closed: ReadonlySet<string>;
  onToggle: (group: string) => void;
}) {
  const element = useRef<HTMLTableRowElement>(null);
  useLayoutEffect(
    () => effect(() => placeRow(element.current!, slot.place.value.at, rowPx)),
    [slot, rowPx],
  );
  const { group, count } = slot.place.value.line;
  return (
    <tr ref={element} class="group">
      <th scope="rowgroup">
        <button type="button" aria-expanded={!closed.has(group)} onClick={() => onToggle(group)}>
          <Icon name="chevron" />
          {plain(group)} ({count})
        </button>
      </th>
    </tr>
  );
}

/**
 * An effect writes what depends on the row, so that the element can show another row without being
 * drawn again. Only columns with `cell` draw it again.
 */
function TableRow<Row>({ slot, rowPx, columns, selected, nameOf, actions }: {
  slot: Slot<RowLine<Row>>;
  /** Height of the rows, if they are placed. */
  rowPx: number | undefined;
  columns: readonly Column<Row>[];
  selected: Signal<ReadonlySet<string>> | undefined;
  nameOf: ((row: Row) => string) | undefined;
  actions: ((row: Row) => readonly MenuItem[]) | undefined;
}) {
  const { place } = slot;
  const element = useRef<HTMLTableRowElement>(null);
  const hasActions = Boolean(actions);
  useLayoutEffect(() => {
    const cells = [...element.current!.cells];
    const checkbox = selected && cells.shift()!.querySelector("input")!;
    const menu = hasActions && cells.pop()!.querySelector("button")!;
    return effect(() => {
      const { line: { row, key }, at } = place.value;
      placeRow(element.current!, at, rowPx);
      const name = plain(nameOf?.(row) ?? key);
      if (checkbox) {
        checkbox.ariaLabel = `Select ${name}`;
        checkbox.checked = selected.value.has(key);
        element.current!.ariaSelected = String(checkbox.checked);
      }
      if (menu) menu.ariaLabel = `Actions for ${name}`;
      for (const [at, { write }] of columns.entries()) write?.(cells[at]!, row);
    });
  }, [slot, rowPx, columns, selected, nameOf, hasActions]);
  const isDrawn = columns.some(({ cell }) => cell);
  // A component that reads a signal is not drawn again with the same properties.
  const row = useMemo(
    () => computed(() => isDrawn ? place.value.line.row : undefined),
    [slot, isDrawn],
  ).value;
  return (
    <tr ref={element}>
      {selected && (
        <td class="w-check">
          <input type="checkbox" onChange={() => toggle(selected, place.peek().line.key)} />
        </td>
      )}
      {columns.map(({ title, cell, numeric, wide, width }) => (
        <td key={title} class={classes(numeric && "numeric", wide && "wide", width)}>
          {cell?.(row as Row)}
        </td>
      ))}
      {actions && (
        <td class="w-actions">
          <Menu items={() => actions(place.peek().line.row)} />
        </td>
      )}
    </tr>
  );
}

/** @param rowPx Height of the rows; `undefined` if all are rendered, one below the other. */
function placeRow(element: HTMLTableRowElement, at: number, rowPx: number | undefined): void {
  if (rowPx === undefined) return;
  // The first row is the header.
  element.ariaRowIndex = String(at + 2);
  element.style.transform = `translateY(${at * rowPx}px)`;
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
  const keys = new Set<string>();
  const line = (row: Row): Line<Row> => {
    let key = keyOf(row);
    while (keys.has(key)) key += "'"; // E.g. an endpoint that is configured twice.
    keys.add(key);
    return { kind: "row", key, row };
  };
  if (!groupOf) return rows.map(line);
  const groups = Map.groupBy(rows, groupOf);
  const ungrouped = groups.get(null) ?? [];
  const names = [...groups.keys()].filter((name) => name !== null).sort(byCollation);
  return [
    ...names.flatMap((group) => {
      const members = groups.get(group)!;
      const heading: GroupLine = {
        kind: "group",
        key: `group ${group}`,
        group,
        count: members.length,
      };
      return [heading, ...closed.has(group) ? [] : members.map(line)];
    }),
    ...ungrouped.map(line),
  ];
}

function toggle(selected: Signal<ReadonlySet<string>>, key: string): void {
  const next = new Set(selected.peek());
  if (!next.delete(key)) next.add(key);
  selected.value = next;
}

const classes = (...names: (string | false | undefined)[]) =>
  names.filter(Boolean).join(" ") || undefined;
