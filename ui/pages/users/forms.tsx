/** Creates users, and changes their roles and passwords. @module */

import { useSignal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { ListedUser, User } from "../../api/types.ts";
import { CheckField, optionsOf, SelectField, TextField } from "../../components/fields.tsx";
import { EditDialog, FormDialog, type SaveProps } from "../../components/form.tsx";
import { plain } from "../../base/text.ts";
import { hasRole, ROLES } from "../../state/session.ts";
import { showStatus } from "../../state/toasts.ts";

const ROLE_HINT = "Viewers read, operators start and stop containers, admins may do everything.";

export function NewPasswordField(
  { label, name = label === "New password" ? "newPassword" : "password" }: {
    label: string;
    name?: string;
  },
) {
  const isShown = useSignal(false);
  return (
    <>
      <TextField
        label={label}
        name={name}
        type={isShown.value ? "text" : "password"}
        autocomplete="new-password"
        hint="At least 12 characters, and not one of the most common passwords"
        required
        minLength={12}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={isShown.value}
          onChange={({ currentTarget }) => isShown.value = currentTarget.checked}
        />
        Show the password
      </label>
    </>
  );
}

/** For password managers, which store a password under a name. */
export function UserName({ email }: { email: string | null }) {
  return <input hidden autocomplete="username" value={email ?? ""} readOnly />;
}

export function NewUserForm(dialog: SaveProps<User>) {
  return (
    <EditDialog
      noun="user"
      item={undefined}
      nameOf={({ email }: User) => email}
      save={({ email, password, role }) =>
        api("POST /auth/users", { body: { email, password, role } })}
      {...dialog}
    >
      <TextField label="Email" name="email" type="email" autocomplete="username" required />
      <NewPasswordField label="Password" />
      <SelectField
        label="Role"
        name="role"
        options={optionsOf(ROLES)}
        value="viewer"
        hint={ROLE_HINT}
      />
    </EditDialog>
  );
}

export function RoleForm({ user, ...dialog }: SaveProps<User> & { user: ListedUser }) {
  const item: User = user;
  const { id, role: before, isSuspended } = user;
  return (
    <EditDialog
      noun="user"
      item={item}
      nameOf={({ email }) => email}
      save={({ role, resumes }) =>
        role === before && !resumes
          ? Promise.resolve(item)
          : api("PUT /auth/users/{id}/role", { path: { id }, body: { role } })}
      {...dialog}
    >
      <SelectField
        label="Role"
        name="role"
        options={optionsOf(ROLES)}
        value={before}
        hint={`${ROLE_HINT} With a new role, the user has to sign in again. An identity provider ` +
          "with a claim for roles sets it again at each sign-in there."}
      />
      {isSuspended && hasRole("admin") && (
        <>
          <p>
            An identity provider gives {plain(user.email)}{" "}
            no role any more. Until it gives one or you end the suspension, no sign-in and no API
            token of the user is accepted.
          </p>
          <CheckField label="End the suspension" name="resumes" />
        </>
      )}
    </EditDialog>
  );
}

export function PasswordForm({ user, onClose }: { user: User; onClose: () => void }) {
  return (
    <FormDialog
      title={`Set password of ${plain(user.email)}`}
      submit="Save"
      onClose={onClose}
      onSubmit={async ({ password }) => {
        await api("PUT /auth/users/{id}/password", { path: { id: user.id }, body: { password } });
        showStatus(`Saved the password of ${plain(user.email)}`);
      }}
    >
      <p>All sessions of {plain(user.email)} are revoked.</p>
      <UserName email={user.email} />
      <NewPasswordField label="Password" />
    </FormDialog>
  );
}
