/** The dialog with the users of a custom role. @module */

import { api } from "../../../api/client.ts";
import type { RoleSummary, RoleUserPage } from "../../../api/types.ts";
import { Dialog } from "../../../components/dialog.tsx";
import { SelectField } from "../../../components/fields.tsx";
import { Form } from "../../../components/form.tsx";
import { Listing } from "../../../components/listing.tsx";
import { useRead } from "../../../components/reading.ts";
import { Text } from "../../../components/states.tsx";
import { plain } from "../../../base/text.ts";
import { Time } from "../../../components/time.tsx";
import { userName } from "../../../parts/user_name.ts";
import { useUserOptions } from "../../../parts/user_options.ts";
import { hasRole } from "../../../state/session.ts";
import { showStatus } from "../../../state/toasts.ts";
import { deleteItem, type Deletion } from "../../../components/deletion.ts";

type RoleUser = RoleUserPage["users"][number];

/** The largest page of the API. */
const USERS_MAX = 500;

export function RoleUsers({ role: { id, name }, onChange, onClose }: {
  role: RoleSummary;
  onChange: () => void;
  onClose: () => void;
}) {
  const { data, error, reload } = useRead("GET /api/ext/service-enterprise/roles/{id}/users", {
    path: { id },
    query: { limit: USERS_MAX },
  });
  const users = useUserOptions();
  const assigned = data.value?.users;
  const others = users.filter(({ value }) => !assigned?.some((each) => each.user_id === value));
  const onDone = () => {
    reload();
    onChange();
  };
  const emailOf = ({ email, user_id: userId }: RoleUser) => email ?? userName(users, userId);
  const removal: Deletion<RoleUser> = {
    verb: "Remove",
    nameOf: emailOf,
    consequence: (user) =>
      `${plain(emailOf(user))} loses the permissions of the role ${plain(name)} from the next ` +
      "request on.",
    work: ({ user_id: userId }) =>
      api("DELETE /api/ext/service-enterprise/roles/{id}/users/{userId}", { path: { id, userId } }),
  };
  return (
    <Dialog title={`Users of ${plain(name)}`} onClose={onClose} wide>
      <Listing
        name="Role users"
        columns={[
          { title: "User", cell: (user) => <Text>{emailOf(user)}</Text> },
          { title: "Assigned", cell: ({ assigned_at: at }) => <Time at={at} />, width: "w-m" },
          {
            title: "Assigned by",
            cell: ({ assigned_by: by }) => <Text>{userName(users, by)}</Text>,
            wide: true,
          },
        ]}
        rows={assigned}
        reading={{ error, reload }}
        keyOf={({ user_id: userId }) => userId}
        nameOf={emailOf}
        actionsFor={["admin", "custom_roles:write"]}
        actions={(user) => [deleteItem(user, removal, onDone)]}
        empty="No user has this role."
      />
      {users.length > 0 && others.length === 0 && <p class="muted">Every user has this role.</p>}
      {others.length > 0 && hasRole("admin", "custom_roles:write") && (
        <Form
          submit="Assign role"
          onCancel={onClose}
          onSubmit={async ({ user }) => {
            await api("POST /api/ext/service-enterprise/roles/{id}/users", {
              path: { id },
              body: { user_id: user },
            });
            showStatus(`Assigned ${plain(name)} to ${plain(userName(users, user))}`);
            onDone();
          }}
        >
          <SelectField label="User" name="user" options={others} required />
        </Form>
      )}
    </Dialog>
  );
}
