/** The dialog that creates or changes an identity provider. @module */

import type { IdentityProvider, NewIdentityProvider } from "../../../api/types.ts";
import { fieldsOf, TextField } from "../../../components/fields.tsx";
import { EditDialog, type EditProps, saveItem } from "../../../components/form.tsx";
import type { FormValues } from "../../../components/form_values.ts";

const BINDINGS = ["HTTP-POST", "HTTP-Redirect"];
const ROLES = ["viewer", "operator", "admin"];

export function ProviderForm(
  { item: provider, ...dialog }: EditProps<IdentityProvider, IdentityProvider>,
) {
  const { text, area, select, check } = fieldsOf(provider);
  const save = (values: FormValues) => {
    const body = bodyOf(values);
    return saveItem("/api/ext/service-enterprise/sso/providers", provider, body);
  };
  return (
    <EditDialog noun="SAML provider" item={provider} save={save} {...dialog} wide>
      {text("Name", "name", { required: true, maxLength: 100 })}
      {text("Entity ID", "entity_id", {
        hint: "The issuer of the identity provider's messages",
        required: true,
        maxLength: 1_024,
      })}
      <div class="field-row">
        {text("Login URL", "sso_url", {
          type: "url",
          placeholder: "https://idp.example.com/sso",
          required: true,
          maxLength: 2_048,
        })}
        {select("Binding", "binding", BINDINGS)}
      </div>
      {area("Certificates", "certificate", {
        hint:
          "The signing certificates (PEM), two while the key is changed; or the provider's metadata (XML)",
        rows: 5,
        required: true,
      })}
      {check("Create users that do not exist", "auto_provision")}
      {select("Role of created users", "default_role", ROLES, { initial: "viewer" })}
      {check("Allow existing users to sign in", "link_existing")}
      {check("Accept logins that start at the identity provider", "allow_unsolicited", true)}
      <details class="more-fields">
        <summary>More options</summary>
        <div>
          {text("Logout URL", "slo_url", {
            type: "url",
            hint: "Stored only; logouts are not sent",
            maxLength: 2_048,
          })}
          {text("NameID format", "name_id_format", {
            placeholder: "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress",
            maxLength: 256,
          })}
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
