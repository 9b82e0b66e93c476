/** The dialog that adds a certificate authority. @module */

import { api } from "../../../api/client.ts";
import { TextArea, TextField } from "../../../components/fields.tsx";
import { FormDialog, type SaveProps } from "../../../components/form.tsx";
import { plain } from "../../../base/text.ts";
import { showStatus } from "../../../state/toasts.ts";

export function AuthorityForm({ onClose, onSaved }: SaveProps) {
  return (
    <FormDialog
      title="New authority"
      submit="Create"
      onSubmit={async ({ name, certificate }) => {
        onSaved(
          await api("POST /api/ext/service-enterprise/mtls/ca", { body: { name, certificate } }),
        );
        showStatus(`Created ${plain(name)}`);
      }}
      onClose={onClose}
    >
      <TextField label="Name" name="name" required maxLength={100} />
      <TextArea
        label="Certificate"
        name="certificate"
        hint="The certificate of the authority (PEM). Never paste a private key"
        rows={6}
        required
      />
    </FormDialog>
  );
}
