/**
 * A list of objects that can be created, edited and deleted. A page of one is its columns, its form
 * and its texts.
 *
 * @module
 */

import type { ComponentChildren } from "preact";
import type { ApiError } from "../api/client.ts";
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
  extends Omit<ListingProps<Row>, "name" | "error" | "onRetry" | "actions"> {
  /** The heading; also the name of the table unless it has another one. */
  title: string;
  name?: string;
  /** What a row is called, e.g. `webhook` for "New webhook". */
  noun: string;
  reading: { error: { value: ApiError | undefined }; reload: () => void };
  /** Who may create, edit, switch and delete. */
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
  {
    title,
    name = title,
    noun,
    reading,
    write,
    onChange = reading.reload,
    form,
    readItem,
    isFixed,
    onCreated,
    onSaved,
    enable,
    deletion,
    actions,
    search,
    dialog,
    ...listing
  }: ResourceProps<Row, Item, Saved>,
) {
  const ownDialog = useDialog();
  const { open, shown } = dialog ?? ownDialog;
  const mayWrite = hasRole(...write);
  const found = useSearch(listing.rows, search?.textOf);
  const { nameOf = nameOfRow } = listing;

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
  const menuOf = (row: Row): readonly MenuItem[] => {
    const isOpen = !isFixed?.(row);
    const own: OwnActions = {
      edit: isOpen && mayWrite && form ? [{ name: "Edit", onSelect: () => void edit(row) }] : [],
      remove: isOpen && deletion && hasRole(...deletion.access ?? write)
        ? [deleteItem(row, { nameOf, ...deletion }, onChange)]
        : [],
      mayWrite,
    };
    return actions?.(row, own) ?? [...own.edit, ...own.remove];
  };
  const newButton = (kind: "primary" | "plain" = "plain") =>
    form && mayWrite && <Button kind={kind} icon="plus" onClick={create}>New {noun}</Button>;
  return {
    create,
    edit,
    newButton,
    list: (
      <>
        {search && (
          <div class="filters" role="search" aria-label="Filters">
            <SearchField name={`Filter ${name.toLowerCase()}`} placeholder={search.placeholder} />
          </div>
        )}
        <Listing
          {...!actions && { actionsFor: write }}
          {...search && { filter: searchFilter(name.toLowerCase()) }}
          {...listing}
          name={name}
          rows={found}
          columns={enable
            ? [...listing.columns, enabledColumn<Row>(write, nameOf, enable, onChange)]
            : listing.columns}
          error={reading.error.value}
          onRetry={reading.reload}
          actions={menuOf}
        />
      </>
    ),
    summary: search && found && (
      <Summary shown={found.length} total={listing.rows!.length} noun={noun} />
    ),
    dialog: shown,
  };
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
  props: ResourceProps<Row, Item, Saved>,
) {
  const { newButton, list, dialog } = useResource(props);
  const create = newButton();
  return (
    <>
      {create && <div class="tab-actions">{create}</div>}
      {list}
      {dialog}
    </>
  );
}
