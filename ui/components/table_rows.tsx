/** The rows of a table. @module */

import { useMemo } from "preact/hooks";
import type { Signal } from "@preact/signals";
import { plain } from "../base/text.ts";
import { Icon } from "./icon.tsx";
import { Menu, type MenuItem } from "./menu.tsx";
import type { Column } from "./table.tsx";
import type { GroupLine, RowLine } from "./table_lines.ts";

/** Where a row of a long table is: its index among all rows, and its distance from the first. */
export interface Place {
  at: number;
  px: number;
}

/** Attributes of a row. `place` is `undefined` if all rows are rendered, one below the other. */
const placed = (place: Place | undefined) =>
  place && {
    // The first row is the header.
    "aria-rowindex": place.at + 2,
    style: { transform: `translateY(${place.px}px)` },
  };

export const columnClass = ({ numeric, wide, width }: Column<never>): string | undefined =>
  [numeric && "numeric", wide && "wide", width].filter(Boolean).join(" ") || undefined;

export function GroupRow({ line: { group, count }, place, closed }: {
  line: GroupLine;
  place: Place | undefined;
  closed: Signal<ReadonlySet<string>>;
}) {
  return (
    <tr class="group" {...placed(place)}>
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

export interface RowProps<Row> {
  line: RowLine<Row>;
  place: Place | undefined;
  columns: readonly Column<Row>[];
  nameOf: (row: Row) => string;
  selected: Signal<ReadonlySet<string>> | undefined;
  actions: ((row: Row) => readonly MenuItem[]) | undefined;
}

export function TableRow<Row>({ line: { key, row }, place, ...parts }: RowProps<Row>) {
  const { columns, nameOf, selected, actions } = parts;
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
    <tr aria-selected={isSelected} {...placed(place)}>
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
