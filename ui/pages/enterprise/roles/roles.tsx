/** Roles: custom roles, which add permissions to the built-in role of users. @module */

import { api } from "../../../api/client.ts";
import type { Role, RoleSummary } from "../../../api/types.ts";
import { Button } from "../../../components/button.tsx";
import { NAME_COLUMN } from "../../../components/columns.tsx";
import { deleteConfirmed, deleteItem } from "../../../components/deletion.ts";
import { useDialog } from "../../../components/dialog.tsx";
import { Listing } from "../../../components/listing.tsx";
import { Page } from "../../../components/page.tsx";
import { useRead } from "../../../components/reading.ts";
import { Text } from "../../../components/states.tsx";
import type { Column } from "../../../components/table.tsx";
import { count, plain } from "../../../base/text.ts";
import { hasRole } from "../../../state/session.ts";
import { sentenceOf, showAlert } from "../../../state/toasts.ts";
import { PermissionCheck } from "./permission_check.tsx";
import { RoleForm } from "./form.tsx";
import { RoleUsers } from "./users.tsx";

/** The largest page of the API. There are fewer roles. */
const ROLES_MAX = 500;

export default function Roles() {
  const { data, error, reload } = useRead("GET /api/ext/service-enterprise/roles", {
    query: { limit: ROLES_MAX },
  });
  const dialog = useDialog();
  const open = (role: Role | undefined) => dialog.open(RoleForm, { role, onSaved: reload });
  const edit = async ({ id }: RoleSummary) => {
    try {
      open(await api("GET /api/ext/service-enterprise/roles/{id}", { path: { id } }));
    } catch (error) {
      showAlert(sentenceOf(error));
      reload();
    }
  };
  const showUsers = (role: RoleSummary) => dialog.open(RoleUsers, { role, onChange: reload });
  const check = () => dialog.open(PermissionCheck, {});
  const mayWrite = hasRole("admin", "custom_roles:write");
  return (
    <Page
      title="Roles"
      actions={
        <>
          {hasRole("admin", "users:read") && (
            <Button icon="search" onClick={check}>Check permissions</Button>
          )}
          {mayWrite && (
            <Button kind="primary" icon="plus" onClick={() => open(undefined)}>New role</Button>
          )}
        </>
      }
    >
      <Listing
        name="Roles"
        columns={COLUMNS}
        rows={data.value?.roles}
        error={error.value}
        onRetry={reload}
        actions={(role) => {
          const users = { name: "Users", onSelect: () => showUsers(role) };
          if (!mayWrite) return [users];
          return [
            { name: "Edit", onSelect: () => void edit(role) },
            users,
            deleteItem(() => remove(role), reload),
          ];
        }}
        empty={"No custom roles yet. A custom role adds permissions to the built-in role of its " +
          "users, e.g. restarting containers to a viewer."}
      />
      {dialog.shown}
    </Page>
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

const remove = ({ id, name, user_count: users }: RoleSummary) =>
  deleteConfirmed(
    name,
    `The role ${plain(name)} is deleted, and ` +
      (users === 0
        ? "no user has it."
        : `${count(users, "user")} ${users === 1 ? "loses" : "lose"} its permissions.`),
    () => api("DELETE /api/ext/service-enterprise/roles/{id}", { path: { id } }),
  );
