/** The dialog of a registry. @module */

import type { Registry } from "../../api/types.ts";
import { fieldsOf, TextField } from "../../components/fields.tsx";
import { EditDialog, type EditProps, saveItem } from "../../components/form.tsx";
import type { FormValues } from "../../components/form_values.ts";

export function RegistryForm({ item: registry, ...dialog }: EditProps<Registry>) {
  const { text, area, check } = fieldsOf(registry);
  const save = (values: FormValues) => {
    const { host, password, insecure } = values;
    return saveItem("/api/registries", registry, {
      host,
      pathPrefix: values.pathPrefix || null,
      username: values.username || null,
      // An empty field keeps the stored password.
      ...(password !== "" && { password }),
      insecure,
      caCertificate: values.caCertificate.trim() || null,
    });
  };
  return (
    <EditDialog
      noun="registry"
      item={registry}
      nameOf={({ host }) => host}
      save={save}
      {...dialog}
      wide
    >
      <div class="field-row">
        {text("Host", "host", {
          placeholder: "registry.example.com:5000",
          hint: "docker.io for Docker Hub",
          required: true,
          maxLength: 255,
        })}
        {text("Path", "pathPrefix", {
          placeholder: "team",
          hint: "Only the repositories below it. Empty: all",
          maxLength: 255,
        })}
      </div>
      <div class="field-row">
        {text("User name", "username", {
          hint: "Empty: anonymous",
          autocomplete: "off",
          maxLength: 255,
        })}
        <TextField
          label="Password"
          name="password"
          type="password"
          hint={registry?.hasPassword
            ? "Or a token. Stored encrypted; empty: keep the stored one"
            : "Or a token. Stored encrypted"}
          autocomplete="new-password"
          maxLength={8_192}
        />
      </div>
      {area("Certificate authority", "caCertificate", {
        hint: "PEM. For checks; the engine needs its own copy for pulls",
        code: true,
      })}
      {check("Plain HTTP instead of TLS", "insecure")}
    </EditDialog>
  );
}
