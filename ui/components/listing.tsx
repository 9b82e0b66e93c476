/**
 * A table with the states that every list has: loading, nothing there, nothing found, failed.
 *
 * @module
 */

import type { ComponentChildren } from "preact";
import type { ApiError } from "../api/client.ts";
import { Section } from "./page.tsx";
import { Empty, Failure, NoMatch } from "./states.tsx";
import { Table, type TableProps } from "./table.tsx";

interface ListingProps<Row> extends Omit<TableProps<Row>, "rows" | "busy"> {
  /** `undefined` while they are read. */
  rows: readonly Row[] | undefined;
  error: ApiError | undefined;
  onRetry: () => void;
  /** What is said when there is nothing, and the button that helps. */
  empty: ComponentChildren;
  action?: ComponentChildren;
  /** Set while a filter is on: what it filters, e.g. `monitors`, and how to clear it. */
  filter?: { things: string; onClear: () => void } | undefined;
}

export function Listing<Row>(
  { rows, error, onRetry, empty, action, filter, ...table }: ListingProps<Row>,
) {
  if (error) return <Failure error={error} onRetry={onRetry} />;
  if (rows?.length === 0) {
    return filter ? <NoMatch {...filter} /> : <Empty action={action}>{empty}</Empty>;
  }
  return <Table {...table} rows={rows ?? []} busy={!rows} />;
}

/** What happened so far, below the list that it belongs to. */
export function History<Row>({ title, name = title, page, ...listing }:
  & Omit<ListingProps<Row>, "name" | "rows">
  & {
    title: string;
    name?: string;
    /** The newest entries; `undefined` while they are read. */
    page: { rows: readonly Row[]; total: number } | undefined;
  }) {
  return (
    <div class="below">
      <Section title={title}>
        <Listing name={name} rows={page?.rows} {...listing} />
        {page && <Newest shown={page.rows.length} total={page.total} />}
      </Section>
    </div>
  );
}

/** Says that only the newest of a long list are shown. */
export function Newest({ shown, total }: { shown: number; total: number }) {
  if (shown >= total) return null;
  const text = `The newest ${shown.toLocaleString("en")} of ${
    total.toLocaleString("en")
  } are shown.`;
  return <p class="newest muted">{text}</p>;
}
