/**
 * The dialog of a registry.
 *
 * @module
 */

import { api } from "../../api/client.ts";
import type { Registry } from "../../api/types.ts";
import {
  CheckField,
  EditDialog,
  type FormValues,
  TextArea,
  TextField,
} from "../../components/form.tsx";

export function RegistryForm({ registry, onClose, onSaved }: {
  /** Without one, a new registry is created. */
  registry: Registry | undefined;
  onClose: () => void;
  onSaved: () => void;
}) {
  const save = async (values: FormValues) => {
    const { host, password, insecure } = values;
    const body = {
      host,
      pathPrefix: values.pathPrefix || null,
      username: values.username || null,
      // An empty field keeps the stored password.
      ...(password !== "" && { password }),
      insecure,
      caCertificate: values.caCertificate.trim() || null,
    };
    if (registry) await api("PUT /api/registries/{id}", { path: { id: registry.id }, body });
    else await api("POST /api/registries", { body });
    onSaved();
    return host;
  };
  return (
    <EditDialog noun="registry" name={registry?.host} save={save} onClose={onClose} wide>
      <div class="field-row">
        <TextField
          label="Host"
          name="host"
          value={registry?.host}
          placeholder="registry.example.com:5000"
          hint="docker.io for Docker Hub"
          required
          maxLength={255}
        />
        <TextField
          label="Path"
          name="pathPrefix"
          value={registry?.pathPrefix ?? ""}
          placeholder="team"
          hint="Only the repositories below it. Empty: all"
          maxLength={255}
        />
      </div>
      <div class="field-row">
        <TextField
          label="User name"
          name="username"
          value={registry?.username ?? ""}
          hint="Empty: anonymous"
          autocomplete="off"
          maxLength={255}
        />
        <TextField
          label="Password or token"
          name="password"
          type="password"
          hint={registry?.hasPassword
            ? "Stored encrypted. Empty: keep the stored one"
            : "Stored encrypted"}
          autocomplete="new-password"
          maxLength={8_192}
        />
      </div>
      <TextArea
        label="Certificate authority"
        name="caCertificate"
        value={registry?.caCertificate ?? ""}
        hint="PEM. For checks; the engine needs its own copy for pulls"
        code
      />
      <CheckField
        label="Plain HTTP instead of TLS"
        name="insecure"
        checked={registry?.insecure ?? false}
      />
    </EditDialog>
  );
}
