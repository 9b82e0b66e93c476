/**
 * A table that can be sorted, grouped and selected from. It renders only the rows near the window, so
 * that thousands of them cost no more than a few.
 *
 * @module
 */

import { type ComponentChildren, render } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { computed, effect, type Signal, useSignal } from "@preact/signals";
import { focusPage, query, setQuery } from "../state/router.ts";
import { Icon } from "./icon.tsx";
import { MenuButton, type MenuItem, OpenMenu } from "./menu.tsx";
import { rowHeight, type Slot, useSlots } from "./row_window.ts";
import { addStyles } from "./styles.ts";
import { byCollation, collationKey, plain } from "../base/text.ts";
import { copyCells } from "./written_cells.ts";
import styles from "./table.css" with { type: "text" };

addStyles(styles);

export interface Column<Row> {
  /** The header; also its name in `?sort=`, in lower case. */
  title: string;
  /** Draws a cell. */
  cell?: (row: Row) => ComponentChildren;
  /**
   * Writes into a cell instead, with `written_cells.ts`. If all columns do, this costs the browser much
   * less in a long table. It is called again when a signal that it has read changes.
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
  /** Name of a row for the user, in "Actions for <name>". */
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

/**
 * Above these numbers only the rows near the window are rendered. Before that, what does not fit in a
 * cell makes its row higher.
 */
const VIRTUAL_MIN = { written: 12, drawn: 60 };

type RowLine<Row> = { kind: "row"; key: string; row: Row };
type GroupLine = { kind: "group"; key: string; group: string; count: number };
type Line<Row> = RowLine<Row> | GroupLine;

/** The open menu of a row. */
interface RowMenu {
  /** The row's. */
  key: string;
  button: HTMLButtonElement;
  items: readonly MenuItem[];
}

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
  const isWritten = columns.every(({ write }) => write);
  const virtualMin = VIRTUAL_MIN[isWritten ? "written" : "drawn"];
  const isVirtual = useWasTrue(!hasTallRows && lines.length > virtualMin);
  const rowPx = rowHeight();
  const menu = useSignal<RowMenu | undefined>(undefined);
  const isHeld = () => menu.peek() !== undefined;
  const slots = useSlots(body, lines, { isVirtual, rowPx, isHeld });
  const [isSelectable, hasMenu] = [Boolean(selected), Boolean(actions)];
  const template = useMemo(
    () => isWritten ? new DocumentFragment() : undefined,
    [columns, isSelectable, hasMenu],
  );

  /** The row of an event. */
  const rowOf = ({ target }: Event) => {
    const slot = slots.find(({ element }) => element?.contains(target as Element));
    return slot?.place.peek().line as RowLine<Row>;
  };
  const openMenu = (event: Event) => {
    const button = (event.target as Element).closest<HTMLButtonElement>(".w-actions > button");
    if (!button || menu.peek()?.button === button) return; // The browser closes it.
    event.preventDefault();
    const { key, row } = rowOf(event);
    menu.value = { key, button, items: actions!(row) };
  };
  // The menu goes with its row, for example when that is deleted.
  useLayoutEffect(() => {
    if (menu.peek()?.button.isConnected === false) menu.value = undefined;
  });
  const toggleGroup = (group: string) => {
    const next = new Set(closed.peek());
    if (!next.delete(group)) next.add(group);
    closed.value = next;
  };
  const placedPx = isVirtual ? rowPx : undefined;
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
        <tbody
          ref={body}
          style={{ height: isVirtual ? `${lines.length * rowPx}px` : "" }}
          onClick={openMenu}
          onKeyDown={(event) => {
            if (event.key === "ArrowDown") openMenu(event);
          }}
          onChange={(event) => {
            const isCheckbox = (event.target as Element).matches(".w-check > input");
            if (selected && isCheckbox) toggle(selected, rowOf(event).key);
          }}
        >
          {slots.map((slot) =>
            isGroup(slot)
              ? (
                <GroupRow
                  key={slot.id}
                  slot={slot}
                  rowPx={placedPx}
                  closed={closed.value}
                  onToggle={toggleGroup}
                />
              )
              : (
                <TableRow
                  key={slot.id}
                  slot={slot as Slot<RowLine<Row>>}
                  rowPx={placedPx}
                  columns={columns}
                  selected={selected}
                  nameOf={nameOf}
                  hasMenu={hasMenu}
                  template={template}
                />
              )
          )}
        </tbody>
      </table>
      <RowMenus menu={menu} />
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
  useLayoutEffect(
    () => effect(() => placeRow(slot.element!, slot.place.value.at, rowPx)),
    [slot, rowPx],
  );
  const { group, count } = slot.place.value.line;
  return (
    <tr ref={(element) => void (slot.element = element)} class="group">
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
function TableRow<Row>({ slot, rowPx, columns, selected, nameOf, hasMenu, template }: {
  slot: Slot<RowLine<Row>>;
  /** Height of the rows, if they are placed. */
  rowPx: number | undefined;
  columns: readonly Column<Row>[];
  selected: Signal<ReadonlySet<string>> | undefined;
  nameOf: ((row: Row) => string) | undefined;
  hasMenu: boolean;
  /** Has the cells of all rows if no column draws, as soon as the first row is shown. */
  template: DocumentFragment | undefined;
}) {
  const { place } = slot;
  const isSelectable = Boolean(selected);
  useLayoutEffect(() => {
    const element = slot.element!;
    if (template) {
      const { row } = place.peek().line;
      if (!template.hasChildNodes()) writeFirst(row, template, { columns, isSelectable, hasMenu });
      copyCells(template, element);
    }
    const cells = [...element.cells];
    const checkbox = selected && cells.shift()!.querySelector("input")!;
    const menu = hasMenu && cells.pop()!.querySelector("button")!;
    return effect(() => {
      const { line: { row, key }, at } = place.value;
      placeRow(element, at, rowPx);
      const name = plain(nameOf?.(row) ?? key);
      if (checkbox) {
        checkbox.ariaLabel = `Select ${name}`;
        checkbox.checked = selected.value.has(key);
        element.ariaSelected = String(checkbox.checked);
      }
      if (menu) menu.ariaLabel = `Actions for ${name}`;
      for (let column = 0; column < columns.length; column++) {
        columns[column]!.write?.(cells[column]!, row);
      }
    });
  }, [slot, rowPx, columns, selected, nameOf, hasMenu, template]);
  useLayoutEffect(() => () => {
    if (slot.element?.contains(document.activeElement)) focusPage();
  }, [slot]);
  // A component that reads a signal is not drawn again with the same properties.
  const row = useMemo(
    () => computed(() => template ? undefined : place.value.line.row),
    [slot, template],
  ).value;
  return (
    <tr ref={(element) => void (slot.element = element)}>
      {!template && (
        <Cells columns={columns} row={row!} isSelectable={isSelectable} hasMenu={hasMenu} />
      )}
    </tr>
  );
}

function Cells<Row>({ columns, row, isSelectable, hasMenu }: {
  columns: readonly Column<Row>[];
  row: Row;
  isSelectable: boolean;
  hasMenu: boolean;
}) {
  return (
    <>
      {isSelectable && (
        <td class="w-check">
          <input type="checkbox" />
        </td>
      )}
      {columns.map(({ title, cell, numeric, wide, width }) => (
        <td key={title} class={classes(numeric && "numeric", wide && "wide", width)}>
          {cell?.(row)}
        </td>
      ))}
      {hasMenu && (
        <td class="w-actions">
          <MenuButton />
        </td>
      )}
    </>
  );
}

/** Writes the cells of a row that others copy, which is faster than to create theirs one by one. */
function writeFirst<Row>(row: Row, template: DocumentFragment, { columns, ...options }: {
  columns: readonly Column<Row>[];
  isSelectable: boolean;
  hasMenu: boolean;
}): void {
  render(<Cells columns={columns} row={row} {...options} />, template);
  const cells = [...template.children].slice(options.isSelectable ? 1 : 0);
  for (const [at, { write }] of columns.entries()) write!(cells[at] as HTMLElement, row);
}

/** One menu for all rows, which by far most of them do not need. */
function RowMenus({ menu }: { menu: Signal<RowMenu | undefined> }) {
  const open = menu.value;
  if (!open) return null;
  const close = () => {
    if (menu.peek() === open) menu.value = undefined;
  };
  const { key, button, items } = open;
  return <OpenMenu key={key} button={button} items={items} onClose={close} />;
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
