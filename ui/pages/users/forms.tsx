/** Creates users, and changes their roles and passwords. @module */

import { api } from "../../api/client.ts";
import type { User } from "../../api/types.ts";
import { optionsOf, SelectField, TextField } from "../../components/fields.tsx";
import { FormDialog, type SaveProps } from "../../components/form.tsx";
import { plain } from "../../base/text.ts";
import { ROLES } from "../../state/session.ts";
import { showStatus } from "../../state/toasts.ts";

const ROLE_HINT = "Viewers read, operators start and stop containers, admins may do everything.";

export function NewPasswordField({ label }: { label: string }) {
  return (
    <TextField
      label={label}
      name={label === "New password" ? "newPassword" : "password"}
      type="password"
      autocomplete="new-password"
      hint="At least 12 characters, and not one of the most common passwords"
      required
      minLength={12}
    />
  );
}

/** For password managers, which store a password under a name. */
export function UserName({ email }: { email: string | null }) {
  return <input hidden autocomplete="username" value={email ?? ""} readOnly />;
}

export function NewUserForm({ onClose, onSaved }: SaveProps) {
  return (
    <FormDialog
      title="New user"
      submit="Create"
      onClose={onClose}
      onSubmit={async ({ email, password, role }) => {
        const user = await api("POST /auth/users", { body: { email, password, role } });
        showStatus(`Created ${plain(user.email)}`);
        onSaved(user);
      }}
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
    </FormDialog>
  );
}

export function RoleForm({ user, onClose, onSaved }: SaveProps & { user: User }) {
  return (
    <FormDialog
      title={`Edit ${plain(user.email)}`}
      submit="Save"
      onClose={onClose}
      onSubmit={async ({ role }) => {
        const input = { path: { id: user.id }, body: { role } };
        onSaved(await api("PUT /auth/users/{id}/role", input));
        showStatus(`Saved ${plain(user.email)}`);
      }}
    >
      <SelectField
        label="Role"
        name="role"
        options={optionsOf(ROLES)}
        value={user.role}
        hint={`${ROLE_HINT} With a new role, the user has to sign in again.`}
      />
    </FormDialog>
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
