/** Roles: custom roles, which add permissions to the built-in role of users. @module */

import { api } from "../../../api/client.ts";
import type { RoleSummary } from "../../../api/types.ts";
import { Button } from "../../../components/button.tsx";
import { type Column, NAME_COLUMN } from "../../../components/columns.tsx";
import { useDialog } from "../../../components/dialog.tsx";
import { useRead } from "../../../components/reading.ts";
import { Text } from "../../../components/states.tsx";
import { count, plain } from "../../../base/text.ts";
import { hasRole } from "../../../state/session.ts";
import { PermissionCheck } from "./permission_check.tsx";
import { RoleForm } from "./form.tsx";
import { RoleUsers } from "./users.tsx";
import { ResourcePage } from "../../../components/resource.tsx";

/** The largest page of the API. There are fewer roles. */
const ROLES_MAX = 500;

export default function Roles() {
  const reading = useRead("GET /api/ext/service-enterprise/roles", { query: { limit: ROLES_MAX } });
  const dialog = useDialog();
  const check = () => dialog.open(PermissionCheck, {});
  const showUsers = (role: RoleSummary) =>
    dialog.open(RoleUsers, { role, onChange: reading.reload });
  return (
    <ResourcePage
      title="Roles"
      noun="role"
      reading={reading}
      rows={reading.data.value?.roles}
      columns={COLUMNS}
      write={["admin", "custom_roles:write"]}
      form={RoleForm}
      readItem={({ id }) => api("GET /api/ext/service-enterprise/roles/{id}", { path: { id } })}
      actions={(role, { edit, remove }) => [
        ...edit,
        { name: "Users", onSelect: () => showUsers(role) },
        ...remove,
      ]}
      deletion={{
        consequence: describeLoss,
        work: ({ id }) => api("DELETE /api/ext/service-enterprise/roles/{id}", { path: { id } }),
      }}
      dialog={dialog}
      empty={"No custom roles yet. A custom role adds permissions to the built-in role of its " +
        "users, e.g. restarting containers to a viewer."}
      buttons={hasRole("admin", "users:read") && (
        <Button icon="search" onClick={check}>Check permissions</Button>
      )}
    />
  );
}

const COLUMNS: readonly Column<RoleSummary>[] = [
  NAME_COLUMN,
  {
    title: "Description",
    cell: ({ description }) => <Text>{description || "–"}</Text>,
    wide: true,
  },
  {
    title: "Priority",
    cell: ({ priority }) => priority,
    sort: ({ priority }) => priority,
    numeric: true,
    wide: true,
    width: "w-s",
  },
  {
    title: "Permissions",
    cell: ({ permission_count: permissions }) => permissions,
    sort: ({ permission_count: permissions }) => permissions,
    numeric: true,
    width: "w-s",
  },
  {
    title: "Users",
    cell: ({ user_count: users }) => users,
    sort: ({ user_count: users }) => users,
    numeric: true,
    width: "w-xs",
  },
];

const describeLoss = ({ name, user_count: users }: RoleSummary): string =>
  `The role ${plain(name)} is deleted, and ` +
  (users === 0
    ? "no user has it."
    : `${count(users, "user")} ${users === 1 ? "loses" : "lose"} its permissions.`);
