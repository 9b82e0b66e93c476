/** The components of a status page, in display order. @module */

import { useSignal } from "@preact/signals";
import { api } from "../../../api/client.ts";
import type { StatusPageComponent } from "../../../api/types.ts";
import { type Column, NAME_COLUMN } from "../../../components/columns.tsx";
import { fieldsOf, optionsOf, SelectField } from "../../../components/fields.tsx";
import { EditDialog, type EditProps, saveItem } from "../../../components/form.tsx";
import type { FormValues } from "../../../components/form_values.ts";
import { useRead } from "../../../components/reading.ts";
import { Text } from "../../../components/states.tsx";
import { plain } from "../../../base/text.ts";
import type { TabProps } from "./tab.ts";
import { COMPONENT_STATUSES, ComponentStatus, OneLine } from "./words.tsx";
import { ResourceTab } from "../../../components/resource.tsx";

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
  return (
    <ResourceTab
      title="Components"
      noun="component"
      reading={{ error: { value: undefined }, reload: onChange }}
      rows={page.components}
      onChange={onChange}
      columns={COLUMNS}
      write={["admin", "status_pages:write"]}
      form={(props) => <ComponentForm {...props} pageId={page.id} />}
      deletion={{
        consequence: ({ name }) => `The component ${plain(name)} disappears from the status page.`,
        work: ({ id }) =>
          api("DELETE /api/ext/service-pro/status-pages/{pageId}/components/{compId}", {
            path: { pageId: page.id, compId: id },
          }),
      }}
      empty="No components yet. A component is a part of your service, e.g. the shop or the API."
    />
  );
}

const NO_MONITOR = { value: "", name: "None, set the status here" };

function ComponentForm({ pageId, item: component, ...dialog }: EditProps<StatusPageComponent> & {
  pageId: string;
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
