/** The dialog that says what the custom roles of a user allow. @module */

import { useSignal } from "@preact/signals";
import { api } from "../../../api/client.ts";
import type { PermissionCheck as Check } from "../../../api/types.ts";
import { Dialog } from "../../../components/dialog.tsx";
import { SelectField } from "../../../components/fields.tsx";
import { Form } from "../../../components/form.tsx";
import { Fact, Facts } from "../../../components/facts.tsx";
import { Icon } from "../../../components/icon.tsx";
import { plain } from "../../../base/text.ts";
import { useUserOptions } from "../../../parts/user_options.ts";
import {
  type Action,
  actionsOf,
  ANY,
  permissionText,
  type Resource,
  RESOURCES,
} from "./permissions.ts";

export function PermissionCheck({ onClose }: { onClose: () => void }) {
  const users = useUserOptions();
  const resource = useSignal<Resource>("containers");
  const result = useSignal<Check | undefined>(undefined);
  return (
    <Dialog title="Check permissions" onClose={onClose}>
      <Form
        submit="Check"
        onCancel={onClose}
        onSubmit={async ({ user, action }) => {
          result.value = undefined;
          result.value = await api(
            "GET /api/ext/service-enterprise/roles/users/{userId}/check",
            { path: { userId: user }, query: { resource: resource.value, action } },
          );
        }}
      >
        <SelectField label="User" name="user" options={users} required />
        <div class="field-row">
          <SelectField
            label="Resource"
            name="resource"
            choice={resource}
            options={optionsOf(RESOURCES)}
          />
          <SelectField
            key={resource.value}
            label="Action"
            name="action"
            value="read"
            options={optionsOf(actionsOf(resource.value))}
          />
        </div>
        {result.value && <Result check={result.value} />}
      </Form>
    </Dialog>
  );
}

const optionsOf = (names: readonly (Resource | Action)[]) =>
  names.map((value) => ({ value, name: permissionText(value) }));

function Result({ check: { has_permission: isAllowed, roles, permissions } }: { check: Check }) {
  const granted = Object.entries(permissions);
  return (
    <>
      <div class={isAllowed ? "note" : "note warn"} role="status">
        <Icon name={isAllowed ? "check" : "cross"} />
        <p>
          {isAllowed ? "The user has this permission" : "The user does not have this permission"}
        </p>
      </div>
      <Facts>
        <Fact name="Custom roles">{roles.map(plain).join(", ") || "None"}</Fact>
        {granted.map(([name, actions]) => (
          <Fact
            key={name}
            name={name === ANY ? "every resource" : permissionText(name as Resource)}
          >
            {actions.map((action) => permissionText(action as Action)).join(", ")}
          </Fact>
        ))}
      </Facts>
    </>
  );
}
