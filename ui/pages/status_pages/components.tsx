/**
 * The components of a status page, in display order.
 *
 * @module
 */

import { useSignal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { StatusPageComponent } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { deleteConfirmed, deleteItem } from "../../components/deletion.ts";
import { EditDialog, type FormValues, SelectField, TextField } from "../../components/form.tsx";
import { useRead } from "../../components/reading.ts";
import { Listing } from "../../components/listing.tsx";
import { Text } from "../../components/states.tsx";
import type { Column } from "../../components/table.tsx";
import { plain } from "../../components/text.ts";
import { hasRole } from "../../state/session.ts";
import type { TabProps } from "./tab.ts";
import { choices, COMPONENT_STATUSES, ComponentStatus } from "./words.tsx";

const COLUMNS: readonly Column<StatusPageComponent>[] = [
  {
    title: "Name",
    cell: ({ name }) => (
      <span class="name-cell">
        <Text>{name}</Text>
      </span>
    ),
  },
  {
    title: "Group",
    cell: ({ group_name: group }) =>
      group === null ? <span class="muted">–</span> : <Text>{group}</Text>,
    width: "w-m",
    wide: true,
  },
  {
    title: "Description",
    cell: ({ description }) => <Text>{description || "–"}</Text>,
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
  const edited = useSignal<StatusPageComponent | "new" | undefined>(undefined);
  const create = hasRole("admin") && (
    <Button icon="plus" onClick={() => edited.value = "new"}>New component</Button>
  );
  return (
    <>
      {create && <div class="tab-actions">{create}</div>}
      <Listing
        name="Components"
        columns={COLUMNS}
        rows={page.components}
        error={undefined}
        onRetry={onChange}
        keyOf={({ id }) => id}
        nameOf={({ name }) => name}
        {...hasRole("admin") && {
          actions: (component: StatusPageComponent) => [
            { name: "Edit", onSelect: () => edited.value = component },
            deleteItem(() => remove(component), onChange),
          ],
        }}
        empty="No components yet. A component is a part of your service, e.g. the shop or the API."
      />
      {edited.value && (
        <ComponentForm
          pageId={page.id}
          component={edited.value === "new" ? undefined : edited.value}
          onClose={() => edited.value = undefined}
          onSaved={onChange}
        />
      )}
    </>
  );
}

async function remove({ id, page_id: pageId, name }: StatusPageComponent): Promise<boolean> {
  const consequence = `The component ${plain(name)} disappears from the status page.`;
  return await deleteConfirmed(
    { name, consequence },
    () =>
      api("DELETE /api/ext/service-pro/status-pages/{pageId}/components/{compId}", {
        path: { pageId, compId: id },
      }),
  );
}

const NO_MONITOR = { value: "", name: "None, set the status here" };

function ComponentForm({ pageId, component, onClose, onSaved }: {
  pageId: string;
  /** Without one, a new component is created. */
  component: StatusPageComponent | undefined;
  onClose: () => void;
  onSaved: () => void;
}) {
  const monitors = useRead("GET /api/ext/service-pro/uptime/monitors", {}).data.value?.monitors;
  const monitor = useSignal(component?.monitor_id ?? "");
  const save = async (values: FormValues) => {
    const body = {
      name: values.name,
      description: values.description,
      group_name: values.group_name || null,
      monitor_id: monitor.value || null,
      ...(values.status !== undefined && { status: values.status }),
      ...(values.display_order !== undefined && { display_order: values.display_order }),
    };
    const saved = component
      ? await api("PUT /api/ext/service-pro/status-pages/{pageId}/components/{compId}", {
        path: { pageId, compId: component.id },
        body,
      })
      : await api("POST /api/ext/service-pro/status-pages/{pageId}/components", {
        path: { pageId },
        body,
      });
    onSaved();
    return saved.name;
  };
  return (
    <EditDialog noun="component" name={component?.name} save={save} onClose={onClose}>
      <TextField label="Name" name="name" value={component?.name} required maxLength={200} />
      <TextField
        label="Description"
        name="description"
        value={component?.description ?? ""}
        maxLength={20_000}
      />
      <SelectField
        key={monitors?.length}
        label="Monitor"
        name="monitor_id"
        value={monitor.value}
        options={[
          NO_MONITOR,
          ...(monitors ?? []).map(({ id, name }) => ({ value: id, name })),
        ]}
        hint="Sets the status while it is known"
        onChange={(value) => monitor.value = value}
      />
      {monitor.value === "" && (
        <SelectField
          label="Status"
          name="status"
          value={component?.status ?? "operational"}
          options={choices(COMPONENT_STATUSES)}
        />
      )}
      <div class="field-row">
        <TextField
          label="Group"
          name="group_name"
          value={component?.group_name ?? ""}
          maxLength={200}
        />
        <TextField
          label="Position"
          name="display_order"
          type="number"
          value={component?.display_order ?? ""}
          hint={component ? undefined : "After the last if empty"}
          min={0}
          max={1_000_000}
        />
      </div>
    </EditDialog>
  );
}
