/** The first account: of a new server, or of one that changes from the API key to accounts. @module */

import { api } from "../../api/client.ts";
import type { FirstAccount } from "../../api/types.ts";
import { TextField } from "../../components/fields.tsx";
import { FormDialog } from "../../components/form.tsx";
import type { FormValues } from "../../components/form_values.ts";
import { ROOT } from "../../state/root.ts";
import { signIn } from "../../state/sign_in.ts";
import { NewPasswordField } from "./forms.tsx";

export function AccountFields() {
  return (
    <>
      <TextField label="Name" name="account.name" autocomplete="off" maxLength={100} />
      <TextField label="Email" name="account.email" type="email" autocomplete="username" required />
      <NewPasswordField label="Password" name="account.password" />
    </>
  );
}

/** The values of {@linkcode AccountFields}. */
export const accountOf = (values: FormValues): FirstAccount => ({
  name: values["account.name"] || null,
  email: values["account.email"],
  password: values["account.password"],
});

export function UsersModeForm({ onClose }: { onClose: () => void }) {
  return (
    <FormDialog
      title="Change to accounts"
      submit="Change to accounts"
      onClose={onClose}
      onSubmit={async (values) => {
        const account = accountOf(values);
        await api("POST /api/settings/users-mode", { body: { account } });
        await signIn({ email: account.email, password: account.password });
        location.assign(new URL("users", ROOT));
      }}
    >
      <p>
        You get the first account. The API key is not accepted any more; API tokens stay valid and
        belong to the account.
      </p>
      <AccountFields />
    </FormDialog>
  );
}
