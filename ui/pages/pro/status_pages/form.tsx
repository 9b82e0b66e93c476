/** The dialog that creates or changes a status page. @module */

import type { StatusPage } from "../../../api/types.ts";
import { fieldsOf, TextField } from "../../../components/fields.tsx";
import { EditDialog, type EditProps, saveItem } from "../../../components/form.tsx";
import type { FormValues } from "../../../components/form_values.ts";

const COLOR = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i;

export function PageForm({ item: page, ...dialog }: EditProps<StatusPage>) {
  const { text, area, check } = fieldsOf(page);
  const save = (values: FormValues) => {
    const body = {
      name: values.name,
      description: values.description,
      is_public: values.is_public,
      custom_domain: values.custom_domain || null,
      theme: values.primary_color ? { primary_color: values.primary_color } : {},
    };
    return saveItem("/api/ext/service-pro/status-pages", page, body);
  };
  return (
    <EditDialog noun="status page" item={page} save={save} {...dialog}>
      {text("Name", "name", {
        hint: page ? "The address does not change" : "The address is derived from it",
        required: true,
        maxLength: 200,
      })}
      {area("Description", "description", { rows: 2 })}
      {check("Public", "is_public", true)}
      <div class="field-row">
        {text("Domain", "custom_domain", {
          hint: "E.g. status.example.com; its requests must reach this service",
          maxLength: 253,
        })}
        <TextField
          label="Color"
          name="primary_color"
          value={page?.theme.primary_color}
          hint="E.g. #0f766e"
          check={(text) =>
            text === "" || COLOR.test(text) ? undefined : "Must be a color such as #0f766e"}
        />
      </div>
    </EditDialog>
  );
}
