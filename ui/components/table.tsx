/**
 * A table that can be sorted, grouped and selected from. A long one renders only the rows near the
 * window.
 *
 * @module
 */

import type { RefObject } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { type Signal, useSignal } from "@preact/signals";
import { focusPage, query, setQuery } from "../state/router.ts";
import type { Column } from "./columns.tsx";
import type { MenuItem } from "./menu.tsx";
import { addStyles } from "./styles.ts";
import { sortKey, sortRows, toLines } from "./table_lines.ts";
import { columnClass, OpenRowMenu, type RowMenu, TableBody } from "./table_body.tsx";
import styles from "./table.css" with { type: "text" };

addStyles(styles);

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
  /** Rows can have several lines: all of them are rendered, because their heights differ. */
  hasTallRows?: boolean;
  /** On a phone a row has two lines: the first column, and those of `secondLine`. */
  isTwoLines?: boolean;
  busy?: boolean;
  /** Column and direction of an unsorted address, e.g. `name` or `-created`. */
  defaultSort?: string;
  /** Whether the rows are already in the order of `defaultSort`. */
  isSorted?: boolean;
}

/** A table of at most this many lines has all of its rows, which are as high as their content. */
const SHORT_MAX = 40;

export function Table<Row>(props: TableProps<Row>) {
  const { name, columns, rows, keyOf, nameOf = keyOf, selected, actions, groupOf } = props;
  const { busy, defaultSort, isSorted, hasTallRows, isTwoLines = false } = props;
  const sort = query.value.get("sort") ?? defaultSort;
  const closed = useSignal<ReadonlySet<string>>(new Set());
  const menu = useSignal<RowMenu | undefined>(undefined);
  const sorted = useMemo(
    () => isSorted && sort === defaultSort ? rows : sortRows(rows, columns, sort),
    [rows, columns, sort],
  );
  const lines = useMemo(
    () => toLines(sorted, keyOf, groupOf, closed.value),
    [sorted, groupOf, closed.value],
  );
  // A filter does not change how a long table looks.
  const isVirtual = useWasTrue(!hasTallRows && lines.length > SHORT_MAX);
  const keys = useMemo(() => sorted.map(keyOf), [sorted]);
  const frame = useRef<HTMLDivElement>(null);
  const rememberFocus = useFocusOfRows(frame, sorted);
  return (
    <div ref={frame} class="table-frame" onFocusCapture={rememberFocus}>
      <table
        class={[
          isVirtual ? "virtual" : "short",
          columns.length > 6 && "many-columns",
          isTwoLines && "two-lines",
        ].filter(Boolean).join(" ")}
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
        <TableBody
          lines={lines}
          isVirtual={isVirtual}
          isTwoLines={isTwoLines}
          closed={closed}
          columns={columns}
          nameOf={nameOf}
          selected={selected}
          actions={actions}
          menu={menu}
        />
      </table>
      <OpenRowMenu menu={menu} />
    </div>
  );
}

function Header<Row>({ column, sort }: { column: Column<Row>; sort: string | undefined }) {
  const { title } = column;
  const key = sortKey(title);
  const direction = sort === key ? "ascending" : sort === `-${key}` ? "descending" : undefined;
  const next = direction === "ascending" ? `-${key}` : key;
  return (
    <th
      scope="col"
      class={columnClass(column)}
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

/** Gives the focus to the page when what has it goes with its row, or with the whole table. */
function useFocusOfRows(frame: RefObject<HTMLDivElement | null>, rows: readonly unknown[]) {
  const last = useRef<Node | null>(null);
  useLayoutEffect(() => {
    if (last.current?.isConnected === false && document.activeElement === document.body) {
      focusPage();
    }
  }, [rows]);
  useLayoutEffect(() => () => {
    if (frame.current?.contains(document.activeElement)) focusPage();
  }, []);
  return ({ target }: FocusEvent) => void (last.current = target as Node);
}

function useWasTrue(condition: boolean): boolean {
  const was = useRef(false);
  return was.current ||= condition;
}
