/** The components of a status page, in display order. @module */

import { useSignal } from "@preact/signals";
import { api } from "../../../api/client.ts";
import type { StatusPageComponent } from "../../../api/types.ts";
import { Button } from "../../../components/button.tsx";
import { NAME_COLUMN } from "../../../components/columns.tsx";
import { deleteConfirmed, deleteItem } from "../../../components/deletion.ts";
import { useDialog } from "../../../components/dialog.tsx";
import { fieldsOf, optionsOf, SelectField } from "../../../components/fields.tsx";
import { EditDialog, saveItem, type SaveProps } from "../../../components/form.tsx";
import type { FormValues } from "../../../components/form_values.ts";
import { useRead } from "../../../components/reading.ts";
import { Listing } from "../../../components/listing.tsx";
import { Text } from "../../../components/states.tsx";
import type { Column } from "../../../components/table.tsx";
import { plain } from "../../../base/text.ts";
import { hasRole } from "../../../state/session.ts";
import type { TabProps } from "./tab.ts";
import { COMPONENT_STATUSES, ComponentStatus, OneLine } from "./words.tsx";

const COLUMNS: readonly Column<StatusPageComponent>[] = [
  { title: "Name", cell: NAME_COLUMN.cell },
  { title: "Group", cell: ({ group_name: name }) => <Text>{name}</Text>, width: "w-m", wide: true },
  {
    title: "Description",
    cell: ({ description }) => <OneLine>{description}</OneLine>,
    wide: true,
  },
  {
    title: "Status",
    cell: ({ shown_status: status }) => <ComponentStatus status={status} />,
    width: "w-l",
  },
  {
    title: "Source",
    cell: ({ monitor_id: monitor }) => monitor === null ? "Manual" : "Monitor",
    width: "w-s",
    wide: true,
  },
];

export function Components({ page, onChange }: TabProps) {
  const dialog = useDialog();
  const edit = (component?: StatusPageComponent) =>
    dialog.open(ComponentForm, { pageId: page.id, component, onSaved: onChange });
  return (
    <>
      {hasRole("admin", "status_pages:write") && (
        <div class="tab-actions">
          <Button icon="plus" onClick={() => edit()}>New component</Button>
        </div>
      )}
      <Listing
        name="Components"
        columns={COLUMNS}
        rows={page.components}
        error={undefined}
        onRetry={onChange}
        actionsFor={["admin", "status_pages:write"]}
        actions={(component) => [
          { name: "Edit", onSelect: () => edit(component) },
          deleteItem(() => remove(component), onChange),
        ]}
        empty="No components yet. A component is a part of your service, e.g. the shop or the API."
      />
      {dialog.shown}
    </>
  );
}

const remove = ({ id, page_id: pageId, name }: StatusPageComponent) =>
  deleteConfirmed(
    name,
    `The component ${plain(name)} disappears from the status page.`,
    () =>
      api("DELETE /api/ext/service-pro/status-pages/{pageId}/components/{compId}", {
        path: { pageId, compId: id },
      }),
  );

const NO_MONITOR = { value: "", name: "None, set the status here" };

function ComponentForm({ pageId, component, ...dialog }: SaveProps & {
  pageId: string;
  /** Without one, a new component is created. */
  component: StatusPageComponent | undefined;
}) {
  const { text, number, select } = fieldsOf(component);
  const monitors = useRead("GET /api/ext/service-pro/uptime/monitors", {}).data.value?.monitors;
  const monitor = useSignal(component?.monitor_id ?? "");
  const save = (values: FormValues) => {
    const body = {
      name: values.name,
      description: values.description,
      group_name: values.group_name || null,
      monitor_id: monitor.value || null,
      ...(values.status !== undefined && { status: values.status }),
      ...(values.display_order !== undefined && { display_order: values.display_order }),
    };
    return saveItem(
      "/api/ext/service-pro/status-pages/{pageId}/components",
      component,
      body,
      { pageId },
    );
  };
  return (
    <EditDialog noun="component" item={component} save={save} {...dialog}>
      {text("Name", "name", { required: true, maxLength: 200 })}
      {text("Description", "description", { maxLength: 20_000 })}
      <SelectField
        key={monitors?.length}
        label="Monitor"
        name="monitor_id"
        choice={monitor}
        options={[
          NO_MONITOR,
          ...(monitors ?? []).map(({ id, name }) => ({ value: id, name })),
        ]}
        hint="Sets the status while it is known"
      />
      {monitor.value === "" &&
        select("Status", "status", optionsOf(COMPONENT_STATUSES), { initial: "operational" })}
      <div class="field-row">
        {text("Group", "group_name", { maxLength: 200 })}
        {number("Position", "display_order", {
          hint: component ? undefined : "After the last if empty",
          optional: true,
          min: 0,
          max: 1_000_000,
        })}
      </div>
    </EditDialog>
  );
}
