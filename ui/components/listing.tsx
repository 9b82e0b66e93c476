/**
 * A table with the states that every list has: loading, nothing there, nothing found, failed.
 *
 * @module
 */

import type { ComponentChildren } from "preact";
import type { ApiError } from "../api/client.ts";
import { hasRole } from "../state/session.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Section } from "./page.tsx";
import { Empty, Failure, NoMatch } from "./states.tsx";
import { Table, type TableProps } from "./table.tsx";

/** The last reading of a list: why it failed, and how to read again. */
export interface ListReading {
  error: { value: ApiError | undefined };
  reload: () => void;
}

export interface ListingProps<Row>
  extends Omit<TableProps<Row>, "rows" | "busy" | "keyOf" | "nameOf"> {
  /** `undefined` while they are read. */
  rows: readonly Row[] | undefined;
  reading: ListReading;
  /** Text for an empty list, and the button that helps. */
  empty: ComponentChildren;
  action?: ComponentChildren;
  /** Set while a filter is on: what it filters, e.g. `monitors`, and how to clear it. */
  filter?: { things: string; onClear: () => void } | undefined;
  /** Of all rows, where only the newest are read. */
  total?: number | undefined;
  /** Default: its id. */
  keyOf?: (row: Row) => string;
  /** Default: its name or title, otherwise its key. */
  nameOf?: (row: Row) => string;
  /** The lowest role that has the actions, and the permission that gives them, too. */
  actionsFor?: Parameters<typeof hasRole>;
}

const idOf = (row: unknown) => (row as { id: string }).id;

export function nameOfRow(row: unknown): string {
  const { name, title } = row as Record<string, string>;
  return name ?? title!;
}

export function Listing<Row>(
  {
    rows,
    reading: { error, reload },
    empty,
    action,
    filter,
    total,
    actions,
    actionsFor = ["viewer"],
    ...table
  }: ListingProps<Row>,
) {
  const failure = error.value && <Failure error={error.value} onRetry={reload} />;
  if (failure && !rows?.length) return failure;
  if (rows?.length === 0) {
    return filter ? <NoMatch {...filter} /> : <Empty action={action}>{empty}</Empty>;
  }
  return (
    <>
      {failure}
      <Table
        keyOf={idOf}
        nameOf={nameOfRow}
        {...table}
        {...actions && hasRole(...actionsFor) && { actions }}
        rows={rows ?? []}
        busy={!rows}
      />
      {rows && <Newest shown={rows.length} total={total ?? 0} />}
    </>
  );
}

/** A list in a section of its own, below another part of the page. */
export function ListingSection<Row>(
  { title, ...listing }: Omit<ListingProps<Row>, "name"> & { title: string; name?: string },
) {
  return (
    <div class="below">
      <Section title={title}>
        <Listing name={title} {...listing} />
      </Section>
    </div>
  );
}

/** The newest of a list in a dialog. */
export function ListingDialog<Row>(
  { title, onClose, ...listing }: ListingProps<Row> & { title: string; onClose: () => void },
) {
  return (
    <Dialog title={title} wide onClose={onClose}>
      <Listing {...listing} />
      <div class="actions">
        <Button icon="restart" onClick={listing.reading.reload}>Refresh</Button>
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}

/** Says that only the newest of a long list are shown. */
function Newest({ shown, total }: { shown: number; total: number }) {
  if (shown >= total) return null;
  const text = `The newest ${shown.toLocaleString("en")} of ${
    total.toLocaleString("en")
  } are shown.`;
  return <p class="newest muted">{text}</p>;
}
