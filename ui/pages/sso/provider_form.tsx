/**
 * The dialog that creates or changes an identity provider.
 *
 * @module
 */

import { api } from "../../api/client.ts";
import type { IdentityProvider, NewIdentityProvider } from "../../api/types.ts";
import {
  CheckField,
  EditDialog,
  type FormValues,
  SelectField,
  TextArea,
  TextField,
} from "../../components/form.tsx";

const BINDINGS = ["HTTP-POST", "HTTP-Redirect"];
const ROLES = ["viewer", "operator", "admin"];

export function ProviderForm({ provider, onClose, onSaved }: {
  /** Without one, a new provider is created. */
  provider: IdentityProvider | undefined;
  onClose: () => void;
  onSaved: (provider: IdentityProvider) => void;
}) {
  const save = async (values: FormValues) => {
    const body = bodyOf(values);
    const saved = provider
      ? await api("PUT /api/ext/service-enterprise/sso/providers/{id}", {
        path: { id: provider.id },
        body,
      })
      : await api("POST /api/ext/service-enterprise/sso/providers", { body });
    onSaved(saved);
    return saved.name;
  };
  return (
    <EditDialog noun="provider" name={provider?.name} save={save} onClose={onClose} wide>
      <TextField label="Name" name="name" value={provider?.name} required maxLength={100} />
      <TextField
        label="Entity ID"
        name="entity_id"
        value={provider?.entity_id}
        hint="The issuer of the identity provider's messages"
        required
        maxLength={1_024}
      />
      <div class="field-row">
        <TextField
          label="Login URL"
          name="sso_url"
          type="url"
          value={provider?.sso_url}
          placeholder="https://idp.example.com/sso"
          required
          maxLength={2_048}
        />
        <SelectField
          label="Binding"
          name="binding"
          value={provider?.binding}
          options={BINDINGS}
        />
      </div>
      <TextArea
        label="Certificate"
        name="certificate"
        value={provider?.certificate ?? ""}
        hint="The signing certificate of the identity provider (PEM)"
        rows={5}
        required
      />
      <CheckField
        label="Create users that do not exist"
        name="auto_provision"
        checked={provider?.auto_provision ?? false}
      />
      <SelectField
        label="Role of created users"
        name="default_role"
        value={provider?.default_role ?? "viewer"}
        options={ROLES}
      />
      <CheckField
        label="Allow existing users to sign in"
        name="link_existing"
        checked={provider?.link_existing ?? false}
      />
      <CheckField
        label="Accept logins that start at the identity provider"
        name="allow_unsolicited"
        checked={provider?.allow_unsolicited ?? true}
      />
      <details class="more-fields">
        <summary>More options</summary>
        <div>
          <TextField
            label="Logout URL"
            name="slo_url"
            type="url"
            value={provider?.slo_url ?? ""}
            hint="Stored only; logouts are not sent"
            maxLength={2_048}
          />
          <TextField
            label="NameID format"
            name="name_id_format"
            value={provider?.name_id_format ?? ""}
            placeholder="urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"
            maxLength={256}
          />
          <div class="field-row">
            <TextField
              label="Email attribute"
              name="email"
              value={provider?.attribute_mapping.email}
              maxLength={256}
            />
            <TextField
              label="Name attribute"
              name="display_name"
              value={provider?.attribute_mapping.name}
              maxLength={256}
            />
          </div>
        </div>
      </details>
    </EditDialog>
  );
}

function bodyOf(
  { slo_url: sloUrl, name_id_format: format, email, display_name: name, ...values }: FormValues,
) {
  return {
    ...values as Omit<NewIdentityProvider, "enabled">,
    slo_url: sloUrl || null,
    name_id_format: format || null,
    attribute_mapping: { ...(email && { email }), ...(name && { name }) },
  };
}
