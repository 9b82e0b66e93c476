/** The dialog that adds a certificate authority. @module */

import { api } from "../../../api/client.ts";
import type { CertificateAuthority } from "../../../api/types.ts";
import { TextArea, TextField } from "../../../components/fields.tsx";
import { EditDialog, type SaveProps } from "../../../components/form.tsx";

export function AuthorityForm(dialog: SaveProps<CertificateAuthority>) {
  return (
    <EditDialog
      noun="authority"
      item={undefined}
      save={({ name, certificate }) =>
        api("POST /api/ext/service-enterprise/mtls/ca", { body: { name, certificate } })}
      {...dialog}
    >
      <TextField label="Name" name="name" required maxLength={100} />
      <TextArea
        label="Certificate"
        name="certificate"
        hint="The certificate of the authority (PEM). Never paste a private key"
        rows={6}
        required
      />
    </EditDialog>
  );
}
