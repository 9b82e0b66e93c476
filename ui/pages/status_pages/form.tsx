/**
 * The dialog that creates or changes a status page.
 *
 * @module
 */

import { api } from "../../api/client.ts";
import type { StatusPage } from "../../api/types.ts";
import {
  CheckField,
  EditDialog,
  type FormValues,
  TextArea,
  TextField,
} from "../../components/form.tsx";

export function PageForm({ page, onClose, onSaved }: {
  /** Without one, a new page is created. */
  page: StatusPage | undefined;
  onClose: () => void;
  onSaved: (page: StatusPage) => void;
}) {
  const save = async (values: FormValues) => {
    const body = {
      name: values.name,
      description: values.description,
      is_public: values.is_public,
      custom_domain: values.custom_domain || null,
      theme: values.primary_color ? { primary_color: values.primary_color } : {},
    };
    const saved = page
      ? await api("PUT /api/ext/service-pro/status-pages/{pageId}", {
        path: { pageId: page.id },
        body,
      })
      : await api("POST /api/ext/service-pro/status-pages", { body });
    onSaved(saved);
    return saved.name;
  };
  return (
    <EditDialog noun="status page" name={page?.name} save={save} onClose={onClose}>
      <TextField
        label="Name"
        name="name"
        value={page?.name}
        hint={page ? "The address does not change" : "The address is derived from it"}
        required
        maxLength={200}
      />
      <TextArea
        label="Description"
        name="description"
        value={page?.description ?? ""}
        rows={2}
      />
      <CheckField label="Public" name="is_public" checked={page?.is_public ?? true} />
      <div class="field-row">
        <TextField
          label="Domain"
          name="custom_domain"
          value={page?.custom_domain ?? ""}
          hint="E.g. status.example.com; its requests must reach this service"
          maxLength={253}
        />
        <TextField
          label="Color"
          name="primary_color"
          value={page?.theme.primary_color ?? ""}
          hint="E.g. #0f766e"
          pattern="#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})"
        />
      </div>
    </EditDialog>
  );
}
