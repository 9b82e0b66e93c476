/**
 * The dialog that creates or changes a custom role.
 *
 * @module
 */

import { api } from "../../api/client.ts";
import type { Permission, Role } from "../../api/types.ts";
import { CheckGroup, EditDialog, type FormValues, TextField } from "../../components/form.tsx";
import { actionsOf, ANY, permissionText, type Resource, RESOURCES } from "./permissions.ts";

export function RoleForm({ role, onClose, onSaved }: {
  /** Without one, a new role is created. */
  role: Role | undefined;
  onClose: () => void;
  onSaved: () => void;
}) {
  const save = async (values: FormValues) => {
    const body = bodyOf(values);
    const saved = role
      ? await api("PUT /api/ext/service-enterprise/roles/{id}", { path: { id: role.id }, body })
      : await api("POST /api/ext/service-enterprise/roles", { body });
    onSaved();
    return saved.name;
  };
  return (
    <EditDialog noun="role" name={role?.name} save={save} onClose={onClose} wide>
      <div class="field-row">
        <TextField label="Name" name="name" value={role?.name} required maxLength={100} />
        <TextField
          label="Priority"
          name="priority"
          type="number"
          value={role?.priority ?? 0}
          hint="Order of the list, highest first"
          required
          min={-1_000_000}
          max={1_000_000}
          step={1}
        />
      </div>
      <TextField
        label="Description"
        name="description"
        value={role?.description}
        maxLength={1_000}
      />
      <div class="permissions">
        <p class="hint">
          "all" includes the actions of later versions. You cannot grant a permission that you do
          not have.
        </p>
        {RESOURCES.map((resource) => (
          <CheckGroup
            key={resource}
            label={resource === ANY ? "every resource" : permissionText(resource)}
            name={resource}
            options={actionsOf(resource).map((action) => ({
              value: action,
              name: permissionText(action),
            }))}
            checked={role?.permissions.find((each) => each.resource === resource)?.actions ?? []}
          />
        ))}
      </div>
    </EditDialog>
  );
}

/** The groups of checkboxes are named after their resources. */
function bodyOf({ name, description, priority, ...actions }: FormValues) {
  const permissions: Permission[] = RESOURCES
    .map((resource: Resource) => ({ resource, actions: actions[resource] }))
    .filter(({ actions }) => actions.length > 0);
  return { name, description, priority, permissions };
}
