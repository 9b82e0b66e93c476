/** The dialog that creates or changes a custom role. @module */

import { CheckGroup } from "../../../components/check_group.tsx";
import type { Permission, Role } from "../../../api/types.ts";
import { fieldsOf } from "../../../components/fields.tsx";
import { EditDialog, type EditProps, saveItem } from "../../../components/form.tsx";
import type { FormValues } from "../../../components/form_values.ts";
import { HostLimitFields, hostLimitsOf } from "../../../parts/host_limits.tsx";
import { actionsOf, ANY, permissionText, type Resource, RESOURCES } from "./permissions.ts";

export function RoleForm({ item: role, ...dialog }: EditProps<Role>) {
  const { text, number } = fieldsOf(role);
  const save = (values: FormValues) =>
    saveItem("/api/ext/service-enterprise/roles", role, bodyOf(values));
  return (
    <EditDialog noun="role" item={role} save={save} {...dialog} wide>
      <div class="field-row">
        {text("Name", "name", { required: true, maxLength: 100 })}
        {number("Priority", "priority", {
          initial: 0,
          hint: "Order of the list, highest first",
          min: -1_000_000,
          max: 1_000_000,
        })}
      </div>
      {text("Description", "description", { maxLength: 1_000 })}
      <HostLimitFields
        hosts={role?.hosts ?? null}
        labels={role?.host_labels ?? null}
        effect={"A limit here narrows the built-in role of the users, too: they see no other host, " +
          "and no containers of this server."}
      />
      <div class="permissions">
        <p class="hint">
          "all" includes the actions of later versions, and "every resource" all but files. You
          cannot grant a permission that you do not have.
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
function bodyOf(
  { name, description, priority, hosts: names, hostLabels, ...actions }: FormValues,
) {
  const { hosts, labels } = hostLimitsOf({ hosts: names, hostLabels });
  const permissions: Permission[] = RESOURCES
    .map((resource: Resource) => ({ resource, actions: actions[resource] }))
    .filter(({ actions }) => actions.length > 0);
  return { name, description, priority, permissions, hosts, host_labels: labels };
}
