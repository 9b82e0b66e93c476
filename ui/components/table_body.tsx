/** The body of a table: its rows, the headings of groups, and the menu of a row. @module */

import { useLayoutEffect, useRef } from "preact/hooks";
import type { Signal } from "@preact/signals";
import { plain } from "../base/text.ts";
import { focusPage } from "../state/router.ts";
import { Icon } from "./icon.tsx";
import { MenuButton, type MenuItem, OpenMenu } from "./menu.tsx";
import type { Column } from "./columns.tsx";
import type { GroupLine, Line } from "./table_lines.ts";
import { rowHeight, useVisibleRows } from "./visible_rows.ts";

interface RowProps<Row> {
  row: Row;
  /** Identifies it in `selected` and `menu`. */
  rowKey: string;
  /** Its index among all lines; `undefined` if all are rendered. */
  at: number | undefined;
  columns: readonly Column<Row>[];
  nameOf: (row: Row) => string;
  selected: Signal<ReadonlySet<string>> | undefined;
  actions: ((row: Row) => readonly MenuItem[]) | undefined;
  /** The open menu, one for all rows. */
  menu: Signal<RowMenu | undefined>;
}

export interface RowMenu {
  /** Of the row. */
  key: string;
  button: HTMLButtonElement;
  items: readonly MenuItem[];
}

interface BodyProps<Row> extends Omit<RowProps<Row>, "row" | "rowKey" | "at"> {
  lines: readonly Line<Row>[];
  /** Whether only the lines near the window are rendered. */
  isVirtual: boolean;
  isTwoLines: boolean;
  /** Groups whose rows are hidden. */
  closed: Signal<ReadonlySet<string>>;
}

/** A component of its own: scrolling draws neither the header nor the page again. */
export function TableBody<Row>(
  { lines, isVirtual, isTwoLines, closed, ...row }: BodyProps<Row>,
) {
  const body = useRef<HTMLTableSectionElement>(null);
  const rowPx = rowHeight(isTwoLines);
  const visible = useVisibleRows(body, lines.length, rowPx, isVirtual);
  useKeptFocus(body, row.menu);
  return (
    <tbody
      ref={body}
      style={isVirtual
        ? {
          height: `${lines.length * rowPx}px`,
          paddingTop: `${(visible[0] ?? 0) * rowPx}px`,
        }
        : { height: "", paddingTop: "" }}
    >
      {visible.map((index) => {
        const line = lines[index]!;
        const { key } = line;
        const at = isVirtual ? index : undefined;
        return line.kind === "group"
          ? <GroupRow key={key} line={line} at={at} closed={closed} />
          : <TableRow key={key} rowKey={key} row={line.row} at={at} {...row} />;
      })}
    </tbody>
  );
}

/** A row can go with its menu and with the focus, which the page then gets. */
function useKeptFocus(
  body: { current: HTMLElement | null },
  menu: Signal<RowMenu | undefined>,
): void {
  const hadFocus = body.current?.contains(document.activeElement);
  useLayoutEffect(() => {
    if (menu.peek()?.button.isConnected === false) menu.value = undefined;
    if (hadFocus && !body.current!.contains(document.activeElement)) focusPage();
  });
}

/** The menu of the row whose button was pressed. */
export function OpenRowMenu({ menu }: { menu: Signal<RowMenu | undefined> }) {
  const open = menu.value;
  if (!open) return null;
  const close = () => {
    // The next one may be open already.
    if (menu.peek() === open) menu.value = undefined;
  };
  const { key, button, items } = open;
  return <OpenMenu key={key} button={button} items={items} onClose={close} />;
}

/** The first row is the header. */
const rowIndex = (at: number | undefined) => at === undefined ? undefined : at + 2;

export const columnClass = (
  { numeric, wide, secondLine, width }: Column<never>,
): string | undefined =>
  [numeric && "numeric", wide && "wide", secondLine && "second-line", width].filter(Boolean).join(
    " ",
  ) || undefined;

function GroupRow({ line: { group, count }, at, closed }: {
  line: GroupLine;
  at: number | undefined;
  closed: Signal<ReadonlySet<string>>;
}) {
  return (
    <tr class="group" aria-rowindex={rowIndex(at)}>
      <th scope="rowgroup">
        <button
          type="button"
          aria-expanded={!closed.value.has(group)}
          onClick={() => toggle(closed, group)}
        >
          <Icon name="chevron" />
          {plain(group)} ({count})
        </button>
      </th>
    </tr>
  );
}

/** While its properties are the same, only a signal that it reads draws it again. */
function TableRow<Row>(
  { row, rowKey, at, columns, nameOf, selected, actions, menu }: RowProps<Row>,
) {
  // Rows without a menu or a checkbox need no name.
  const name = actions || selected ? plain(nameOf(row)) : "";
  const isSelected = selected?.value.has(rowKey);
  return (
    <tr aria-selected={isSelected} aria-rowindex={rowIndex(at)}>
      {selected && (
        <td class="w-check">
          <input
            type="checkbox"
            aria-label={`Select ${name}`}
            checked={isSelected}
            onChange={() => toggle(selected, rowKey)}
          />
        </td>
      )}
      {columns.map((column) => drawCell(column, row))}
      {actions && (
        <td class="w-actions">
          <MenuButton
            name={`Actions for ${name}`}
            onOpen={(button) => menu.value = { key: rowKey, button, items: actions(row) }}
          />
        </td>
      )}
    </tr>
  );
}

function drawCell<Row>(column: Column<Row>, row: Row) {
  const { class: own, ...look } = column.look?.(row) ?? {};
  const classes = [columnClass(column), own].filter(Boolean).join(" ") || undefined;
  return <td key={column.title} class={classes} {...look}>{column.cell(row)}</td>;
}

function toggle(set: Signal<ReadonlySet<string>>, key: string): void {
  const next = new Set(set.peek());
  if (!next.delete(key)) next.add(key);
  set.value = next;
}
