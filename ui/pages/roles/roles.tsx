/**
 * Roles: custom roles, which add permissions to the built-in role of users.
 *
 * @module
 */

import { useSignal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { Role, RoleSummary } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { NAME_COLUMN } from "../../components/columns.tsx";
import { deleteConfirmed, deleteItem } from "../../components/deletion.ts";
import { Listing } from "../../components/listing.tsx";
import { Page } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { Text } from "../../components/states.tsx";
import type { Column } from "../../components/table.tsx";
import { count, plain } from "../../components/text.ts";
import { useUserOptions } from "../../components/user_options.ts";
import { sentenceOf, showAlert } from "../../state/toasts.ts";
import { PermissionCheck } from "./permission_check.tsx";
import { RoleForm } from "./form.tsx";
import { RoleUsers } from "./users.tsx";

/** The largest page of the API. There are fewer roles. */
const ROLES_MAX = 500;

/** The open dialog. */
type Task =
  | { name: "new" | "check" }
  | { name: "edit"; role: Role }
  | { name: "users"; role: RoleSummary };

export default function Roles() {
  const { data, error, reload } = useRead("GET /api/ext/service-enterprise/roles", {
    query: { limit: ROLES_MAX },
  });
  const users = useUserOptions();
  const task = useSignal<Task | undefined>(undefined);
  const close = () => task.value = undefined;
  const edit = async ({ id }: RoleSummary) => {
    try {
      const role = await api("GET /api/ext/service-enterprise/roles/{id}", { path: { id } });
      task.value = { name: "edit", role };
    } catch (error) {
      showAlert(sentenceOf(error));
    }
  };
  const open = task.value;
  return (
    <Page
      title="Roles"
      actions={
        <>
          <Button icon="search" onClick={() => task.value = { name: "check" }}>
            Check permissions
          </Button>
          <Button kind="primary" icon="plus" onClick={() => task.value = { name: "new" }}>
            New role
          </Button>
        </>
      }
    >
      <Listing
        name="Roles"
        columns={COLUMNS}
        rows={data.value?.roles}
        error={error.value}
        onRetry={reload}
        keyOf={({ id }) => id}
        nameOf={({ name }) => name}
        actions={(role) => [
          { name: "Edit", onSelect: () => void edit(role) },
          { name: "Users", onSelect: () => task.value = { name: "users", role } },
          deleteItem(() => remove(role), reload),
        ]}
        empty={"No custom roles yet. A custom role adds permissions to the built-in role of its " +
          "users, e.g. restarting containers to a viewer."}
      />
      {(open?.name === "new" || open?.name === "edit") && (
        <RoleForm
          role={open.name === "edit" ? open.role : undefined}
          onClose={close}
          onSaved={reload}
        />
      )}
      {open?.name === "users" && (
        <RoleUsers role={open.role} users={users} onChange={reload} onClose={close} />
      )}
      {open?.name === "check" && <PermissionCheck users={users} onClose={close} />}
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
    width: "w-m",
  },
  {
    title: "Users",
    cell: ({ user_count: users }) => users,
    sort: ({ user_count: users }) => users,
    numeric: true,
    width: "w-xs",
  },
];

async function remove({ id, name, user_count: users }: RoleSummary): Promise<boolean> {
  const consequence = `The role ${plain(name)} is deleted, and ` +
    (users === 0
      ? "no user has it."
      : `${count(users, "user")} ${users === 1 ? "loses" : "lose"} its permissions.`);
  return await deleteConfirmed(
    { name, consequence },
    () => api("DELETE /api/ext/service-enterprise/roles/{id}", { path: { id } }),
  );
}
