/** The body of a table: its rows and the headings of groups. @module */

import { useMemo, useRef } from "preact/hooks";
import type { Signal } from "@preact/signals";
import { plain } from "../base/text.ts";
import { Icon } from "./icon.tsx";
import { Menu, type MenuItem } from "./menu.tsx";
import type { Column } from "./columns.tsx";
import type { GroupLine, Line, RowLine } from "./table_lines.ts";
import { rowHeight, useVisibleRows } from "./visible_rows.ts";

interface RowProps<Row> {
  line: RowLine<Row>;
  /** Its index among all lines; `undefined` if all are rendered, one below the other. */
  at: number | undefined;
  columns: readonly Column<Row>[];
  nameOf: (row: Row) => string;
  selected: Signal<ReadonlySet<string>> | undefined;
  actions: ((row: Row) => readonly MenuItem[]) | undefined;
}

interface BodyProps<Row> extends Omit<RowProps<Row>, "line" | "at"> {
  lines: readonly Line<Row>[];
  /** Whether only the lines near the window are rendered. */
  isVirtual: boolean;
  /** Groups whose rows are hidden. */
  closed: Signal<ReadonlySet<string>>;
}

/** A component of its own: scrolling draws neither the header nor the page again. */
export function TableBody<Row>({ lines, isVirtual, closed, ...row }: BodyProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const visible = useVisibleRows(body, lines.length, isVirtual);
  return (
    <tbody ref={body} style={{ height: isVirtual ? `${lines.length * rowHeight()}px` : "" }}>
      {visible.map((index) => {
        const line = lines[index]!;
        const at = isVirtual ? index : undefined;
        return line.kind === "group"
          ? <GroupRow key={line.key} line={line} at={at} closed={closed} />
          : <TableRow key={line.key} line={line} at={at} {...row} />;
      })}
    </tbody>
  );
}

const placed = (at: number | undefined) =>
  at !== undefined && {
    // The first row is the header.
    "aria-rowindex": at + 2,
    style: { transform: `translateY(${at * rowHeight()}px)` },
  };

export const columnClass = ({ numeric, wide, width }: Column<never>): string | undefined =>
  [numeric && "numeric", wide && "wide", width].filter(Boolean).join(" ") || undefined;

function GroupRow({ line: { group, count }, at, closed }: {
  line: GroupLine;
  at: number | undefined;
  closed: Signal<ReadonlySet<string>>;
}) {
  return (
    <tr class="group" {...placed(at)}>
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

function TableRow<Row>(
  { line: { key, row }, at, columns, nameOf, selected, actions }: RowProps<Row>,
) {
  // Rows without a menu or a checkbox need no name.
  const name = actions || selected ? plain(nameOf(row)) : "";
  // Scrolling draws only the rows that enter the window.
  const cells = useMemo(() => <Cells columns={columns} row={row} />, [columns, row]);
  const menu = useMemo(
    () => actions && <Menu name={`Actions for ${name}`} items={() => actions(row)} />,
    [actions, name, row],
  );
  const isSelected = selected?.value.has(key);
  return (
    <tr aria-selected={isSelected} {...placed(at)}>
      {selected && (
        <td class="w-check">
          <input
            type="checkbox"
            aria-label={`Select ${name}`}
            checked={isSelected}
            onChange={() => toggle(selected, key)}
          />
        </td>
      )}
      {cells}
      {menu && <td class="w-actions">{menu}</td>}
    </tr>
  );
}

/** A component of its own, which is drawn again when a signal that a cell reads has changed. */
function Cells<Row>({ columns, row }: { columns: readonly Column<Row>[]; row: Row }) {
  return (
    <>
      {columns.map((column) => (
        <td key={column.title} class={columnClass(column)}>{column.cell(row)}</td>
      ))}
    </>
  );
}

function toggle(set: Signal<ReadonlySet<string>>, key: string): void {
  const next = new Set(set.peek());
  if (!next.delete(key)) next.add(key);
  set.value = next;
}
