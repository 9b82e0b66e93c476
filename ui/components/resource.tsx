/**
 * A list of objects that can be created, edited and deleted. A page of one is its columns, its form
 * and its texts.
 *
 * @module
 */

import type { ComponentChildren } from "preact";
import { hasRole } from "../state/session.ts";
import { sentenceOf, showAlert } from "../state/toasts.ts";
import { Button } from "./button.tsx";
import { enabledColumn } from "./columns.tsx";
import { type Access, deleteItem, type Deletion } from "./deletion.ts";
import { useDialog } from "./dialog.tsx";
import type { EditProps } from "./form.tsx";
import { Listing, type ListingProps, nameOfRow } from "./listing.tsx";
import type { MenuItem } from "./menu.tsx";
import { Page, Section } from "./page.tsx";
import { SearchField, searchFilter, Summary, useSearch } from "./search.tsx";

/** Items of a row's menu; none where the user may not write. */
export interface OwnActions {
  edit: readonly MenuItem[];
  remove: readonly MenuItem[];
  mayWrite: boolean;
}

export interface ResourceProps<Row, Item = Row, Saved = unknown>
  extends Omit<ListingProps<Row>, "name" | "actions"> {
  /** The heading; also the name of the table unless it has another one. */
  title: string;
  name?: string;
  /** Noun of a row, e.g. `webhook` for "New webhook". */
  noun: string;
  /** Access that creating, editing, switching and deleting need. */
  write: Access;
  /** Called after a change. Default: reads the list again. */
  onChange?: () => void;
  /** The dialog that creates an object, and edits one unless `isFixed`. */
  form?: ((props: EditProps<Item, Saved>) => ComponentChildren) | undefined;
  /** Reads what the form edits, where the list has less. */
  readItem?: (row: Row) => Promise<Item>;
  /** Whether an object cannot be edited or deleted. */
  isFixed?: (row: Row) => boolean;
  /** Called after one was created. */
  onCreated?: (saved: Saved) => void;
  /** Called after one was created or edited. */
  onSaved?: (saved: Saved) => void;
  /** Adds the switch "Enable <name>". */
  enable?: (row: Row, enabled: boolean) => Promise<unknown>;
  deletion?: Deletion<Row>;
  /** The menu of a row. Default: edit and delete it. */
  actions?: (row: Row, own: OwnActions) => readonly MenuItem[];
  /** Adds a search field; the texts that it searches, and what it says. */
  search?: { textOf: (row: Row) => string; placeholder: string };
  /** Shares the place of a dialog with others of the page. */
  dialog?: ReturnType<typeof useDialog>;
}

/** The parts of a list, for pages with a layout of their own. */
export function useResource<Row, Item = Row, Saved = unknown>(
  props: ResourceProps<Row, Item, Saved>,
) {
  const { noun, rows, write, form, search } = props;
  const ownDialog = useDialog();
  const { open, shown } = props.dialog ?? ownDialog;
  const { create, edit } = editing(props, open);
  const found = useSearch(rows, search?.textOf);
  const newButton = (kind: "primary" | "plain" = "plain") =>
    form && hasRole(...write) && (
      <Button kind={kind} icon="plus" onClick={create}>New {noun}</Button>
    );
  return {
    newButton,
    list: <List {...props} rows={found} onEdit={(row) => void edit(row)} />,
    summary: search && found && <Summary shown={found.length} total={rows!.length} noun={noun} />,
    dialog: shown,
  };
}

/** Opens the form of a new or an existing object. */
function editing<Row, Item, Saved>(
  { form, readItem, reading, onChange = reading.reload, onCreated, onSaved }: ResourceProps<
    Row,
    Item,
    Saved
  >,
  open: ReturnType<typeof useDialog>["open"],
) {
  const afterSave = (saved: Saved) => {
    onChange();
    onSaved?.(saved);
  };
  const create = () =>
    open(form!, {
      item: undefined,
      onSaved: (saved) => {
        afterSave(saved);
        onCreated?.(saved);
      },
    });
  const edit = async (row: Row) => {
    try {
      const item = await readItem?.(row) ?? row as unknown as Item;
      open(form!, { item, onSaved: afterSave });
    } catch (error) {
      showAlert(sentenceOf(error));
      reading.reload();
    }
  };
  return { create, edit };
}

/** The search field and the table. */
function List<Row, Item, Saved>(
  props: ResourceProps<Row, Item, Saved> & { onEdit: (row: Row) => void },
) {
  const { title, name = title, reading, onChange = reading.reload, write, enable, search } = props;
  const { nameOf = nameOfRow, columns, actions } = props;
  const things = name.toLowerCase();
  return (
    <>
      {search && (
        <div class="filters" role="search" aria-label="Filters">
          <SearchField name={`Filter ${things}`} placeholder={search.placeholder} />
        </div>
      )}
      <Listing
        {...!actions && { actionsFor: write }}
        {...search && { filter: searchFilter(things) }}
        {...props}
        name={name}
        columns={enable
          ? [...columns, enabledColumn<Row>(write, nameOf, enable, onChange)]
          : columns}
        reading={reading}
        actions={(row) => menuOf(row, props)}
      />
    </>
  );
}

function menuOf<Row, Item, Saved>(
  row: Row,
  props: ResourceProps<Row, Item, Saved> & { onEdit: (row: Row) => void },
): readonly MenuItem[] {
  const { form, write, reading, onChange = reading.reload, isFixed, deletion, actions } = props;
  const { nameOf = nameOfRow, onEdit } = props;
  const isOpen = !isFixed?.(row);
  const mayWrite = hasRole(...write);
  const edit = isOpen && mayWrite && form ? [{ name: "Edit", onSelect: () => onEdit(row) }] : [];
  const remove = isOpen && deletion && hasRole(...deletion.access ?? write)
    ? [deleteItem(row, { nameOf, ...deletion }, onChange)]
    : [];
  return actions?.(row, { edit, remove, mayWrite }) ?? [...edit, ...remove];
}

/** A page with one list. */
export function ResourcePage<Row, Item = Row, Saved = unknown>(
  { lead, buttons, above, children, ...props }: ResourceProps<Row, Item, Saved> & {
    /** Next to the heading. Default: the number of rows, where they can be searched. */
    lead?: ComponentChildren;
    /** Before the button "New". */
    buttons?: ComponentChildren;
    above?: ComponentChildren;
    /** Below the list. */
    children?: ComponentChildren;
  },
) {
  const { newButton, summary, list, dialog } = useResource(props);
  const create = newButton("primary");
  return (
    <Page
      title={props.title}
      lead={lead ?? summary}
      actions={(buttons || create) && <>{buttons}{create}</>}
    >
      {above}
      {list}
      {children}
      {dialog}
    </Page>
  );
}

/** A section of a page with one list. */
export function ResourceSection<Row, Item = Row, Saved = unknown>(
  props: ResourceProps<Row, Item, Saved>,
) {
  const { newButton, list, dialog } = useResource(props);
  return (
    <Section title={props.title} actions={newButton()}>
      {list}
      {dialog}
    </Section>
  );
}

/** A tab with one list. */
export function ResourceTab<Row, Item = Row, Saved = unknown>(
  { buttons, ...props }: ResourceProps<Row, Item, Saved> & {
    /** Before the button "New". */
    buttons?: ComponentChildren;
  },
) {
  const { newButton, list, dialog } = useResource(props);
  const create = newButton();
  return (
    <>
      {(buttons || create) && <div class="tab-actions">{buttons}{create}</div>}
      {list}
      {dialog}
    </>
  );
}
